"""What a fitted model of boosted trees says about its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data import read_weights
from weald.estimators.boosted.fitted import BoostedModel
from weald.estimators.boosted.fitting import fit_metrics
from weald.explain.importances import loss_function_change
from weald.explain.shap import shap_values
from weald.explain.virtual import virtual_ensembles
from weald.runtime.threads import hire

if TYPE_CHECKING:
    from weald.estimators.shared.labels import Labels


class Explained(BoostedModel):
    """Shapley values and virtual ensembles: what a forest says without labels."""

    def shap_values(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """What every column adds to the raw score of every row: its exact Shapley value, by the trees' counts of training rows.

        ``n_rounds``: of the first so many rounds only.

        (rows, columns + 1), or (rows, outputs, columns + 1) where a row has several scores. The last number is the mean score
        that the others are added to; the sum is the raw score.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 2)
        >>> model = weald.BoostedTreesRegressor(n_estimators=5, min_samples_leaf=2).fit(X, X[:, 0])
        >>> bool(np.allclose(model.shap_values(X).sum(axis=1), model.predict(X)))
        True
        """
        dataset, model = self._read(X), self._trees(n_rounds)
        tasks = hire(self.n_jobs)
        values = shap_values(model.forest, dataset.blocks(), dataset.n_rows, tasks)
        if model.sources is not None:
            columns = model.by_source(values[..., :-1])
            values = np.concatenate([columns, values[..., -1:]], axis=-1)
        return values[0] if len(values) == 1 else np.ascontiguousarray(values.swapaxes(0, 1))

    def virtual_ensembles_predict(self, X: Any, count: int = 10) -> NDArray[np.float64]:
        """Predictions of ``count`` models that are this one cut short, at equal steps through its second half.

        (rows, count) of a regressor, (rows, count, classes) of a classifier, whose predictions are probabilities. How far they
        are apart says how sure the model is.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> model = weald.BoostedTreesRegressor(n_estimators=20).fit(X, X[:, 0])
        >>> model.virtual_ensembles_predict(X, count=5).shape
        (40, 5)
        """
        from sklearn.base import is_regressor

        dataset, forest = self._read(X), self._fitted().forest
        tasks = hire(self.n_jobs)
        scores = virtual_ensembles(forest, dataset.blocks(), dataset.n_rows, count, tasks)
        predict = self._predicted if is_regressor(self) else self._probabilities  # type: ignore[attr-defined]
        return np.stack([predict(one) for one in scores], axis=1)


class ExplainedTrees(Explained):
    """And what the metric loses without a column."""

    if TYPE_CHECKING:  # what the estimator has
        eval_metric: Any

    def _labels_of_known(
        self, y: Any, n_rows: int, weight: NDArray[np.float64] | None, classes: NDArray[Any] | None
    ) -> Labels:
        """Labels of other rows than those of the training."""
        raise NotImplementedError

    def loss_function_change(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """How much worse the metric is on a table without each column, (columns,).

        Without a column means that its Shapley values are taken from the raw scores. The metric is the first of
        ``eval_metric``. A column that does harm has a negative number.

        >>> import numpy as np
        >>> import weald
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> model = weald.BoostedTreesRegressor(n_estimators=20).fit(X, X[:, 1])
        >>> int(model.loss_function_change(X, X[:, 1]).argmax())
        1
        """
        dataset, model = self._read(X, least_rows=1), self._fitted()
        weight = read_weights(sample_weight, dataset.n_rows)
        labels = self._labels_of_known(y, dataset.n_rows, weight, model.classes)
        loss = labels.loss
        loss.check_target(labels.y)
        metric = fit_metrics(self.eval_metric, labels)[0]

        def evaluate(scores: NDArray[np.float64]) -> float:
            seen = scores if metric.of_scores else loss.respond(scores)
            return float(metric.function(labels.y, seen, weight))

        tasks = hire(self.n_jobs)
        return loss_function_change(
            model.forest,
            dataset.blocks(),
            dataset.n_rows,
            evaluate,
            metric.greater_is_better,
            model.sources,
            tasks,
        )
