"""What a fitted model of boosting can do: predict, explain, be saved and refitted; mixed into estimators."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset, Schema, read_table
from weald.data.missing import Missing
from weald.data.sparse import SparseBlocks
from weald.estimators.shared.fitting import Fitting
from weald.estimators.shared.persistence import FittedModel, estimator_from_content, from_bytes, to_bytes
from weald.explain.importances import prediction_values_change
from weald.forest.container import Container
from weald.forest.forest import Forest
from weald.forest.predict import Blocks, leaf_indices, raw_scores, staged_scores, trees_alone
from weald.linear.model import LinearModel
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import hire
from weald.training.boosting.plan import WHOLE_TREES

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row

# Rows times rounds and outputs below which prediction does not ask for threads.
_SMALL_PREDICTION = 100_000


class BoostedModel(Fitting):
    """A fitted model of boosting, behind scikit-learn's interface."""

    _of_fit = ("_model",)
    _model: FittedModel

    if TYPE_CHECKING:  # what the estimator has
        learning_rate: Any
        importance_type: Literal["gain", "split", "prediction"]
        n_jobs: int | None

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def _takes_categories(self) -> bool:
        """Whether columns may hold categories."""
        return True

    def _set_model(self, model: FittedModel) -> None:
        self._model = model
        self.history_ = model.history
        self.best_iteration_ = model.best_iteration
        self._set_names(model.schema)
        if model.classes is not None:
            self.classes_ = model.classes
            self.n_classes_ = len(model.classes)

    def _fitted(self) -> FittedModel:
        self._check_fitted()
        return self._model

    def _read(self, X: Any, least_rows: int = 0) -> Dataset:
        """A table, as that of the training was read; by default one to predict, which may have no rows."""
        model = self._fitted()
        dataset = read_table(
            X,
            schema=model.schema,
            owner=type(self).__name__,
            unstored=model.unstored,
            missing=model.missing,
            least_rows=least_rows,
        )
        return model.extended(dataset)

    def _trees(self, n_rounds: int | None) -> FittedModel:
        """The model as it was after so many rounds; whole when None."""
        model = self._fitted()
        return (
            model if n_rounds is None else replace(model, predictor=model.forest.first(self._count(n_rounds)))
        )

    def _count(self, n_rounds: Any) -> int:
        """A number of rounds that the model has."""
        model = self._fitted()
        if isinstance(model.predictor, LinearModel):
            raise NotSupportedError(
                "n_rounds cuts trees off, and booster='linear' has weights, which later rounds have moved; leave it at None."
            )
        whole = not isinstance(n_rounds, bool) and isinstance(n_rounds, numbers.Integral)
        if not whole or not 1 <= n_rounds <= model.forest.n_rounds:
            raise InputError(
                f"n_rounds must be a whole number from 1 to the model's {model.forest.n_rounds} rounds, not {n_rounds!r}."
            )
        return int(n_rounds)

    def _raw(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Raw scores, (outputs, rows)."""
        dataset, predictor = self._read(X), self._fitted().predictor
        last = predictor.n_rounds if n_rounds is None else self._count(n_rounds)
        is_small = dataset.n_rows * last * predictor.n_outputs < _SMALL_PREDICTION
        tasks = 1 if is_small else hire(self.n_jobs)
        if n_rounds is None:
            return predictor.raw_scores(dataset, tasks)
        return raw_scores(self._fitted().forest, dataset.blocks(), dataset.n_rows, tasks, 0, last)

    def _staged(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Raw scores, (outputs, rows), after every round; the last are those of `_raw`, to the bit."""
        model, dataset = self._fitted(), self._read(X)
        if isinstance(model.predictor, LinearModel):
            raise NotSupportedError(
                "booster='linear' has weights, which later rounds have moved, and so no predictions of earlier rounds."
            )
        blocks = dataset.blocks()
        if not isinstance(blocks, SparseBlocks):
            blocks = list(blocks)
        return _after_every_round(model.forest, blocks, dataset.n_rows, self.n_jobs)

    def apply(self, X: Any, n_rounds: int | None = None) -> NDArray[np.int32]:
        """The node, by its number within the tree, that every row reaches: (rows, trees).

        ``n_rounds``: of the first so many rounds only.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> model = weald.BoostedTreesRegressor(n_estimators=2, min_samples_leaf=5, max_leaves=2).fit(X, X[:, 0])
        >>> model.apply(X[[0, -1]]).tolist()
        [[1, 1], [2, 2]]
        """
        dataset, forest = self._read(X), self._trees(n_rounds).forest
        tasks = hire(self.n_jobs)
        return leaf_indices(forest, dataset.blocks(), dataset.n_rows, tasks)

    @property
    def forest_(self) -> Forest:
        """The trees."""
        return self._tree_model("forest_").forest

    @property
    def learning_rate_(self) -> float:
        """The share of every tree that was added: ``learning_rate``, or what "auto" has come to.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> weald.BoostedTreesRegressor(n_estimators=200, learning_rate="auto").fit(X, X[:, 0]).learning_rate_
        0.09111
        """
        model = self._fitted()
        if isinstance(model.predictor, Forest) and model.predictor.averaged:
            return WHOLE_TREES
        chosen = model.learning_rate
        return float(self.learning_rate if chosen is None else chosen)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of ``booster="linear"``: (columns,) of a regressor, (1 or classes, columns) of a classifier.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 2)
        >>> model = weald.BoostedTreesRegressor(booster="linear", n_estimators=500).fit(X, X[:, 0] - 3 * X[:, 1] + 7)
        >>> bool(np.allclose(model.predict(X), X @ model.coef_ + model.intercept_))
        True
        """
        from sklearn.base import is_regressor

        weights = self._linear_model("coef_").weights
        return weights[0] if is_regressor(self) else weights

    @property
    def intercept_(self) -> float | NDArray[np.float64]:
        """Where every row starts, with ``booster="linear"``: a number of a regressor, (1 or classes,) of a classifier."""
        from sklearn.base import is_regressor

        intercept = self._linear_model("intercept_").intercept
        return float(intercept[0]) if is_regressor(self) else intercept

    def _tree_model(self, name: str) -> FittedModel:
        """The fitted model, for an attribute that only trees have."""
        model = self._fitted()
        if isinstance(model.predictor, LinearModel):
            raise AttributeError(
                f"{name} is of trees, and booster='linear' has none; see coef_ and intercept_."
            )
        return model

    def _linear_model(self, name: str) -> LinearModel:
        """The linear model, for an attribute that trees do not have."""
        predictor = self._fitted().predictor
        if not isinstance(predictor, LinearModel):
            raise AttributeError(f"{name} is of booster='linear', and this model has trees; see forest_.")
        return predictor

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the trees' gain, in their splits, or in how far they move predictions (``importance_type``).

        With ``booster="linear"``: its share in the absolute weights, which compares columns of like scale.
        """
        model = self._fitted()
        if self.importance_type == "prediction":
            return model.by_source(prediction_values_change(model.forest) / 100.0)
        importances = model.by_source(model.predictor.importances(self.importance_type))
        total = importances.sum()
        return importances / total if total > 0 else importances

    def _to_bytes(self) -> bytes:
        return to_bytes(self, self._fitted())

    def _exchanged_schema(self) -> Schema:
        return self._fitted().schema

    def _exchanged_missing(self) -> Missing:
        return self._fitted().missing

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.shared.lowering import lower_boosted  # when a model is exported

        return lower_boosted(self._fitted(), builder, row)

    @classmethod
    def _from_content(cls, content: Container) -> Any:
        return estimator_from_content(cls, content)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and, of a fitted model, the bytes of its model file."""
        fitted = self.__sklearn_is_fitted__()
        return {
            "params": self.get_params(deep=False),
            "file": to_bytes(self, self._model) if fitted else None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["params"])
        if state["file"] is not None:
            self._set_model(from_bytes(state["file"])[2])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = self._takes_categories()
        return tags


def _after_every_round(
    forest: Forest, blocks: Blocks, n_rows: int, n_jobs: int | None
) -> Iterator[NDArray[np.float64]]:
    """Raw scores (outputs, rows) after every round."""
    every = range(1, forest.n_rounds + 1)
    if not forest.averaged:
        yield from staged_scores(forest, blocks, n_rows, every, n_jobs)
        return
    stages = staged_scores(trees_alone(forest), blocks, n_rows, every, n_jobs)
    for number, sums in zip(every, stages, strict=True):
        yield sums / number + forest.base_score[:, None]
