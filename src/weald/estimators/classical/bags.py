"""What the bagging of classifiers and of regressors share: bags, members, routing, out-of-bag rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from weald.binning import bin_once
from weald.data import read_weights
from weald.estimators.classical.ensembles import Ensemble, checked_integer, checked_numbers
from weald.estimators.classical.tree_members import TreeTraining, is_own_tree, joined_members
from weald.estimators.classical.tree_models import forest_scores
from weald.estimators.shared.composite import Members
from weald.forest.forest import Forest
from weald.params.declare import anything, flag, validate, whole
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.runtime.random import seed_of
from weald.training.classical.bagging import MemberBags, fit_members
from weald.training.classical.members import (
    Params,
    check_member,
    indexable,
    outputs_in_order,
    take_columns,
    take_rows,
    takes_sample_weight,
)
from weald.tree.cart import CartLabels
from weald.tree.cart.cart import MOST_ROWS

Floats = NDArray[np.float64]

# Rows below which a share of the weights is taken to be a mistake.
_FEW_DRAWS = 10


@dataclass(kw_only=True, repr=False, eq=False)
class Bagging(Ensemble):
    """What classifier and regressor share; use one of those."""

    estimator: Annotated[
        Any,
        anything(
            "What members are copies of; None: a decision tree of full depth. "
            "Weald's own trees are grown on bins that are computed once."
        ),
    ] = field(default=None, kw_only=False)
    n_estimators: Annotated[int, whole("Members.", 1, 10_000_000)] = field(default=10, kw_only=False)
    max_samples: Annotated[
        int | float | None,
        anything(
            "Rows drawn for a member: a number, a share of all (with sample_weight: of the sum of the weights), either of which "
            "may be more than all with bootstrap=True, or None for as many as there are."
        ),
    ] = None
    max_features: Annotated[int | float, anything("Columns drawn for a member: a number or a share.")] = 1.0
    bootstrap: Annotated[bool, flag("Rows are drawn with replacement.")] = True
    bootstrap_features: Annotated[bool, flag("Columns are drawn with replacement.")] = False
    oob_score: Annotated[bool, flag("Score the members on the rows that they were not given.")] = False
    warm_start: Annotated[bool, flag("fit keeps the members that are there and adds what is missing.")] = (
        False
    )
    n_jobs: Annotated[
        int | None,
        anything(
            "Members fitted at a time; None: all cores for Weald's trees, one for others. Never changes the model."
        ),
    ] = None
    random_state: Annotated[
        Any, anything("Seed of the draws and of the members; None is 0, so that two fits agree.")
    ] = None
    verbose: Annotated[int, whole("0: silent, 1 or more: progress.", 0)] = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the members.

        Parameters
        ----------
        X : table
        y : labels, one a row; of a regression also a column of them for every output
        sample_weight : weights, one a row
            Rows are drawn in proportion to them, so that a row of weight 2 is as two rows. With ``bootstrap=False`` they
            multiply the weights of the rows drawn, and members' ``fit`` must take weights.
        fit_params : further arguments of the members' ``fit``
            Where scikit-learn's metadata routing is on and members ask for them.
        """
        validate(self)
        check_member(self._template())
        params = self._routed("fit", fit_params)
        earlier = dict(self.__dict__) if self.warm_start and self.__sklearn_is_fitted__() else None
        self._forget()
        dataset = self._read(X)
        weight = read_weights(sample_weight, dataset.n_rows)
        target = self._read_target(y, dataset.n_rows)
        bags = self._make_bags(dataset.n_rows, dataset.n_columns, weight)
        members: list[Any] = []
        if earlier is not None:
            bags = self._continued(earlier, bags, dataset.schema)
            members = earlier["estimators_"]
        members = members + self._fit_members(
            X, target, weight, bags, range(len(members), self.n_estimators), params
        )
        self._bags: MemberBags = bags
        self._remember(dataset.schema)
        self.estimator_ = self._template()
        self.estimators_ = members
        self.estimators_features_ = [bags.columns(number) for number in range(len(members))]
        self._joined = self._join()
        if self.oob_score:
            self._score_out_of_bag(indexable(X), target, weight)
        return self

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        """The labels as the members get them."""
        raise NotImplementedError

    def _score_out_of_bag(self, table: Any, target: NDArray[Any], weight: Floats | None) -> None:
        raise NotImplementedError

    def _cart_labels(self, target: NDArray[Any]) -> CartLabels:
        """The labels as the engine of trees takes them."""
        raise NotImplementedError

    def _fit_members(
        self,
        X: Any,
        target: NDArray[Any],
        weight: Floats | None,
        bags: MemberBags,
        numbers: range,
        params: Params,
    ) -> list[Any]:
        template = self._template()
        if is_own_tree(template) and not params:
            classes = getattr(self, "classes_", None)
            labels = self._cart_labels(target)
            training = TreeTraining(template, X, labels, classes, weight, bags.seed, self.n_jobs)
            return training.bagged(bags, numbers, self.n_jobs, bool(self.verbose))
        by_weight = takes_sample_weight(template)
        if weight is not None and not by_weight and not self.bootstrap:
            raise NotSupportedError(
                f"sample_weight cannot be used with bootstrap=False and a {type(template).__name__}, "
                "whose fit takes no weights; use bootstrap=True, which draws rows by their weights."
            )
        table = bin_once(X, [template], weight=weight, seed=bags.seed) if bags.all_columns else None
        return fit_members(
            template,
            indexable(X) if table is None else table,
            target,
            weight if bags.weight is None else None,
            by_weight,
            bags,
            numbers,
            params,
            self.n_jobs,
            self.verbose,
        )

    def _make_bags(self, n_rows: int, n_columns: int, weight: Floats | None) -> MemberBags:
        by_weight = weight if self.bootstrap and weight is not None and (weight != 1.0).any() else None
        n_draws = self._count_draws(n_rows, by_weight)
        n_chosen = _count("max_features", self.max_features, n_columns)
        if n_chosen > n_columns:
            raise InputError(f"max_features is {self.max_features!r}, but X has {n_columns} columns.")
        if self.oob_score and not self.bootstrap:
            raise InputError("oob_score=True needs bootstrap=True, which leaves rows out of every bag.")
        return MemberBags(
            seed_of(self.random_state),
            n_rows,
            n_draws,
            self.bootstrap,
            n_columns,
            n_chosen,
            self.bootstrap_features,
            by_weight,
        )

    def _count_draws(self, n_rows: int, by_weight: Floats | None) -> int:
        """How many rows a member is given; a share is of the weights that rows are drawn by."""
        if self.max_samples is None:
            return n_rows
        total = n_rows if by_weight is None else float(by_weight.sum())
        n_draws = _count("max_samples", self.max_samples, total, math.inf if self.bootstrap else 1.0)
        if n_draws > n_rows and not self.bootstrap:
            raise InputError(
                f"max_samples is {self.max_samples!r}, but X has {n_rows} rows; with bootstrap=False at most these can be drawn."
            )
        if n_draws >= MOST_ROWS:
            raise InputError(
                f"max_samples is {self.max_samples!r}, by which a member would be given {n_draws:.6g} rows; a share is of the "
                f"sum of the weights, here {total:.6g}. Give a whole number below {MOST_ROWS}, or weights of mean 1."
            )
        is_share = not isinstance(self.max_samples, int | np.integer)
        if is_share and by_weight is not None and n_draws < _FEW_DRAWS <= n_rows:
            warnings.warn(
                f"max_samples={self.max_samples!r} is a share of the weights, whose sum is {total:.6g}, so that a member is "
                f"given {n_draws} of {n_rows} rows; give a whole number, or weights of mean 1.",
                UserWarning,
                stacklevel=5,
            )
        return n_draws

    def _continued(self, earlier: Mapping[str, Any], bags: MemberBags, schema: Any) -> MemberBags:
        """The earlier fit's bags, with its seed: a warm start ends where one fit would."""
        before: MemberBags = earlier["_bags"]
        if before.n_rows != bags.n_rows or earlier["_schema"] != schema:
            raise InputError("warm_start needs the rows and columns of the earlier fit; X has others.")
        if not before.same_draws(bags):
            raise InputError(
                "warm_start draws rows by the weights of the earlier fit; sample_weight has others."
            )
        members = len(earlier["estimators_"])
        if members > self.n_estimators:
            raise InputError(
                f"warm_start cannot go back: n_estimators is {self.n_estimators}, but there are {members} members."
            )
        if members == self.n_estimators:
            warnings.warn(
                "warm_start without a larger n_estimators fits no new members.", UserWarning, stacklevel=4
            )
        return before

    def _callees(self) -> Mapping[str, str]:
        """By the methods that take arguments for the members: the members' methods that get them."""
        return {"fit": "fit", "predict": "predict"}

    def _routed(self, method: str, params: Params) -> Params:
        """The arguments of the members' method that ``method`` calls."""
        if not params:
            return {}
        if not get_config()["enable_metadata_routing"]:
            raise InputError(
                f"{method} got {', '.join(params)}, which only scikit-learn's metadata routing brings to the members: "
                "switch it on with sklearn.set_config(enable_metadata_routing=True)."
            )
        routed: Params = process_routing(self, method, **params).estimator[self._callees()[method]]
        return routed

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` takes itself, and what its methods pass on to the members'."""
        mapping = MethodMapping()
        for caller, callee in self._callees().items():
            mapping.add(caller=caller, callee=callee)
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self._template(), method_mapping=mapping)
        )

    def _composite_parts(self) -> tuple[Members, dict[str, Any]]:
        members, extra = super()._composite_parts()
        bags = self._bags
        extra |= {
            "seed": bags.seed,
            "n_rows": bags.n_rows,
            "n_draws": bags.n_draws,
            "n_chosen": bags.n_chosen,
        }
        if bags.weight is not None:
            extra["weight"] = bags.weight
        return members, {**extra, "oob_score": getattr(self, "oob_score_", None)}

    @classmethod
    def _from_composite(
        cls, params: dict[str, Any], members: list[tuple[str, Any]], extra: dict[str, Any]
    ) -> Any:
        model = super()._from_composite(params, members, extra)
        seed = checked_integer(extra, "seed", None)
        n_rows, n_draws, n_chosen = (
            checked_integer(extra, name, 1) for name in ("n_rows", "n_draws", "n_chosen")
        )
        n_columns = model.n_features_in_
        weight = None
        if "weight" in extra:
            weight = checked_numbers(extra, "weight", n_rows)
            if weight.min() < 0.0 or not weight.any():
                raise ModelFileError("The file's 'weight' must be weights of rows, not all zero.")
        if max(n_rows, n_draws) >= MOST_ROWS:
            raise ModelFileError(
                f"The file's members were given {n_draws} of {n_rows} rows, which cannot be."
            )
        for _, member in members:
            if member.n_features_in_ != n_chosen:
                raise ModelFileError(
                    f"A member has {member.n_features_in_} columns, but was given {n_chosen}."
                )
        model._bags = MemberBags(
            seed, n_rows, n_draws, model.bootstrap, n_columns, n_chosen, model.bootstrap_features, weight
        )
        model.estimators_features_ = [model._bags.columns(number) for number in range(len(members))]
        if isinstance(extra.get("oob_score"), float):
            model.oob_score_ = extra["oob_score"]
        return model

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each member was given, as often as they were drawn; drawn anew at every call."""
        self._check_fitted()
        return [self._bags.rows(number) for number in range(len(self.estimators_))]

    def _own_columns(self, table: Any, number: int) -> Any:
        return table if self._bags.all_columns else take_columns(table, self.estimators_features_[number])

    def _outputs(self, X: Any, output: Any) -> Iterator[NDArray[Any]]:
        """``output(member, its columns of the table)`` of every member in turn."""
        table = self._table(X)

        def of(number: int) -> NDArray[Any]:
            said: NDArray[Any] = output(self.estimators_[number], self._own_columns(table, number))
            return said

        return outputs_in_order(of, range(len(self.estimators_)), self.n_jobs)

    def _joined_with(self, leaves: Callable[[Forest], Floats], n_outputs: int) -> Forest | None:
        return joined_members(
            self.estimators_,
            self.estimators_features_,
            lambda number, tree: leaves(tree),
            self.n_features_in_,
            n_outputs,
        )

    def _joined_means(self, X: Any) -> Floats:
        """The mean over the members of what the joined forest's leaves say, (outputs, rows)."""
        assert self._joined is not None
        means = forest_scores(self._joined, self._dataset(X), self.n_jobs)
        means /= len(self.estimators_)
        return means

    def _mean_output(self, X: Any, output: Any) -> Floats:
        """The mean of the members' outputs, summed in the members' order."""
        outputs = self._outputs(X, output)
        total = np.array(next(outputs), dtype=np.float64)
        for said in outputs:
            total += said
        total /= len(self.estimators_)
        return total

    def _unseen_outputs(self, table: Any, output: Any) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """The rows that each member was not given, and its output for them."""

        def of(number: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
            rows = self._bags.unseen(number)
            if not len(rows):
                return rows, np.empty(0)
            return rows, output(self.estimators_[number], take_rows(self._own_columns(table, number), rows))

        for rows, said in outputs_in_order(of, range(len(self.estimators_)), self.n_jobs):
            if len(rows):
                yield rows, said


def _count(name: str, value: Any, total: float, most: float = 1.0) -> int:
    """A number of things, from a number or from a share of the total."""
    if isinstance(value, int | np.integer) and value is not True and value >= 1:
        return int(value)
    if isinstance(value, float | np.floating) and 0.0 < value <= most and math.isfinite(value):
        return max(1, int(value * total))
    limit = "" if most > 1.0 else " and at most 1"
    raise InputError(
        f"{name} must be a whole number of at least 1, or a share above 0{limit}, not {value!r}."
    )


def members_have(method: str) -> Any:
    def check(self: Bagging) -> bool:
        getattr(self.estimators_[0] if self.__sklearn_is_fitted__() else self._template(), method)
        return True  # otherwise the member's own AttributeError is the reason that is told

    return check
