"""`weald.load_foreign`, and the estimators that it gives: models that were trained elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset
from weald.estimators.boosted.explained import Explained
from weald.estimators.imported.file import ImportedModel, imported_from_content, imported_to_bytes
from weald.estimators.shared.tasks import ClassifierTask, RegressorTask
from weald.exchange.exchanged import ExchangedModel
from weald.exchange.foreign.load import read_foreign
from weald.exchange.foreign.model import ForeignModel
from weald.forest.container import Container, unpack
from weald.losses import Loss
from weald.runtime.errors import NotSupportedError
from weald.runtime.sklearn_bases import BaseEstimator

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row


class _Imported(Explained, BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share."""

    learning_rate = 1.0  # leaves have it in
    _model: Any  # an ImportedModel

    def __init__(
        self, *, importance_type: Literal["gain", "split", "prediction"] = "gain", n_jobs: int | None = None
    ) -> None:
        self.importance_type = importance_type
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NoReturn:
        """Refused: the model was trained elsewhere."""
        raise NotSupportedError(
            f"{type(self).__name__} holds a model that was trained elsewhere, and is not fitted; "
            "load it into weald.xgboost or weald.lightgbm to go on training, or fit an estimator of Weald's."
        )

    @property
    def system_(self) -> str:
        """The system that has trained the model: "XGBoost", "LightGBM", "CatBoost", "scikit-learn", "treelite" or "ONNX"."""
        self._check_fitted()
        return str(self._model.system)

    @property
    def objective_(self) -> str:
        """What it was trained for, as that system calls it."""
        self._check_fitted()
        return str(self._model.loss)

    def shap_values(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """What every column adds to the raw score of every row; see `weald.BoostedTreesRegressor.shap_values`."""
        self._check_fitted()
        if not self._model.has_cover:
            raise NotSupportedError(
                f"the {self._model.system} model does not say how many training rows its nodes had, which Shapley values go by; "
                "import it from the files of the system that has trained it."
            )
        return super().shap_values(X, n_rounds)

    def _read(self, X: Any, least_rows: int = 0) -> Dataset:
        dataset = super()._read(X, least_rows)
        return dataset if self._model.hashed is None else self._model.hashed.extend(dataset)

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.imported.lowering import lower_imported  # when a model is exported

        self._check_fitted()
        return lower_imported(self._model, builder, row)

    def _to_bytes(self) -> bytes:
        self._check_fitted()
        return imported_to_bytes(type(self).__name__, self.importance_type, self._model)

    @classmethod
    def _from_content(cls, content: Container) -> Any:
        importance_type, model = imported_from_content(content, cls.__name__)
        estimator = cls(importance_type=importance_type)
        estimator._set_model(model)
        return estimator

    def __getstate__(self) -> dict[str, Any]:
        fitted = self.__sklearn_is_fitted__()
        return {"params": self.get_params(deep=False), "file": self._to_bytes() if fitted else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["params"])
        if state["file"] is not None:
            self._set_model(imported_from_content(unpack(state["file"]), type(self).__name__)[1])


class ImportedClassifier(ClassifierTask, _Imported):
    """A classifier that was trained elsewhere; `weald.load_foreign` gives it.

    It predicts as the original does, and faster; it can be saved, explained and exported as any other, but not fitted.

    Attributes
    ----------
    classes_ : the classes
    forest_ : the trees
    system_ : what has trained it
    objective_ : what for
    """

    def _make_loss(self, n_classes: int) -> Loss:
        raise NotImplementedError


class ImportedRegressor(RegressorTask, _Imported):
    """A regressor that was trained elsewhere, or a ranker, or a model of anomalies; `weald.load_foreign` gives it.

    It predicts as the original does, and faster; it can be saved, explained and exported as any other, but not fitted.
    """

    def _make_loss(self) -> Loss:
        raise NotImplementedError

    def decision_function(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Raw scores, before the link: (rows,), or (rows, outputs)."""
        scores = self._raw(X, n_rounds)
        return scores[0] if len(scores) == 1 else np.ascontiguousarray(scores.T)


def load_foreign(source: str | os.PathLike[str] | Any) -> Any:
    """A model that XGBoost, LightGBM, CatBoost, scikit-learn, treelite or an ONNX converter has made, as a fitted estimator.

    Parameters
    ----------
    source : path or object
        A file: XGBoost's JSON or UBJSON, LightGBM's text or dumped JSON, CatBoost's JSON (saved with ``pool=``, where there are
        categories), ONNX. What it is is told from its content. Or an object: a Booster or an estimator of XGBoost or
        LightGBM, a fitted ensemble or tree of scikit-learn, a model of treelite or ONNX. The JSON that ``export`` has written,
        and an AdaBoostRegressor of scikit-learn, are models that predict and can be exported.

    Returns an `ImportedClassifier` or an `ImportedRegressor`. Predictions are the original's, to the rounding of its float32
    sums where it has such. Nothing in a file is executed, and pickles are refused.

    >>> import numpy as np
    >>> import weald
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X = np.arange(40.0).reshape(-1, 2)
    >>> forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0])
    >>> model = weald.load_foreign(forest)
    >>> bool(np.allclose(model.predict(X), forest.predict(X)))
    True
    """
    found = read_foreign(source)
    return found if isinstance(found, ExchangedModel) else estimator_of_foreign(found)


def estimator_of_foreign(foreign: ForeignModel) -> ImportedClassifier | ImportedRegressor:
    """The fitted estimator of what a reader found."""
    estimator = ImportedRegressor() if foreign.classes is None else ImportedClassifier()
    estimator._set_model(
        ImportedModel(
            foreign.predictor,
            foreign.schema,
            foreign.objective,
            foreign.link,
            foreign.classes,
            {},
            foreign.predictor.n_rounds - 1,
            missing=foreign.missing,
            hashed=foreign.hashed,
            has_cover=foreign.has_cover,
            system=foreign.system,
        )
    )
    return estimator
