"""`export` of an estimator: its model as a program, and the program in a format."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from weald.runtime.errors import NotSupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weald.data import Schema
    from weald.data.missing import Missing
    from weald.exchange.model import Answer, Builder, Model
    from weald.exchange.rows import Row


class Exporting:
    """Mixed into estimators, which say how their model is lowered."""

    if TYPE_CHECKING:  # what the estimator has

        def _check_fitted(self) -> None: ...

    def export(self, path: str | os.PathLike[str], format: str, **options: Any) -> None:
        """Write the fitted model for another program, atomically.

        Parameters
        ----------
        path : file to write; formats with several files write the others beside it.
        format : "json", "python", "c", "javascript", "sql", "onnx", "pmml", "coreml", "treelite", "lightgbm", "xgboost" or
            "catboost"; docs/exchange.md says what each can carry.
        options : of the format, such as ``name`` of the C functions.

        >>> import os, tempfile
        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> model = weald.BoostedTreesRegressor(n_estimators=2).fit(X, X[:, 0])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
        >>> model.export(path, format="json")
        >>> os.path.getsize(path) > 100
        True
        """
        from weald.exchange.writing import export

        export(self._exchanged(), path, format, options)

    def to_shap(self) -> dict[str, Any]:
        """The trees as ``shap.TreeExplainer`` takes them: ``shap.TreeExplainer(model.to_shap())``.

        Its values are those of `shap_values`. Trees that ask for sets of categories, and models that are more than a forest, are
        refused: `shap_values` explains these too.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> len(weald.BoostedTreesRegressor(n_estimators=3).fit(X, X[:, 0]).to_shap()["trees"])
        3
        """
        from weald.exchange.formats.shap import shap_trees

        return shap_trees(self._exchanged(), self._weighs_by_cover)

    #: whether nodes weigh, in Shapley values, as much as their rows' weights, and not as many as these are
    _weighs_by_cover = False

    def _exchanged(self) -> Model:
        """The model as a program."""
        from weald.exchange.model import Builder  # when a model is exported
        from weald.exchange.rows import row_of

        self._check_fitted()
        builder = Builder(self._exchanged_schema())
        answer = self._lower(builder, row_of(builder))
        return builder.model(type(self).__name__, answer, self._exchanged_missing())

    def _exchanged_schema(self) -> Schema:
        """The columns of a row."""
        raise _refused(self)

    def _exchanged_missing(self) -> Missing:
        """Which numbers of a row are missing."""
        return "nan"

    def _lower(self, builder: Builder, row: Row) -> Answer:
        """Add the model's steps; what they say of a row."""
        raise _refused(self)


def _refused(estimator: Any) -> NotSupportedError:
    return NotSupportedError(f"A {type(estimator).__name__} cannot be exported.")


def exportable(member: Any, role: str) -> Exporting:
    """A member of a model, which must be ours."""
    if not isinstance(member, Exporting):
        raise NotSupportedError(
            f"{role} is a {type(member).__name__}, which is not an estimator of Weald's; only those can be exported."
        )
    return member


def schemas_of(members: Sequence[Exporting]) -> list[Schema]:
    """The columns of every member."""
    return [member._exchanged_schema() for member in members]
