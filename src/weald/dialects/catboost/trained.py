"""What a fit leaves behind: the trees, the loss, the classes, and how the metrics went; and its model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.sparse import SparseBlocks
from weald.dialects.catboost.objectives import Chosen, choose
from weald.dialects.catboost.training import Curves
from weald.dialects.shared.booster import ModelHolder
from weald.dialects.shared.files import FileFormat, texts_a_column
from weald.dialects.shared.tables import Float64s
from weald.dialects.shared.theirs import fitted_of, known_here
from weald.estimators.shared.persistence import FittedModel
from weald.estimators.shared.plain import classes_from_json, labels_to_json, plain, restored
from weald.exchange.foreign.catboost_format import catboost_model
from weald.exchange.foreign.reading import json_of
from weald.forest.predict import staged_scores
from weald.params.catboost import CATBOOST_PARAMETERS, read_parameters
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.training.boosting.statistics import used_statistics

_KEYS = frozenset((
    "resolved", "loss_function", "classes", "feature_names", "threshold", "curves", "best_score", "best_iteration",
))  # fmt: skip
_NOT_SAVED = (
    "thread_count", "verbose", "silent", "logging_level", "train_dir", "allow_writing_files", "metric_period",
)  # fmt: skip
_FORMAT = FileFormat("CatBoost", "CatBoost", _KEYS, _NOT_SAVED, read_parameters)


@dataclass
class Trained(ModelHolder):
    """A model of CatBoost's interface after its training."""

    full: dict[str, Any]
    chosen: Chosen
    classes: NDArray[Any] | None
    names: list[str]
    curves: Curves = field(default_factory=dict)
    best_score: dict[str, dict[str, float]] = field(default_factory=dict)
    best_iteration: int | None = None
    threshold: float = 0.5

    def keep(self, rounds: range) -> None:
        """Forget all rounds but some."""
        forest = self._part("a range of rounds", rounds.start, rounds.stop)
        if rounds.start:
            forest = replace(forest, base_score=np.zeros(forest.n_outputs))
        model = self._fitted()
        if model.statistics is not None:
            forest, statistics = used_statistics(forest, model.statistics)
            model = replace(model, statistics=statistics)
        self._set_model(replace(model, predictor=forest, best_iteration=forest.n_rounds - 1))

    def range(self, ntree_start: int, ntree_end: int) -> tuple[int, int]:
        """The first round and the one after the last; an end of 0: all."""
        rounds = self._rounds()
        last = rounds if ntree_end <= 0 else min(int(ntree_end), rounds)
        if not 0 <= ntree_start < max(last, 1):
            raise InputError(
                f"ntree_start={ntree_start} and ntree_end={ntree_end} hold none of the {rounds} rounds."
            )
        return int(ntree_start), last

    def scores(self, table: Any, first: int, last: int, threads: int | None) -> Float64s:
        """Raw scores, (outputs, rows), of rounds ``first`` up to ``last``; without the start where round 0 is left out."""
        return self._reader(first, last, threads, first == 0)._raw(table)

    def stages(self, table: Any, first: int, stops: Sequence[int], threads: int | None) -> Iterator[Float64s]:
        """`scores` of rounds ``first`` up to each of ``stops``, which ascend; the table is read once."""
        forest = self._part("a range of rounds", first, stops[-1])
        if first:
            forest = replace(forest, base_score=np.zeros(forest.n_outputs))
        rows = self._reader(0, self._rounds(), threads)._read(table)
        blocks = rows.blocks()
        if not isinstance(blocks, SparseBlocks):
            blocks = list(blocks)
        return staged_scores(forest, blocks, rows.n_rows, [stop - first for stop in stops], threads)

    @property
    def categorical(self) -> list[int]:
        """Positions of the columns of categories."""
        return np.flatnonzero(self._fitted().schema.categorical_mask).tolist()

    # --- files --------------------------------------------------------------------------------------

    def to_bytes(self, params: dict[str, Any]) -> bytes:
        """The bytes of the model file; equal for equal models."""
        if self.chosen.own is not None:
            raise NotSupportedError("a model with a loss of your own has no file; use pickle.")
        kept = _saved(self.full)
        more = {
            "resolved": {name: plain(kept.get(name)) for name in self.full if name not in _NOT_SAVED},
            "loss_function": {"name": self.chosen.name, "n_classes": self.chosen.n_classes},
            "classes": None if self.classes is None else labels_to_json(self.classes),
            "feature_names": self.names,
            "threshold": self.threshold,
            "curves": self.curves,
            "best_score": self.best_score,
            "best_iteration": self.best_iteration,
        }
        return _FORMAT.pack(_saved(params), more, self._fitted())


def _saved(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a file keeps: no objects and functions of the user's, whose bytes would differ from run to run."""
    saved = {}
    for name, value in params.items():
        if name in _NOT_SAVED or not _is_data(value):
            continue
        if isinstance(value, list | tuple):
            kept = [one for one in value if _is_data(one)]
            if not kept and value:
                continue
            value = kept
        saved[name] = value
    return saved


def _is_data(value: Any) -> bool:
    return not callable(value) and not hasattr(value, "evaluate")


def from_bytes(data: bytes) -> tuple[dict[str, Any], Trained]:
    """The parameters and the model of a file's bytes."""
    if data[:1] == b"{":
        return trained_of_theirs(data)
    if data[:4] == b"CBM1":
        raise ModelFileError(
            "This is a model of CatBoost's own binary format; save it there with format='json', and load it with that format."
        )
    params, header, model = _FORMAT.unpack(data)
    loss, resolved = header["loss_function"], header["resolved"]
    if not isinstance(resolved, dict) or not set(resolved) <= set(CATBOOST_PARAMETERS):
        raise ModelFileError("The file's parameters are not those of weald.catboost.")
    resolved = {name: restored(value) for name, value in resolved.items()}
    try:
        chosen = choose(resolved["loss_function"], int(loss["n_classes"]))
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"The file's loss is not one of weald.catboost: {error}") from None
    if chosen.n_outputs != model.predictor.n_outputs:
        raise ModelFileError("The file's trees are not those of its loss.")
    full = {name: entry.default for name, entry in CATBOOST_PARAMETERS.items() if entry.standing != "refused"}
    trained = Trained(
        {**full, **resolved},
        chosen,
        None if header["classes"] is None else classes_from_json(header["classes"]),
        texts_a_column(header, "feature_names", model) or [],
        header["curves"],
        header["best_score"],
        header["best_iteration"],
        float(header["threshold"]),
    )
    trained._set_model(model)
    return params, trained


def trained_of_theirs(data: bytes) -> tuple[dict[str, Any], Trained]:
    """The parameters and the model of a JSON file of CatBoost's own."""
    foreign = catboost_model(json_of(data, "The file"), apart=True)
    options = {"loss_function": foreign.objective}
    full = {name: entry.default for name, entry in CATBOOST_PARAMETERS.items() if entry.standing != "refused"}
    n_classes = 0 if foreign.classes is None else len(foreign.classes)

    def settled() -> tuple[Chosen, FittedModel]:
        chosen = choose(foreign.objective, n_classes)
        return chosen, fitted_of(foreign, chosen.loss())

    chosen, model = known_here(settled)
    names = list(model.schema.names) if model.schema.named else list(map(str, range(model.schema.n_columns)))
    trained = Trained({**full, **options}, chosen, foreign.classes, names)
    trained._set_model(model)
    return options, trained
