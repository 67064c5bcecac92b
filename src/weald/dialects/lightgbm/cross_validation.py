"""`cv`: training on all folds side by side, a round at a time, with the metrics of each round averaged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weald.dialects.lightgbm.basic import DOOR, EvalResult, log_warning, quiet
from weald.dialects.lightgbm.booster import Booster
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.request import functions_of
from weald.dialects.lightgbm.training import Callbacks, InitModel, read_arguments
from weald.dialects.shared.folds import add_means, fold_rows
from weald.params.lightgbm import read_parameters
from weald.runtime.atomic import write_whole
from weald.runtime.errors import ModelFileError


@DOOR.owner
class CVBooster:
    """The boosters of all folds; a method of theirs is called for each, and gives a list."""

    def __init__(self, model_file: str | os.PathLike[str] | None = None) -> None:
        self.boosters: list[Booster] = []
        #: the best round of early stopping, counted from 1; -1: there is none
        self.best_iteration = -1
        self._params: dict[str, Any] = {}
        if model_file is not None:
            self.model_from_string(Path(model_file).read_text())

    def __getattr__(self, name: str) -> Callable[..., list[Any]]:
        if name.startswith("_") or name == "boosters":
            raise AttributeError(name)

        def of_each(*args: Any, **kwargs: Any) -> list[Any]:
            return [getattr(booster, name)(*args, **kwargs) for booster in self.boosters]

        return of_each

    def model_to_string(
        self, num_iteration: int | None = None, start_iteration: int = 0, importance_type: str = "split"
    ) -> str:
        """All models as JSON text."""
        texts = [
            booster.model_to_string(num_iteration, start_iteration, importance_type)
            for booster in self.boosters
        ]
        return json.dumps({"best_iteration": self.best_iteration, "boosters": texts})

    def model_from_string(self, model_str: str) -> CVBooster:
        """Become the models of a text of `model_to_string`."""
        try:
            stored = json.loads(model_str)
            best, texts = int(stored["best_iteration"]), list(stored["boosters"])
        except (KeyError, TypeError, ValueError):
            raise ModelFileError("This text is none of model_to_string of a CVBooster.") from None
        self.boosters = [Booster(model_str=text) for text in texts]
        self.best_iteration = best
        for booster in self.boosters:
            booster.best_iteration = best
        return self

    def save_model(
        self,
        filename: str | os.PathLike[str],
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
    ) -> CVBooster:
        """Write all models to a text file."""
        text = self.model_to_string(num_iteration, start_iteration, importance_type)
        write_whole(filename, text.encode())
        return self


@DOOR.function
def cv(
    params: dict[str, Any],
    train_set: Dataset,
    num_boost_round: int = 100,
    folds: Any = None,
    nfold: int = 5,
    stratified: bool = True,
    shuffle: bool = True,
    metrics: str | Sequence[str] | None = None,
    feval: Any = None,
    init_model: InitModel = None,
    fpreproc: Callable[..., Any] | None = None,
    seed: int = 0,
    callbacks: Sequence[Callable[..., Any]] | None = None,
    eval_train_metric: bool = False,
    return_cvbooster: bool = False,
) -> dict[str, Any]:
    """Cross-validate: "valid metric-mean" and "valid metric-stdv" -> a value for every round.

    Parameters are those of `train`; ``folds``: a splitter of scikit-learn's, or pairs of training and test rows;
    ``fpreproc``: function(train, test, params) that returns the three; ``eval_train_metric``: the training rows' too;
    ``return_cvbooster``: the models under "cvbooster".

    >>> import numpy as np
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> found = cv({"verbosity": -1}, Dataset(X, X[:, 0]), 3, nfold=2, stratified=False)
    >>> list(found), len(found["valid l2-mean"])
    (['valid l2-mean', 'valid l2-stdv'], 3)
    """
    if not isinstance(train_set, Dataset):
        raise TypeError(f"train_set must be a Dataset, not {type(train_set).__name__}.")
    with quiet(params):
        known, rounds, before, after = read_arguments(params, num_boost_round, callbacks)
        if metrics is not None:
            known["metric"] = metrics
        start = Booster(model_file=init_model) if isinstance(init_model, str | os.PathLike) else init_model
        pairs = fold_rows(train_set.labels, train_set.num_data(), nfold, stratified, folds, shuffle, seed)
        every = _Folds(known, functions_of(feval), rounds)
        for train_rows, test_rows in pairs:
            part, rest = (train_set.subset(np.sort(rows)) for rows in (train_rows, test_rows))
            own, told = known, dict(params)
            if fpreproc is not None:
                part, rest, told = fpreproc(part, rest, told)
                own = read_parameters(told, warn=log_warning)
                own |= {} if metrics is None else {"metric": metrics}
            booster = Booster._of(dict(own), told, part)
            if start is not None:
                booster._continue(start)
            if eval_train_metric:
                booster.add_valid(part, "train")
            every.model.boosters.append(booster.add_valid(rest, "valid"))
        return every.run(before, after, return_cvbooster)


class _Folds:
    """The folds' trainings, a round at a time, with the callbacks and the metrics of all."""

    def __init__(self, params: dict[str, Any], metrics: list[Any], rounds: int) -> None:
        self._params = params
        self._metrics = metrics
        self._rounds = rounds
        self.model = CVBooster()
        self.model._params = params
        self._table: dict[str, Any] = {}

    def run(self, before: Sequence[Any], after: Sequence[Any], with_models: bool) -> dict[str, Any]:
        """Train; the table of means and deviations."""
        boosters = self.model.boosters
        told = Callbacks(self.model, self._params, 0, self._rounds, before, after)
        for booster in boosters:
            booster._begin(None, self._metrics, booster._valid_sets)
        for number in range(self._rounds):
            told.before(number)
            if told.after(number, self._joined([booster._step() for booster in boosters])):
                break
        for booster in boosters:
            booster._finish()
        best = told.best_iteration
        if best:
            self.model.best_iteration = best
            for booster in boosters:
                booster.best_iteration = best
            self._table = {name: values[:best] for name, values in self._table.items()}
        return {**self._table, "cvbooster": self.model} if with_models else self._table

    def _joined(self, folds: list[list[EvalResult]]) -> list[EvalResult]:
        """The means and deviations of the folds' metrics, which the table keeps."""
        results = []
        for same in zip(*folds, strict=True):
            data, metric, _, larger = same[0]
            values = [result.metric_value for result in same]
            mean, deviation = add_means(self._table, f"{data} {metric}", values, "stdv")
            results.append(EvalResult(data, metric, mean, larger, deviation))
        return results
