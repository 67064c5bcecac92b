"""What splits are chosen by: parameters that have no meaning beside the others are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.runtime.errors import NotSupportedError

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

_BY_WEIGHT = ("l2", "cosine")
_COSINES = ("cosine", "newton_cosine")


def check_split_score(estimator: BoostedTrees) -> None:
    """Refuse parameters that the score of splits leaves without a meaning."""
    score = estimator.split_score
    if score != "newton_l2" and estimator.monotone_constraints is not None:
        raise NotSupportedError(
            f"monotone_constraints need the gain of the final values, but split_score is {score!r}; "
            "use split_score='newton_l2'."
        )
    if score in _BY_WEIGHT and estimator.sampling == "goss":
        raise NotSupportedError(
            f"sampling='goss' weighs rows by hessians, which split_score={score!r} does not look at; "
            f"use split_score='newton_{score}' or sampling='uniform'."
        )
    if score in _COSINES:
        _check_cosine(estimator)
    if estimator.random_strength > 0.0 and estimator.booster == "forest":
        raise NotSupportedError(
            f"random_strength={estimator.random_strength} fades as boosting goes on, but the trees of booster='forest' do not "
            "follow one another; use colsample_bynode."
        )


def _check_cosine(estimator: BoostedTrees) -> None:
    score, plain = estimator.split_score, estimator.split_score.replace("cosine", "l2")
    for name, why in (
        ("gamma", "is a reduction of the loss, which a cosine does not measure"),
        ("path_smooth", "moves values between the levels of a tree, of which a cosine knows nothing"),
    ):
        value = getattr(estimator, name)
        if value > 0.0:
            raise NotSupportedError(f"{name}={value} {why}; use split_score={plain!r} or leave {name} at 0.")
    if estimator.growth == "oblivious" and estimator.split_finder == "exact":
        raise NotSupportedError(
            f"split_score={score!r} of oblivious trees is not there with split_finder='exact'; use split_finder='hist'."
        )
