"""`grid_search` and `randomized_search`: the best parameters of a grid, or of some drawn from distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from weald.dialects.catboost.fitting import prepared
from weald.dialects.catboost.metrics import Evaluated
from weald.dialects.catboost.pool import Pool, as_pool
from weald.dialects.catboost.refusals import OF_SEARCH, REFUSALS
from weald.dialects.catboost.training import print_period, speaker
from weald.runtime.errors import InputError

Parameters = dict[str, Any]
_OF_OUTPUT = ("verbose", "silent", "logging_level", "verbose_eval")


@dataclass(frozen=True)
class Verdict:
    """What a combination of parameters came to."""

    value: float
    larger: bool  # larger values are better
    table: Mapping[str, Any]  # of the cross-validation, where there was one


class Searching:
    """Searches of a model for its own parameters; mixed into `CatBoost`."""

    @REFUSALS.arguments(OF_SEARCH)
    def grid_search(
        self,
        param_grid: Any,
        X: Any,
        y: Any = None,
        cv: Any = 3,
        partition_random_seed: int = 0,
        calc_cv_statistics: bool = True,
        search_by_train_test_split: bool = True,
        refit: bool = True,
        shuffle: bool = True,
        stratified: bool | None = None,
        train_size: float = 0.8,
        verbose: bool | int = True,
        plot: bool = False,
        plot_file: Any = None,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> dict[str, Any]:
        """Try all combinations of a dict of lists, or of several such dicts, and take the one with the best metric.

        The metric is eval_metric, or that of the loss, at its best round: on rows that are set aside
        (search_by_train_test_split), or on the mean of the folds of a cross-validation.

        cv : how many folds, a splitter of scikit-learn's, or pairs of training and test rows
        calc_cv_statistics : also cross-validate the best parameters, where rows were set aside
        refit : train this model on all rows with the best parameters
        verbose : lines that say how the search goes: True, or a number of combinations between two lines

        Returns {"params": the best, "cv_results": metrics of every round}; the latter where there was a cross-validation.

        >>> from weald.catboost import CatBoostRegressor
        >>> X = np.arange(60.0).reshape(-1, 1)
        >>> model = CatBoostRegressor(iterations=5, verbose=False)
        >>> found = model.grid_search({"learning_rate": [0.01, 0.5]}, X, X[:, 0], verbose=False)
        >>> found["params"], model.get_param("learning_rate"), "test-RMSE-mean" in found["cv_results"]
        ({'learning_rate': 0.5}, 0.5, True)
        """
        from sklearn.model_selection import ParameterGrid

        how = {"partition_random_seed": partition_random_seed, "shuffle": shuffle, "stratified": stratified}
        search = _search(self, (X, y), cv, (verbose, log_cout), how)
        aside = train_size if search_by_train_test_split else None
        return search.run(list(ParameterGrid(param_grid)), aside, calc_cv_statistics, refit)

    @REFUSALS.arguments(OF_SEARCH)
    def randomized_search(
        self,
        param_distributions: Mapping[str, Any],
        X: Any,
        y: Any = None,
        cv: Any = 3,
        n_iter: int = 10,
        partition_random_seed: int = 0,
        calc_cv_statistics: bool = True,
        search_by_train_test_split: bool = True,
        refit: bool = True,
        shuffle: bool = True,
        stratified: bool | None = None,
        train_size: float = 0.8,
        verbose: bool | int = True,
        plot: bool = False,
        plot_file: Any = None,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> dict[str, Any]:
        """`grid_search` over ``n_iter`` combinations, drawn from lists or from distributions that have a method rvs.

        partition_random_seed : of the folds, and of the draws
        """
        from sklearn.model_selection import ParameterSampler

        how = {"partition_random_seed": partition_random_seed, "shuffle": shuffle, "stratified": stratified}
        search = _search(self, (X, y), cv, (verbose, log_cout), how)
        drawn = list(ParameterSampler(param_distributions, n_iter, random_state=partition_random_seed))
        aside = train_size if search_by_train_test_split else None
        return search.run(drawn, aside, calc_cv_statistics, refit)


@dataclass
class _Search:
    """Combinations of parameters that are compared on the same rows, for a model and a Pool."""

    model: Any
    pool: Pool
    folds: Mapping[str, Any]  # as `cv` takes them
    say: Callable[[str], None] | None
    period: int  # combinations between two lines

    def run(
        self, candidates: Sequence[Parameters], train_size: float | None, statistics: bool, refit: bool
    ) -> dict[str, Any]:
        """``train_size``: the share of the rows that others are judged by; None: the folds judge."""
        if not candidates:
            raise InputError("the search has no combination of parameters to try.")
        judge = self._by_folds if train_size is None else partial(self._by_rows, *self._parts(train_size))
        verdicts: list[Verdict] = []
        for place, candidate in enumerate(candidates):
            verdicts.append(judge(candidate))
            best = _best_of(verdicts)
            if self.say is not None and place % self.period == 0:
                value, least = verdicts[place].value, verdicts[best].value
                self.say(f"{place}:\tloss: {value:.7f}\tbest: {least:.7f} ({best})\t{candidate}")
        best = _best_of(verdicts)
        found: dict[str, Any] = {"params": dict(candidates[best])}
        if train_size is None:
            found["cv_results"] = verdicts[best].table
        elif statistics:
            found["cv_results"] = self._by_folds(candidates[best]).table
        if refit:
            self.model.set_params(**candidates[best]).fit(self.pool)
        return found

    def _parts(self, train_size: float) -> tuple[Pool, Pool]:
        from sklearn.model_selection import train_test_split

        order = {"random_state": self.folds["partition_random_seed"]} if self.folds["shuffle"] else {}
        rows = np.arange(self.pool.num_row())
        train, test = train_test_split(rows, train_size=train_size, shuffle=self.folds["shuffle"], **order)
        return self.pool.slice(np.sort(train)), self.pool.slice(np.sort(test))

    def _by_rows(self, train: Pool, test: Pool, candidate: Parameters) -> Verdict:
        """The best metric of the rows that were set aside."""
        model = clone(self.model)
        model.params = self._quiet(candidate)
        model.fit(train, eval_set=test)
        _, metric = self._metric(candidate)
        return Verdict(model.best_score_["validation"][metric.name], metric.metric.greater_is_better, {})

    def _by_folds(self, candidate: Parameters) -> Verdict:
        """The best mean of the folds' metrics."""
        from weald.dialects.catboost.cross_validation import cv

        loss, metric = self._metric(candidate)
        params = {**self._quiet(candidate), "loss_function": loss}
        params.pop("objective", None)
        table = cv(self.pool, params, as_pandas=False, **self.folds)
        larger = metric.metric.greater_is_better
        return Verdict((max if larger else min)(table[f"test-{metric.name}-mean"]), larger, table)

    def _metric(self, candidate: Parameters) -> tuple[Any, Evaluated]:
        """The loss of a combination, which a classifier chooses by the labels, and the metric that judges it."""
        kind = (self.model._default_loss, self.model._labels)
        given: tuple[Pool, None, Mapping[str, Any]] = (self.pool, None, {})
        request, _ = prepared(type(self.model).__name__, kind, self._quiet(candidate), given, None)
        return request.full["loss_function"], request.metrics[0]

    def _quiet(self, candidate: Parameters) -> Parameters:
        kept = {name: value for name, value in self.model.params.items() if name not in _OF_OUTPUT}
        return {**kept, **candidate, "verbose": False}


def _search(
    model: Any, data: tuple[Any, Any], cv: Any, shown: tuple[Any, Any], how: Mapping[str, Any]
) -> _Search:
    """The search of a model; ``data``: X and y; ``shown``: verbose and log_cout; ``how``: the folds are drawn."""
    X, y = data
    pool = X if isinstance(X, Pool) else as_pool(X, y, cat_features=model.params.get("cat_features"))
    if isinstance(X, Pool) and y is not None:
        raise InputError("X is a Pool, which has its own y; leave y out.")
    folds = {"fold_count": 3 if cv is None else cv} if cv is None or isinstance(cv, int) else {"folds": cv}
    output = {"verbose": shown[0], "silent": None, "logging_level": None, "metric_period": 1}
    return _Search(model, pool, {**folds, **how}, speaker(output, shown[1]), print_period(output))


def _best_of(verdicts: Sequence[Verdict]) -> int:
    """The place of the best; the first of equal ones."""
    signs = [-one.value if one.larger else one.value for one in verdicts]
    return signs.index(min(signs))
