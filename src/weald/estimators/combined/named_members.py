"""Named members of a meta-estimator as parameters: one list of (name, estimator), or a list of such lists, layers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from weald.data import read_weights
from weald.params.declare import anything
from weald.params.settable import Settable
from weald.runtime.errors import InputError
from weald.training.classical.members import takes_sample_weight

DROP = "drop"
Pair = tuple[str, Any]


@dataclass(kw_only=True, repr=False, eq=False)
class NamedMembers(Settable):
    """Gives access to the members in ``estimators``, and to their parameters, by name."""

    estimators: Annotated[
        Any,
        anything("The members: a list of (name, estimator); 'drop' in place of an estimator leaves it out."),
    ] = field(kw_only=False)

    @property
    def named_estimators(self) -> Bunch:
        """The unfitted members by name."""
        return Bunch(**dict(flat(self.estimators)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; ``deep``: also the members by their names, and theirs as ``name__parameter``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        for name, member in flat(self.estimators) if deep else ():
            params[name] = member
            if hasattr(member, "get_params") and not isinstance(member, type):
                nested = member.get_params(deep=True)
                params.update({f"{name}__{key}": value for key, value in nested.items()})
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters; a member is replaced by its name, or with "drop" left out."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = {name for name, _ in flat(self.estimators)}
        chosen = {name: params.pop(name) for name in list(params) if name in names}
        if chosen:
            self.estimators = mapped(self.estimators, lambda name, member: (name, chosen.get(name, member)))
        return super().set_params(**params)

    def _set_columns(self, members: Iterable[Any]) -> None:
        """Know the columns from the first of the fitted members that knows them."""
        for name in ("n_features_in_", "feature_names_in_"):
            found = [getattr(member, name) for member in members if hasattr(member, name)]
            if found:
                setattr(self, name, found[0])

    def _input_names(self, given: Sequence[str] | None) -> list[str]:
        """The columns' names; refused where others are given to ``get_feature_names_out``."""
        known = [str(name) for name in getattr(self, "feature_names_in_", ())]
        n_columns = getattr(self, "n_features_in_", len(known))
        if given is None:
            return known or [f"x{position}" for position in range(n_columns)]
        names = list(given)
        if known and names != known:
            raise InputError("input_features is not equal to feature_names_in_")
        if len(names) != n_columns:
            raise InputError(
                f"input_features should have length equal to number of features ({n_columns}), got {len(names)}"
            )
        return names

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` passes on to the members, by their requests."""
        router = MetadataRouter(owner=self)
        for name, member in flat(self.estimators):
            if member != DROP:
                router.add(**{name: member}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags  # only a scikit-learn that has it asks for tags

        tags = super().__sklearn_tags__()
        inputs = [get_tags(estimator).input_tags for estimator in self._readers()]
        for name in ("allow_nan", "sparse", "categorical"):
            setattr(tags.input_tags, name, all(getattr(one, name) for one in inputs))
        return tags

    def _readers(self) -> list[Any]:
        """The estimators that are given the table."""
        return [member for _, member in flat(self.estimators) if member != DROP]


def shared_weight(fit_params: Mapping[str, Any], members: Iterable[Pair], n_rows: int) -> dict[str, Any]:
    """The arguments of every member's ``fit`` where metadata routing is off: the rows' weights, if there are any."""
    params = dict(fit_params)
    weight = read_weights(params.pop("sample_weight", None), n_rows)
    if params:
        raise InputError(
            f"fit got {', '.join(params)}, which only scikit-learn's metadata routing brings to the members: "
            "switch it on with sklearn.set_config(enable_metadata_routing=True)."
        )
    if weight is None:
        return {}
    for name, member in members:
        if not (takes_sample_weight(member) or isinstance(member, NamedMembers)):
            raise InputError(
                f"sample_weight was given, but {name!r} is a {type(member).__name__}, whose fit takes none."
            )
    return {"sample_weight": weight}


def is_layered(estimators: Any) -> bool:
    """Whether members come in layers: a list of lists of pairs."""
    return (
        isinstance(estimators, list | tuple)
        and len(estimators) > 0
        and all(isinstance(layer, list) and not _is_pair(layer) for layer in estimators)
    )


def flat(estimators: Any) -> list[Pair]:
    """All pairs (name, member), layer after layer; what is none is left out."""
    layers = estimators if is_layered(estimators) else [estimators]
    return [
        tuple(pair) for layer in layers if isinstance(layer, list | tuple) for pair in layer if _is_pair(pair)
    ]


def mapped(estimators: Any, change: Callable[[str, Any], Pair]) -> Any:
    """The members, in the same lists, with each pair changed."""
    if is_layered(estimators):
        return [[change(*pair) for pair in layer] for layer in estimators]
    return [change(*pair) for pair in estimators]


def checked_layers(estimators: Any, reserved: Collection[str], layered: bool = True) -> list[list[Pair]]:
    """The members by layers, without dropped ones; refused where a name or a member cannot be one."""
    if is_layered(estimators) and not layered:
        raise InputError("estimators must be one list of (name, estimator): only stacking has layers.")
    layers: Sequence[Any] = estimators if is_layered(estimators) else [estimators]
    seen: set[str] = set()
    for layer in layers:
        if not isinstance(layer, list | tuple) or not layer or not all(_is_pair(pair) for pair in layer):
            raise InputError(f"estimators must be a list of (name, estimator), not {layer!r}.")
        for name, member in layer:
            _check_name(name, reserved, seen)
            if member != DROP and (isinstance(member, type) or not hasattr(member, "fit")):
                raise InputError(f"member {name!r} must be an estimator or 'drop', not {member!r}.")
        if all(member == DROP for _, member in layer):
            raise InputError("estimators must have a member that is not dropped, in every layer.")
    return [[(name, member) for name, member in layer if member != DROP] for layer in layers]


def _check_name(name: str, reserved: Collection[str], seen: set[str]) -> None:
    if "__" in name or name in reserved:
        raise InputError(
            f"the member's name {name!r} must not have '__' in it nor be the name of a parameter; choose another."
        )
    if name in seen:
        raise InputError(f"the name {name!r} is there twice; give every member its own.")
    seen.add(name)


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str)
