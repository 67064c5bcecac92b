"""Models in another system's own files, as models of its interface here: they predict, and training goes on from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weald.estimators.shared.persistence import FittedModel
from weald.exchange.foreign.model import ForeignModel
from weald.forest.forest import Forest
from weald.losses import Loss
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError

Made = TypeVar("Made")


def fitted_of(foreign: ForeignModel, loss: Loss) -> FittedModel:
    """The fitted model of a file, for an interface that trains with this loss."""
    if foreign.hashed is not None:
        raise NotSupportedError(
            "the model has target statistics that training cannot go on from."
        )
    if isinstance(foreign.predictor, Forest) and foreign.predictor.has_vectors:
        raise NotSupportedError(
            "the model's leaves hold a number for every output, and training here adds a tree for each."
        )
    if loss.n_outputs != foreign.predictor.n_outputs:
        raise ModelFileError(
            f"The model has {foreign.predictor.n_outputs} outputs, but {foreign.objective} has {loss.n_outputs}."
        )
    rounds = foreign.predictor.n_rounds
    return FittedModel(
        foreign.predictor, foreign.schema, loss.name, loss.link, None, {}, rounds - 1, missing=foreign.missing
    )


def known_here(make: Callable[[], Made]) -> Made:
    """What a file's settings come to; where the interface does not have them, a refusal that says what reads the file."""
    try:
        return make()
    except (InputError, ModelFileError) as error:
        raise NotSupportedError(f"{error} weald.load_foreign reads such a model, to predict with.") from None
