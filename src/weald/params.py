"""The one table of parameters: name, type, range, default and help; validation, documentation and the command line read it."""

from __future__ import annotations

import difflib
import json
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weald.runtime.errors import InputError, NotSupportedError


@dataclass(frozen=True)
class Parameter:
    """One parameter: what it may be and what it is for.

    kind      "int", "float", "bool", "choice", or "any" (checked where it is used)
    low, high bounds of a number; a bound in ``open_bounds`` is itself not allowed
    choices   the values of a choice
    refused   values that are known but not available, and what to use instead
    optional  None is a value too
    """

    name: str
    kind: str
    default: Any
    help: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    choices: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    optional: bool = False

    def check(self, value: Any) -> None:
        """Raise an InputError that names the parameter when ``value`` is not allowed."""
        if value is None and self.optional:
            return
        if self.kind == "choice":
            self._check_choice(value)
        elif self.kind == "bool":
            if not isinstance(value, bool):
                raise InputError(f"{self.name} must be True or False, not {value!r}.")
        elif self.kind in ("int", "float"):
            self._check_number(value)
        elif self.kind == "none" and value is not None:
            raise NotSupportedError(f"{self.name} is not supported yet, but is {value!r}; leave it at None.")

    def _check_choice(self, value: Any) -> None:
        for refused, instead in self.refused:
            if value == refused:
                raise NotSupportedError(f"{self.name}={value!r} is not supported yet; use {instead}.")
        if value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            raise InputError(
                f"{self.name} must be {'one of ' if len(self.choices) > 1 else ''}{known}, not {value!r}."
            )

    def _check_number(self, value: Any) -> None:
        wanted = numbers.Integral if self.kind == "int" else numbers.Real
        ok = not isinstance(value, bool) and isinstance(value, wanted) and math.isfinite(value)
        if ok and self.low <= value <= self.high and not (self.open_low and value == self.low):
            return
        raise InputError(f"{self.name} must be {self.range_text}, not {value!r}.")

    @property
    def range_text(self) -> str:
        """The range in words.

        >>> PARAMETERS["subsample"].range_text
        'a number above 0 and at most 1'
        """
        words = "a whole number" if self.kind == "int" else "a number"
        low = (
            f" above {self.low:g}"
            if self.open_low
            else f" of at least {self.low:g}"
            if self.low > -math.inf
            else ""
        )
        high = f"{' and' if low else ' of'} at most {self.high:g}" if self.high < math.inf else ""
        return words + low + high + (" or None" if self.optional else "")

    def parse(self, text: str) -> Any:
        """The value that a text on the command line stands for; checked."""
        value: Any = text
        if self.optional and text.lower() in ("none", "null"):
            value = None
        elif self.kind == "bool":
            value = {"true": True, "false": False, "1": True, "0": False}.get(text.lower(), text)
        elif self.kind in ("int", "float"):
            try:
                value = int(text) if self.kind == "int" else float(text)
            except ValueError:
                raise InputError(f"{self.name} must be {self.range_text}, not {text!r}.") from None
        elif self.kind == "any":
            try:
                value = json.loads(text)
            except ValueError:
                value = text
        self.check(value)
        return value


_LATER = "and see the change log for when it arrives"


def _table(*parameters: Parameter) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


PARAMETERS: dict[str, Parameter] = _table(
    Parameter(
        "loss",
        "any",
        "auto",
        "What is minimised: a function(y, raw_scores) -> (gradient, hessian), or a name: squared, absolute, huber, "
        "quantile, poisson, gamma, tweedie; logistic, exponential (two classes), softmax.",
    ),
    Parameter(
        "huber_delta",
        "float",
        None,
        "Where the huber loss turns from square to linear (1.0).",
        0,
        open_low=True,
        optional=True,
    ),
    Parameter(
        "quantile_alpha",
        "float",
        None,
        "The quantile that the quantile loss estimates (0.5).",
        0,
        1,
        True,
        optional=True,
    ),
    Parameter(
        "tweedie_power",
        "float",
        None,
        "Variance power of the tweedie loss, between 1 and 2 (1.5).",
        1,
        2,
        True,
        optional=True,
    ),
    Parameter("n_estimators", "int", 100, "Rounds of boosting.", 1, 10_000_000),
    Parameter("learning_rate", "float", 0.1, "Share of every tree that is added.", 0, open_low=True),
    Parameter(
        "growth",
        "choice",
        "leafwise",
        "Which leaf is split next: the one with the largest gain, level by level, or one split for a whole level.",
        choices=("leafwise", "depthwise", "oblivious"),
    ),
    Parameter(
        "max_leaves",
        "int",
        31,
        "Leaves of a tree; None: no limit. Oblivious trees are sized by max_depth.",
        2,
        2**24,
        optional=True,
    ),
    Parameter(
        "max_depth",
        "int",
        None,
        "Depth of a tree; None: no limit (oblivious trees: 6).",
        1,
        1_000_000,
        optional=True,
    ),
    Parameter("min_samples_leaf", "int", 20, "Rows that a leaf must have.", 1),
    Parameter("min_child_weight", "float", 1e-3, "Sum of hessians that a leaf must have.", 0),
    Parameter("reg_lambda", "float", 1.0, "L2 penalty of leaf values.", 0),
    Parameter("reg_alpha", "float", 0.0, "L1 penalty of leaf values.", 0),
    Parameter("gamma", "float", 0.0, "Price of a leaf: a split must gain more than this.", 0),
    Parameter(
        "max_delta_step",
        "float",
        None,
        "Largest leaf value before shrinkage; 0: no limit; None: the loss's own.",
        0,
        optional=True,
    ),
    Parameter("subsample", "float", 1.0, "Share of rows drawn for every round.", 0, 1, True),
    Parameter(
        "sampling",
        "choice",
        "uniform",
        "How rows are drawn.",
        choices=("uniform",),
        refused=tuple((name, f"'uniform', {_LATER}") for name in ("bootstrap", "goss", "mvs")),
    ),
    Parameter("colsample_bytree", "float", 1.0, "Share of columns drawn for every tree.", 0, 1, True),
    Parameter(
        "colsample_bylevel", "float", 1.0, "Share of the tree's columns drawn for every level.", 0, 1, True
    ),
    Parameter(
        "colsample_bynode", "float", 1.0, "Share of the level's columns drawn for every node.", 0, 1, True
    ),
    Parameter(
        "split_finder",
        "choice",
        "hist",
        "How splits are found.",
        choices=("hist",),
        refused=tuple((name, f"'hist', {_LATER}") for name in ("exact", "approx")),
    ),
    Parameter(
        "booster",
        "choice",
        "plain",
        "How trees add up.",
        choices=("plain",),
        refused=tuple((name, f"'plain', {_LATER}") for name in ("ordered", "dart", "forest", "linear")),
    ),
    Parameter(
        "categories",
        "choice",
        "onehot",
        "How categorical columns are split.",
        choices=("onehot",),
        refused=tuple(
            (name, f"'onehot', {_LATER}")
            for name in ("partition", "greedy", "holdout", "leave_one_out", "ordered")
        ),
    ),
    Parameter(
        "categorical_features",
        "any",
        "auto",
        "'auto', or names and positions of columns to treat as categories too.",
    ),
    Parameter("monotone_constraints", "none", None, "Not supported yet."),
    Parameter("interaction_constraints", "none", None, "Not supported yet."),
    Parameter("max_bins", "int", 255, "Bins of a column, missing values apart.", 2, 255),
    Parameter(
        "precision",
        "choice",
        "packed",
        "Integers of the gradients: packed (wide where the data need it), always wide, or always packed.",
        choices=("packed", "wide", "packed_always"),
    ),
    Parameter("class_weight", "any", None, "None, 'balanced', or a weight for every class."),
    Parameter(
        "scale_pos_weight",
        "float",
        None,
        "Weight of the second of two classes.",
        0,
        open_low=True,
        optional=True,
    ),
    Parameter("eval_metric", "any", None, "Name, function, or list of these; None: the loss's own."),
    Parameter(
        "early_stopping_rounds",
        "int",
        None,
        "Stop after so many rounds without improvement on the eval_set.",
        1,
        optional=True,
    ),
    Parameter(
        "importance_type", "choice", "gain", "What feature_importances_ counts.", choices=("gain", "split")
    ),
    Parameter("warm_start", "bool", False, "fit goes on from the trees that are there."),
    Parameter("n_jobs", "any", None, "Threads; None: all cores. Never changes the model."),
    Parameter("random_state", "any", None, "Seed; None is 0, so that two fits agree."),
    Parameter("verbose", "int", 0, "0: silent, 1: progress.", 0, 1),
)


def validate(parameters: Mapping[str, Any], table: Mapping[str, Parameter] = PARAMETERS) -> None:
    """Check every parameter by itself; what two of them may not be together is checked where they meet."""
    for name, value in parameters.items():
        table[name].check(value)


def parse(name: str, text: str) -> Any:
    """The value of a parameter from text.

    >>> parse("max_leaves", "63")
    63
    """
    if name not in PARAMETERS:
        close = difflib.get_close_matches(name, PARAMETERS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(PARAMETERS)}."
        raise InputError(f"there is no parameter {name!r}; {hint}")
    return PARAMETERS[name].parse(text)


def parameter_table() -> str:
    """The page of parameters, ``docs/parameters.md``, as Markdown."""
    lines = [
        "# Parameters",
        "",
        "Written by `python -m weald.params`. `huber_delta`, `quantile_alpha` and `tweedie_power` belong to the regressor,",
        "`class_weight` and `scale_pos_weight` to the classifier; all others to both.",
        "",
        *_rows(PARAMETERS),
        "",
        "## GradientBoostingClassifier and GradientBoostingRegressor",
        "",
        "`alpha` belongs to the regressor. The losses are log_loss and exponential, and squared_error, absolute_error, huber",
        "and quantile.",
        "",
        *_rows(GRADIENT_BOOSTING_PARAMETERS),
    ]
    return "\n".join(lines) + "\n"


def _rows(table: Mapping[str, Parameter]) -> list[str]:
    lines = ["| parameter | default | values | meaning |", "| --- | --- | --- | --- |"]
    for parameter in table.values():
        lines.append(
            f"| `{parameter.name}` | `{parameter.default!r}` | {_values_text(parameter)} | {parameter.help} |"
        )
    return lines


def _values_text(parameter: Parameter) -> str:
    if parameter.kind == "choice":
        refused = ", ".join(f"`{name!r}`" for name, _ in parameter.refused)
        known = ", ".join(f"`{name!r}`" for name in parameter.choices)
        return f"{known} (refused for now: {refused})" if refused else known
    if parameter.kind in ("int", "float"):
        return parameter.range_text
    return {"bool": "True or False", "none": "None"}.get(parameter.kind, "see its meaning")


ADABOOST_PARAMETERS: dict[str, Parameter] = _table(
    Parameter(
        "estimator", "any", None, "What is boosted; None: a tree of depth 1, of depth 3 for regression."
    ),
    Parameter("n_estimators", "int", 50, "Rounds of boosting at most.", 1, 10_000_000),
    Parameter("learning_rate", "float", 1.0, "Factor of every member's weight.", 0, open_low=True),
    Parameter(
        "algorithm",
        "choice",
        "SAMME",
        "Members vote by labels (Freund and Schapire's AdaBoost for two classes), or by probabilities.",
        choices=("SAMME", "SAMME.R"),
    ),
    Parameter(
        "loss",
        "choice",
        "linear",
        "A row's loss, of its error's share of the largest error.",
        choices=("linear", "square", "exponential"),
    ),
    Parameter(
        "reweight",
        "choice",
        "weights",
        "Members are fitted to weighted rows, or to rows drawn by their weights.",
        choices=("weights", "resample"),
    ),
    Parameter("n_jobs", "any", None, "Threads; never changes the model."),
    Parameter("random_state", "any", None, "Seed; None is 0, so that two fits agree."),
)

BAGGING_PARAMETERS: dict[str, Parameter] = _table(
    Parameter("estimator", "any", None, "What members are copies of; None: a decision tree."),
    Parameter("n_estimators", "int", 10, "Members.", 1, 10_000_000),
    Parameter("max_samples", "any", None, "Rows drawn for a member: a number, a share, or None for all."),
    Parameter("max_features", "any", 1.0, "Columns drawn for a member: a number or a share."),
    Parameter("bootstrap", "bool", True, "Rows are drawn with replacement."),
    Parameter("bootstrap_features", "bool", False, "Columns are drawn with replacement."),
    Parameter("oob_score", "bool", False, "Score the members on the rows that they were not given."),
    Parameter(
        "voting",
        "choice",
        "soft",
        "Members' probabilities are averaged, or their labels counted.",
        choices=("soft", "hard"),
    ),
    Parameter("warm_start", "bool", False, "fit goes on from the members that are there."),
    Parameter("n_jobs", "any", None, "Threads or processes; never changes the model."),
    Parameter("random_state", "any", None, "Seed; None is 0, so that two fits agree."),
    Parameter("verbose", "int", 0, "0: silent, 1 or more: progress.", 0),
)

VOTING_PARAMETERS: dict[str, Parameter] = _table(
    Parameter("estimators", "any", None, "The members: (name, estimator) pairs; an estimator may be 'drop'."),
    Parameter(
        "voting",
        "choice",
        "hard",
        "Most votes win, the largest mean probability wins, or more than half of the votes or none.",
        choices=("hard", "soft", "majority"),
    ),
    Parameter("weights", "any", None, "A number of at least 0 for every member, or 'fit': learned."),
    Parameter("flatten_transform", "bool", True, "Soft voting's transform gives members side by side."),
    Parameter(
        "ties",
        "choice",
        "first",
        "Which of several winners: the first label, or one by lot, from a hash of the seed and the row's values.",
        choices=("first", "random"),
    ),
    Parameter(
        "refusal_label", "any", None, "The label of rows without a majority; voting='majority' needs it."
    ),
    Parameter(
        "cv", "any", None, "Folds for weights='fit': a number (5), a splitter, a list of (train, test)."
    ),
    Parameter("n_jobs", "any", None, "Fits at a time; None: one. Never changes the model."),
    Parameter("random_state", "any", None, "Seed of the lots; None is 0, so that two fits agree."),
    Parameter("verbose", "any", False, "joblib's messages: False, True, or a whole number."),
)

_COMBINING = (
    Parameter("estimators", "any", None, "The members: (name, estimator) pairs; an estimator may be 'drop'."),
    Parameter(
        "final_estimator",
        "any",
        None,
        "Learns from the members' outputs; None: logistic or ridge regression.",
    ),
    Parameter(
        "stack_method",
        "choice",
        "auto",
        "What members are asked for; auto: the first of these that a member has.",
        choices=("auto", "predict_proba", "decision_function", "predict"),
    ),
    Parameter("passthrough", "bool", False, "The table itself goes to the final estimator too."),
    Parameter("n_jobs", "any", None, "Fits at a time; None: one. Never changes the model."),
    Parameter("verbose", "int", 0, "0: silent, more: joblib's messages.", 0),
)
_REFIT = "Members are fitted again, to all rows, for the prediction of new rows."

STACKING_PARAMETERS: dict[str, Parameter] = _table(
    *_COMBINING,
    Parameter(
        "cv",
        "any",
        None,
        "Folds: a number, a splitter, a list of (train, test), 'prefit' or 'in_sample_overfits'.",
    ),
    Parameter("refit", "bool", True, _REFIT),
)

BLENDING_PARAMETERS: dict[str, Parameter] = _table(
    *_COMBINING,
    Parameter("holdout", "float", 0.2, "Share of rows that the final estimator learns from.", 0, 1, True),
    Parameter("refit", "bool", False, _REFIT),
    Parameter("random_state", "any", None, "Seed; None is 0, so that two fits agree."),
)
TREE_PARAMETERS: dict[str, Parameter] = _table(
    Parameter(
        "criterion",
        "choice",
        "gini",
        "What a split lowers; a regressor's default is 'squared_error'.",
        choices=(
            "gini",
            "entropy",
            "log_loss",
            "squared_error",
            "friedman_mse",
            "absolute_error",
            "poisson",
        ),
    ),
    Parameter(
        "splitter",
        "choice",
        "best",
        "The best threshold of a column, or one drawn at random.",
        choices=("best", "random"),
    ),
    Parameter(
        "max_depth", "int", None, "Depth of a tree; None: until leaves are pure.", 1, 1_000_000, optional=True
    ),
    Parameter("min_samples_split", "any", 2, "Rows that a node must have to be split: a number or a share."),
    Parameter("min_samples_leaf", "any", 1, "Rows that a leaf must have: a number or a share."),
    Parameter("min_weight_fraction_leaf", "float", 0.0, "Share of the weight that a leaf must have.", 0, 0.5),
    Parameter(
        "max_features", "any", "sqrt", "Columns looked at: a number, a share, 'sqrt', 'log2' or None for all."
    ),
    Parameter("max_leaf_nodes", "int", None, "Leaves of a tree; None: no limit.", 2, 2**24, optional=True),
    Parameter("min_impurity_decrease", "float", 0.0, "How much a split must lower the impurity.", 0),
    Parameter("class_weight", "any", None, "None, 'balanced', or a weight for every class."),
    Parameter(
        "ccp_alpha", "float", 0.0, "Must be 0: trees are not pruned; use max_leaf_nodes or max_depth.", 0
    ),
    Parameter("monotonic_cst", "none", None, "Not supported yet."),
    Parameter("max_bins", "int", 255, "Bins of a column, missing values apart.", 2, 255),
    Parameter(
        "categorical_features",
        "any",
        "auto",
        "'auto', or names and positions of columns to treat as categories too.",
    ),
    Parameter("random_state", "any", None, "Seed; None is 0, so that two fits agree."),
)

FOREST_PARAMETERS: dict[str, Parameter] = TREE_PARAMETERS | _table(
    Parameter("n_estimators", "int", 100, "Trees.", 1, 10_000_000),
    Parameter(
        "features_per",
        "choice",
        "node",
        "Whether max_features columns are drawn for every node or once for a tree.",
        choices=("node", "tree"),
    ),
    Parameter("bootstrap", "bool", True, "Rows are drawn with replacement; otherwise trees see all of them."),
    Parameter("max_samples", "any", None, "Rows drawn for a tree: a number, a share, or None for all."),
    Parameter("oob_score", "any", False, "Whether to score the out-of-bag rows; or function(y, predicted)."),
    Parameter("warm_start", "bool", False, "fit goes on from the trees that are there."),
    Parameter("n_jobs", "any", None, "Threads; None: all cores. Never changes the model."),
    Parameter("verbose", "int", 0, "0: silent, 1 or more: progress.", 0),
)
FOREST_PARAMETERS.pop("splitter")

# Friedman's gradient boosting, with scikit-learn's names; what the two classes have as default loss differs.
GRADIENT_BOOSTING_PARAMETERS: dict[str, Parameter] = _table(
    Parameter("loss", "any", None, "What is minimised."),
    Parameter("learning_rate", "float", 0.1, "Share of every tree that is added.", 0, open_low=True),
    Parameter("n_estimators", "int", 100, "Rounds of boosting.", 1, 10_000_000),
    Parameter("subsample", "float", 1.0, "Share of rows drawn for every round.", 0, 1, True),
    Parameter(
        "criterion",
        "choice",
        "friedman_mse",
        "What a split of the negative gradients must lower most; both order the splits of a node alike.",
        choices=("friedman_mse", "squared_error"),
    ),
    Parameter(
        "min_samples_split", "any", 2, "Rows that a node must have to be split: a number, or a share of all."
    ),
    Parameter("min_samples_leaf", "any", 1, "Rows that a leaf must have: a number, or a share of all."),
    Parameter(
        "min_weight_fraction_leaf", "float", 0.0, "Share of the weight of a tree's rows in a leaf.", 0, 0.5
    ),
    Parameter("max_depth", "int", 3, "Depth of a tree; None: no limit.", 1, 1_000_000, optional=True),
    Parameter(
        "min_impurity_decrease",
        "float",
        0.0,
        "How much a split must lower the squared error of the negative gradients, a unit of weight.",
        0,
    ),
    Parameter(
        "init", "any", None, "Where boosting starts: None (the best constant), 'zero', or an estimator."
    ),
    Parameter("random_state", "any", None, "Seed; None is 0, so that two fits agree."),
    Parameter(
        "max_features",
        "any",
        None,
        "Columns drawn for every node: a number, a share, 'sqrt', 'log2'; None: all.",
    ),
    Parameter(
        "alpha",
        "float",
        0.9,
        "The quantile of the quantile loss; of the absolute residuals, the huber loss's delta.",
        0,
        1,
        True,
    ),
    Parameter("verbose", "int", 0, "0: silent; 1 or more: progress.", 0),
    Parameter(
        "max_leaf_nodes",
        "int",
        None,
        "Leaves of a tree, which then grows best first; None: no limit.",
        2,
        2**24,
        optional=True,
    ),
    Parameter("warm_start", "bool", False, "fit goes on from the trees that are there."),
    Parameter(
        "validation_fraction", "float", 0.1, "Share of rows held out for n_iter_no_change.", 0, 1, True
    ),
    Parameter(
        "n_iter_no_change",
        "int",
        None,
        "Stop when the held-out loss is no better than any of so many before; None: never.",
        1,
        optional=True,
    ),
    Parameter("tol", "float", 1e-4, "By how much a loss must be smaller to be better.", 0),
    Parameter(
        "ccp_alpha", "float", 0.0, "Cost-complexity pruning, which boosting does without: must be 0.", 0
    ),
    Parameter(
        "line_search",
        "choice",
        "leaf",
        "The step: the best of every leaf, the best of every tree, or the tree's own values.",
        choices=("leaf", "tree", "projection"),
    ),
    Parameter("max_bins", "int", 255, "Bins of a column, missing values apart.", 2, 255),
    Parameter(
        "categorical_features",
        "any",
        "auto",
        "'auto', or names and positions of columns to treat as categories too.",
    ),
    Parameter("n_jobs", "any", None, "Threads; None: all cores. Never changes the model."),
)


if __name__ == "__main__":
    print(parameter_table(), end="")
