"""Voting's part of a composite model file, and what is checked when it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.preprocessing import LabelEncoder

from weald.estimators.combined.named_members import DROP
from weald.estimators.shared.composite import Members
from weald.estimators.shared.plain import check_classes
from weald.params.declare import validate
from weald.runtime.errors import InputError, ModelFileError
from weald.training.combining.averaging import weighted_average

if TYPE_CHECKING:
    from weald.estimators.combined.voting_base import Voting

_KEYS = frozenset({"kept", "learned"})
_CLASSIFIER_KEYS = _KEYS | {"classes", "seed"}


def parts_of(voting: Voting) -> tuple[Members, dict[str, Any]]:
    """The fitted members, and which of all names they are."""
    extra: dict[str, Any] = {"kept": voting._kept, "learned": voting._learned}
    if is_classifier(voting):
        extra |= {"classes": voting.classes_, "seed": voting._seed}
    fitted = [name for name, is_kept in voting._kept if is_kept]
    return list(zip(fitted, voting.estimators_, strict=True)), extra


def voting_from_parts(
    kind: type[Voting], params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
) -> Voting:
    """The fitted estimator of a file's parts."""
    kept = extra.get("kept")
    if not isinstance(kept, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is bool
        for pair in kept
    ):
        raise ModelFileError("The file's kept must be a list of names with true or false.")
    if [name for name, is_kept in kept if is_kept] != [name for name, _ in members]:
        raise ModelFileError("The file's members are not those that it says were kept.")
    fitted = iter([member for _, member in members])
    pairs = [(name, clone(next(fitted)) if is_kept else DROP) for name, is_kept in kept]
    voting = kind(pairs, **params)
    classifies = is_classifier(voting)
    if extra.keys() != (_CLASSIFIER_KEYS if classifies else _KEYS):
        raise ModelFileError(f"The file does not have the fields of a {kind.__name__}.")
    try:
        validate(voting)
        voting._checked_members()
        if classifies:
            _set_classes(voting, extra)
        _check_members(voting, members, classifies)
        voting._set_fitted([member for _, member in members], _learned(extra["learned"], len(members)))
        voting.weights_  # noqa: B018 - raises where they cannot be
    except InputError as error:
        raise ModelFileError(f"The file's {kind.__name__} cannot be: {error}") from None
    return voting


def _set_classes(voting: Any, extra: dict[str, Any]) -> None:
    classes, seed = extra["classes"], extra["seed"]
    check_classes(classes)
    if type(seed) is not int:
        raise ModelFileError("The file's seed must be a whole number.")
    voting.classes_, voting._seed = classes, seed
    voting.le_ = LabelEncoder()
    voting.le_.classes_ = classes
    voting._check_refusal()


def _check_members(voting: Any, members: list[tuple[str, Any]], classifies: bool) -> None:
    columns = {getattr(member, "n_features_in_", None) for _, member in members}
    if len(columns) > 1:
        raise ModelFileError("The file's members do not have the same number of columns.")
    for name, member in members:
        if not (is_classifier if classifies else is_regressor)(member):
            raise ModelFileError(f"The file's member {name!r} is of another task.")
        if classifies and not np.array_equal(member.classes_, np.arange(len(voting.classes_))):
            raise ModelFileError(f"The file's member {name!r} does not know the labels by their positions.")


def _learned(learned: Any, count: int) -> Any:
    if learned is not None:
        weighted_average(np.zeros(count), learned)
    return learned
