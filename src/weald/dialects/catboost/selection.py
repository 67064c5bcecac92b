"""`select_features`: columns are left out, those that count least first, and the model is trained again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.dialects.catboost.basic import EFeaturesSelectionAlgorithm, EFstrType
from weald.dialects.catboost.pool import Pool, as_pool, feature_positions
from weald.dialects.catboost.refusals import OF_SELECTION, REFUSALS
from weald.dialects.shared.values import whole_number
from weald.runtime.errors import InputError

_LOUD = ("verbose", "silent", "logging_level", "verbose_eval", "metric_period")
_BY_SHAP = EFeaturesSelectionAlgorithm.RecursiveByShapValues
_KINDS = {
    EFeaturesSelectionAlgorithm.RecursiveByPredictionValuesChange: EFstrType.PredictionValuesChange,
    EFeaturesSelectionAlgorithm.RecursiveByLossFunctionChange: EFstrType.LossFunctionChange,
    _BY_SHAP: EFstrType.ShapValues,
}


class Selecting:
    """Selection of columns; mixed into `CatBoost`."""

    if TYPE_CHECKING:  # what the model has

        def is_fitted(self) -> bool: ...

        def set_params(self, **params: Any) -> Any: ...

        def get_param(self, key: str) -> Any: ...

    @REFUSALS.arguments(OF_SELECTION)
    def select_features(
        self,
        X: Any,
        y: Any = None,
        eval_set: Any = None,
        features_for_select: Any = None,
        num_features_to_select: int | None = None,
        algorithm: Any = None,
        steps: int | None = None,
        shap_calc_type: Any = None,
        train_final_model: bool = True,
        verbose: Any = None,
        logging_level: str | None = None,
        plot: bool = False,
        plot_file: Any = None,
        log_cout: Any = None,
        log_cerr: Any = None,
        grouping: Any = None,
        features_tags_for_select: Any = None,
        num_features_tags_to_select: Any = None,
    ) -> dict[str, Any]:
        """Leave out the columns that count least, some after every training, until ``num_features_to_select`` are left.

        eval_set : a Pool or a pair (X, y) that losses are of; without one they are of the training rows
        features_for_select : names, positions, or text such as "0-3,7": the columns that may be left out
        algorithm : what columns count by: RecursiveByShapValues (the default; the mean size of their contributions),
            RecursiveByLossFunctionChange or RecursiveByPredictionValuesChange
        steps : trainings after which columns are left out; 1 by default
        train_final_model : train this model on what is left; its tables keep all columns, as ignored_features

        Returns positions and names of the columns that are selected and eliminated, and "loss_graph".

        >>> from weald.catboost import CatBoostRegressor
        >>> X = np.random.default_rng(0).random((80, 3))
        >>> model = CatBoostRegressor(iterations=5, verbose=False)
        >>> found = model.select_features(X, X[:, 1], features_for_select=[0, 1, 2], num_features_to_select=1)
        >>> found["selected_features"], sorted(found["eliminated_features"])
        ([1], [0, 2])
        """
        if train_final_model and self.is_fitted():
            raise InputError(
                "this model is trained already; set train_final_model=False, or take an untrained one."
            )
        pool = X if isinstance(X, Pool) else as_pool(X, y, cat_features=self.get_param("cat_features"))
        chosen = feature_positions("features_for_select", features_for_select, pool.get_feature_names())
        left = whole_number("num_features_to_select", num_features_to_select, 1)
        if left > len(chosen):
            raise InputError(
                f"num_features_to_select is {left}, but features_for_select has {len(chosen)} columns."
            )
        loud = {"verbose": verbose, "logging_level": logging_level, "log_cout": log_cout}
        given = {name: value for name, value in loud.items() if value is not None}
        model = clone(self)
        if given:  # what the model says of it holds elsewhere
            model.params = {name: value for name, value in model.params.items() if name not in _LOUD}
        selection = _Selection(model, pool, eval_set, _algorithm(algorithm), chosen, given)
        selection.run(len(chosen) - left, whole_number("steps", 1 if steps is None else steps, 1))
        if train_final_model:
            ignored = [*(self.get_param("ignored_features") or []), *selection.eliminated]
            self._Booster = (
                model.set_params(ignored_features=ignored).fit(pool, eval_set=eval_set, **given)._Booster
            )
            self.set_params(ignored_features=ignored)
        return selection.found()


@dataclass
class _Selection:
    """A selection on its way; ``eliminated``: in their order."""

    model: Any
    pool: Pool
    eval_set: Any
    algorithm: EFeaturesSelectionAlgorithm
    chosen: Sequence[int]
    how: dict[str, Any]
    eliminated: list[int] = field(default_factory=list)
    losses: list[tuple[int, float]] = field(default_factory=list)

    def run(self, count: int, steps: int) -> None:
        """Leave out so many columns in so many steps."""
        for step in range(min(steps, count)):
            trained = self._trained()
            order = np.argsort(self._importances(trained), kind="stable").tolist()
            waiting = [place for place in order if place in self.chosen and place not in self.eliminated]
            due = round(count * (step + 1) / min(steps, count)) - len(self.eliminated)
            self.eliminated += waiting[:due]
        self._trained()

    def _trained(self) -> Any:
        """A model without the eliminated columns, whose loss is noted."""
        model = clone(self.model)
        before = model.get_param("ignored_features") or []
        model.set_params(ignored_features=[*before, *self.eliminated])
        model.fit(self.pool, eval_set=self.eval_set, **self.how)
        curves = model.evals_result_
        set_name = next((name for name in reversed(list(curves)) if name != "learn"), "learn")
        loss = next(iter(curves[set_name].values()))
        best = model.best_iteration_
        self.losses.append((len(self.eliminated), float(loss[-1 if best is None else best])))
        return model

    def _importances(self, model: Any) -> NDArray[np.float64]:
        found = np.asarray(model.get_feature_importance(self._rows(), type=_KINDS[self.algorithm]))
        if self.algorithm is not _BY_SHAP:
            return found
        sizes: NDArray[np.float64] = np.abs(found[..., :-1]).mean(axis=tuple(range(found.ndim - 1)))
        return sizes

    def _rows(self) -> Pool:
        """The rows that importances are of: those of the evaluation set, if it is a Pool."""
        return self.eval_set if isinstance(self.eval_set, Pool) else self.pool

    def found(self) -> dict[str, Any]:
        """What `select_features` returns."""
        names = self.pool.get_feature_names()
        selected = [place for place in self.chosen if place not in self.eliminated]
        return {
            "selected_features": selected,
            "selected_features_names": [names[place] for place in selected],
            "eliminated_features": list(self.eliminated),
            "eliminated_features_names": [names[place] for place in self.eliminated],
            "loss_graph": {
                "removed_features_count": [count for count, _ in self.losses],
                "loss_values": [loss for _, loss in self.losses],
                "main_indices": list(range(len(self.losses))),
            },
        }


def _algorithm(given: Any) -> EFeaturesSelectionAlgorithm:
    if given is None:
        return _BY_SHAP
    known = {one.value: one for one in EFeaturesSelectionAlgorithm}
    if isinstance(given, EFeaturesSelectionAlgorithm) or given in known:
        return given if isinstance(given, EFeaturesSelectionAlgorithm) else known[given]
    raise InputError(f"algorithm must be one of {', '.join(known)}, not {given!r}.")
