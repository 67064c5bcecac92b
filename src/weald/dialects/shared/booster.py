"""A model in the making or finished, which the boosters of other systems' interfaces hold."""

from __future__ import annotations

from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from weald.data.missing import Missing
from weald.dialects.shared.reader import Reader
from weald.dialects.shared.request import BoosterRequest
from weald.dialects.shared.run import Run
from weald.estimators.shared.exporting import Exporting
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest
from weald.runtime.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    from weald.data import Schema
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row

Learning = TypeVar("Learning", bound="LearningHolder")
_LOCK = "_lock"


class ModelHolder(Exporting):
    """The part of a booster that knows its trees."""

    _params: dict[str, Any]
    _model: FittedModel | None = None
    #: the training that the model is of, while it goes on and may go on
    _run: Run | None = None
    _reader_of_all: Reader | None = None
    #: what a sparse table does not store
    _unstored: Any = "zero"
    #: which numbers of a table are missing
    _missing: Missing = "nan"
    #: whether tables to predict have the training's columns by position, whatever they are called
    _by_position = False

    def _set_model(self, model: FittedModel | None) -> None:
        """Be a finished model; a training that was going on is over."""
        self._model = model
        self._run = self._reader_of_all = None

    def _set_run(self, run: Run) -> None:
        """Be the model that a training comes to."""
        self._run = run
        self._reader_of_all = None

    def _model_of_run(self, run: Run) -> FittedModel:
        """The model that a training has come to, as this booster keeps it."""
        return run.model()

    def _is_trained(self) -> bool:
        return self._model is not None or self._run is not None

    def _fitted(self) -> FittedModel:
        if self._run is not None:
            return self._model_of_run(self._run)
        if self._model is None:
            raise InputError("this Booster has not been trained yet; use train, or update.")
        return self._model

    def _check_fitted(self) -> None:
        self._fitted()

    def _exchanged_schema(self) -> Schema:
        return self._fitted().schema

    def _exchanged_missing(self) -> Missing:
        return self._fitted().missing

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.shared.lowering import lower_boosted  # when a model is exported

        return lower_boosted(self._fitted(), builder, row)

    def _rounds(self) -> int:
        """How many rounds the model has."""
        if self._run is not None:
            return self._run.n_rounds
        return 0 if self._model is None else self._model.predictor.n_rounds

    def _trees(self, asked_for: str) -> Forest:
        """The trees, for what a linear model does not have."""
        predictor = self._fitted().predictor
        if not isinstance(predictor, Forest):
            raise NotSupportedError(f"{asked_for} is of trees, but booster is 'gblinear'; leave it out.")
        return predictor

    def _part(self, asked_for: str, first: int, last: int) -> Forest:
        """The trees of the rounds from ``first`` up to ``last``."""
        forest = self._trees(asked_for)
        per = forest.trees_per_round
        return forest.trees(first * per, last * per)

    def _reader(self, first: int, last: int, n_jobs: int | None, with_base: bool = True) -> Reader:
        """What predicts by rounds ``first`` up to ``last``; ``with_base``: and by where they start from."""
        model = self._fitted()
        whole = with_base and (first, last) == (0, model.predictor.n_rounds)
        if whole and self._reader_of_all is not None and self._reader_of_all._model is model:
            self._reader_of_all.n_jobs = n_jobs
            return self._reader_of_all
        if not whole:
            forest = self._part("a range of rounds", first, last)
            base = forest.base_score if with_base else np.zeros(forest.n_outputs)
            model = replace(model, predictor=replace(forest, base_score=base))
        reader = Reader(model, n_jobs, self._by_position)
        if whole:
            self._reader_of_all = reader
        return reader


class LearningHolder(ModelHolder):
    """A booster whose training may go on, round by round."""

    #: what the training was asked for last
    _request: Any = None

    def _set_model(self, model: FittedModel | None) -> None:
        super()._set_model(model)
        self._request = None

    def _updating(self) -> Any:
        """The lock of this booster: threads that update it take turns, also with the first round, which opens the run."""
        return self.__dict__.setdefault(_LOCK, RLock())

    def _finish(self) -> FittedModel | None:
        """The model, if there is one; a run that was open is over."""
        self._set_model(self._fitted() if self._is_trained() else None)
        return self._model

    def _follow(self, request: BoosterRequest) -> None:
        """Have the run go on by other parameters, or another objective."""
        assert self._run is not None
        self._run.follow(request.order(self._run.model()))
        self._request = request

    def __copy__(self: Learning) -> Learning:
        """A booster of its own with the same trees, which are never changed and so are shared."""
        other = object.__new__(type(self))
        for name, value in self.__dict__.items():
            if name == _LOCK:
                continue
            other.__dict__[name] = value.copy() if isinstance(value, dict | list) else value
        other._finish()
        return other

    def __deepcopy__(self: Learning, memo: Any) -> Learning:
        return self.__copy__()
