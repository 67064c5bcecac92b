"""A model in the making or finished, which the boosters of other systems' interfaces hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from weald.data import Schema, read_table
from weald.data.missing import Missing
from weald.dialects.shared.engine import Engine
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.runtime.errors import InputError, NotSupportedError


class ModelHolder:
    """The part of a booster that knows its trees."""

    _params: dict[str, Any]
    _model: FittedModel | None = None
    _making: Callable[[], FittedModel] | None = None
    _predictor: Engine | None = None

    def _follow(self, predictor: Callable[[], Predictor], table: Any, categorical: list[int]) -> None:
        """Be the model that training has come to; it is built only if somebody asks."""

        def build() -> FittedModel:
            schema = earlier.schema if earlier is not None else self._schema_of(table, categorical)
            return FittedModel(
                predictor(), schema, "custom", "identity", None, {}, -1, self._unstored, self._missing
            )

        earlier = self._model  # a training that goes on from a model keeps its columns and categories
        self._making = build
        self._predictor = None

    #: what a sparse table does not store
    _unstored: Any = "zero"
    #: which numbers of a table are missing
    _missing: Missing = "nan"
    #: whether tables to predict have the training's columns by position, whatever they are called
    _by_position = False

    @staticmethod
    def _schema_of(table: Any, categorical: list[int]) -> Schema:
        return read_table(table, categorical=categorical or "auto").schema

    def _set_model(self, model: FittedModel | None) -> None:
        self._model = model
        self._making = self._predictor = None

    def _fitted(self) -> FittedModel:
        model = self._making() if self._making is not None else self._model
        if model is None:
            raise InputError("this Booster has not been trained yet; use train, or update.")
        return model

    def _rounds(self) -> int:
        """How many rounds the model has."""
        return 0 if self._model is None and self._making is None else self._fitted().predictor.n_rounds

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

    def _engine(self, first: int, last: int, n_jobs: int | None, with_base: bool = True) -> Engine:
        """An estimator of the trees of rounds ``first`` up to ``last``; ``with_base``: and of where they start from."""
        model = self._fitted()
        whole = with_base and (first, last) == (0, model.predictor.n_rounds)
        if whole and self._predictor is not None:
            self._predictor.n_jobs = n_jobs
            return self._predictor
        engine = Engine(n_jobs=n_jobs)
        engine._by_position = self._by_position
        if not whole:
            forest = self._part("a range of rounds", first, last)
            base = forest.base_score if with_base else np.zeros(forest.n_outputs)
            model = replace(model, predictor=replace(forest, base_score=base))
        engine._set_model(model)
        if whole:
            self._predictor = engine
        return engine
