"""The parameters of boosted trees, the native door to the engine."""

from __future__ import annotations

import difflib
from typing import Any

from weald.params.parameter import CATEGORICAL_FEATURES, RANDOM_STATE, Parameter, table_of
from weald.runtime.errors import InputError

PARAMETERS: dict[str, Parameter] = table_of(
    Parameter(
        "loss",
        "any",
        "auto",
        "What is minimised: a function(y, raw_scores) -> (gradient, hessian), or a name: squared, absolute, mape, "
        "huber, pseudo_huber, fair, log_cosh, squared_log, quantile, normal (mean and deviation), "
        "cross_entropy (labels from 0 to 1), poisson, gamma, tweedie; "
        "logistic, exponential, hinge (two classes), softmax, one_vs_rest.",
    ),
    Parameter(
        "huber_delta",
        "float",
        None,
        "Where the huber and pseudo_huber losses turn from square to linear (1.0).",
        0,
        open_low=True,
        optional=True,
    ),
    Parameter(
        "quantile_alpha",
        "any",
        None,
        "The quantile that the quantile loss estimates (0.5), between 0 and 1; a list: a prediction for each.",
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
    Parameter(
        "fair_scale",
        "float",
        None,
        "Where the fair loss turns from square to linear (1.0).",
        0,
        open_low=True,
        optional=True,
    ),
    Parameter("n_estimators", "int", 100, "Rounds of boosting.", 1, 10_000_000),
    Parameter(
        "learning_rate",
        "float",
        0.1,
        "Share of every tree, or step of a weight, that is added; 'auto': from the loss and the numbers of rows and rounds.",
        0,
        open_low=True,
        choices=("auto",),
    ),
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
    Parameter(
        "reg_lambda",
        "float",
        None,
        "L2 penalty of leaf values, or of weights a row for booster='linear'; None: 1 for trees, 0 for 'linear'.",
        0,
        optional=True,
    ),
    Parameter(
        "reg_alpha", "float", 0.0, "L1 penalty of leaf values, or of weights a row for booster='linear'.", 0
    ),
    Parameter(
        "gamma",
        "float",
        0.0,
        "Price of a leaf: a split must gain more than this; depthwise trees are pruned by it after growth.",
        0,
    ),
    Parameter(
        "max_delta_step",
        "float",
        None,
        "Largest leaf value before shrinkage, or move of a score for booster='linear'; 0: no limit; None: the loss's own.",
        0,
        optional=True,
    ),
    Parameter(
        "leaf_estimation",
        "choice",
        "auto",
        "How far a leaf goes: the loss's own way, Newton's step, the mean gradient, or the loss's exact minimum.",
        choices=("auto", "newton", "gradient", "exact"),
    ),
    Parameter(
        "leaf_iterations",
        "int",
        1,
        "Steps of a leaf's value, each at the scores that the last one led to.",
        1,
        100,
    ),
    Parameter("subsample", "float", 1.0, "Share of rows drawn for every round.", 0, 1, True),
    Parameter(
        "sampling",
        "choice",
        "uniform",
        "How rows are drawn: all alike; after 1 / learning_rate rounds those of large gradients and a sample of the rest (goss); "
        "all, each with a random weight (bayesian); or with chances that grow with the gradient (mvs).",
        choices=("uniform", "goss", "bayesian", "mvs"),
        refused=(("bootstrap", "'bayesian'"),),
    ),
    Parameter(
        "bagging_temperature",
        "float",
        1.0,
        "How unequal the random weights of sampling='bayesian' are: 0 all alike, 1 exponential.",
        0,
        20,  # the largest weight is (53 log 2)**temperature, which a float32 holds up to 24.6; the rest is for gradients
    ),
    Parameter(
        "mvs_reg",
        "float",
        None,
        "What sampling='mvs' adds to a squared gradient, so that small ones keep a chance; None: their mean, squared.",
        0,
        optional=True,
    ),
    Parameter("subsample_freq", "int", 1, "Rounds after which rows are drawn anew.", 1, 10_000_000),
    Parameter(
        "positive_subsample",
        "float",
        None,
        "Share of the rows of the second of two classes drawn for every round, in place of subsample.",
        0,
        1,
        True,
        optional=True,
    ),
    Parameter(
        "negative_subsample",
        "float",
        None,
        "Share of the rows of the first of two classes drawn for every round, in place of subsample.",
        0,
        1,
        True,
        optional=True,
    ),
    Parameter(
        "top_rate",
        "float",
        0.2,
        "Share of the rows, those of the largest gradients, that sampling='goss' keeps.",
        0,
        1,
    ),
    Parameter(
        "other_rate",
        "float",
        0.1,
        "Share of the rows that sampling='goss' draws from the others, to stand for all of them.",
        0,
        1,
        True,
    ),
    Parameter("colsample_bytree", "float", 1.0, "Share of columns drawn for every tree.", 0, 1, True),
    Parameter(
        "colsample_bylevel", "float", 1.0, "Share of the tree's columns drawn for every level.", 0, 1, True
    ),
    Parameter(
        "colsample_bynode", "float", 1.0, "Share of the level's columns drawn for every node.", 0, 1, True
    ),
    Parameter(
        "path_smooth", "float", 0.0, "Rows of its parent's value that a leaf's own is averaged with.", 0
    ),
    Parameter("extra_trees", "bool", False, "A node looks at one threshold a column, drawn at random."),
    Parameter(
        "split_score",
        "choice",
        "newton_l2",
        "What a split is chosen by: the drop of the objective or the cosine between leaf values and gradients; "
        "newton: rows count by their hessians.",
        choices=("newton_l2", "l2", "newton_cosine", "cosine"),
    ),
    Parameter(
        "random_strength",
        "float",
        0.0,
        "Standard deviation of the noise added to the score of a split, in units of the gradients'; it fades as the model grows.",
        0,
    ),
    Parameter(
        "forced_splits",
        "any",
        None,
        "The splits at the top of every tree: {'feature': name or position, 'threshold': number, 'left': ..., 'right': ...}.",
    ),
    Parameter(
        "split_finder",
        "choice",
        "hist",
        "Among which thresholds splits are sought: those between bins, between all values, or weighted quantiles of every tree.",
        choices=("hist", "exact", "approx"),
    ),
    Parameter(
        "proposals",
        "choice",
        "global",
        "When split_finder='approx' proposes thresholds: once a tree, or anew after every split, which with growth='oblivious' "
        "is the same.",
        choices=("global", "local"),
    ),
    Parameter(
        "sketch_eps",
        "float",
        None,
        "Share of the hessians between two proposals of split_finder='approx', at least 1 / 255; None: 1 / max_bins.",
        0,
        0.5,
        True,
        optional=True,
    ),
    Parameter(
        "booster",
        "choice",
        "plain",
        "How trees add up: one after another; each row's gradients from trees that have not seen it; with earlier ones dropped "
        "at random; as the mean of a forest; or a linear model.",
        choices=("plain", "ordered", "dart", "forest", "linear"),
    ),
    Parameter(
        "permutations",
        "int",
        3,
        "Orders of the rows that ordered statistics and booster='ordered' take turns with, beside that of the leaf values.",
        0,
        64,
    ),
    Parameter(
        "prefix_growth",
        "float",
        2.0,
        "How many times longer each next prefix of an order is that booster='ordered' keeps a model for.",
        1,
        1024,
        True,
    ),
    Parameter(
        "num_parallel_tree",
        "int",
        1,
        "Trees of a round and output, each with its own rows and columns, whose mean is added.",
        1,
        100_000,
    ),
    Parameter("rate_drop", "float", 0.0, "Share of the earlier trees that a round of dart drops.", 0, 1),
    Parameter("skip_drop", "float", 0.0, "Share of the rounds of dart that drop no tree.", 0, 1),
    Parameter("one_drop", "bool", False, "A round of dart drops at least one tree of every output."),
    Parameter(
        "sample_type",
        "choice",
        "uniform",
        "Which trees dart drops: all alike, or in proportion to their weights.",
        choices=("uniform", "weighted"),
    ),
    Parameter(
        "normalize_type",
        "choice",
        "tree",
        "What a new tree of dart weighs: as much as one dropped tree, as all of them together, or one part of k + 1 beside k.",
        choices=("tree", "forest", "paper"),
    ),
    Parameter(
        "max_drop", "int", 0, "Most trees of an output that a round of dart drops; 0: no limit.", 0, 2**31 - 1
    ),
    Parameter(
        "feature_selector",
        "choice",
        "cyclic",
        "Which coordinate the linear booster moves next.",
        choices=("cyclic", "shuffle", "random", "greedy", "thrifty"),
    ),
    Parameter(
        "top_k", "int", 0, "Coordinates a round of the greedy and thrifty selectors; 0: all.", 0, 2**31 - 1
    ),
    Parameter(
        "base_score",
        "any",
        None,
        "The prediction that boosting starts from: a number, or one a class; None: the best constant.",
    ),
    Parameter(
        "categories",
        "choice",
        "onehot",
        "How categorical columns are split: one category from the rest; sets of categories sorted by gradient over hessian; "
        "or by target statistics, taken from the rows before a row, from all, from others, or from all but itself.",
        choices=("onehot", "partition", "ordered", "greedy", "holdout", "leave_one_out"),
    ),
    Parameter(
        "max_cat_to_onehot",
        "int",
        4,
        "Categories up to which categories='partition' splits one from the rest.",
        1,
        2**31 - 1,
    ),
    Parameter(
        "max_cat_threshold",
        "int",
        64,
        "Most categories on the smaller side of a split of categories='partition'.",
        1,
        65_535,
    ),
    Parameter(
        "cat_smooth", "float", 0.0, "Hessian added to a category's when categories='partition' sorts them.", 0
    ),
    Parameter(
        "cat_l2",
        "float",
        0.0,
        "L2 penalty, beside reg_lambda, of leaf values of a split into sets of categories.",
        0,
    ),
    Parameter(
        "min_samples_category",
        "int",
        1,
        "Rows of a category, or of a group of them, that categories='partition' may split off.",
        1,
    ),
    Parameter(
        "max_combination",
        "int",
        4,
        "Most categorical columns whose combination has target statistics; 1: no combinations.",
        1,
        16,
    ),
    Parameter(
        "prior",
        "any",
        "mean",
        "What a target statistic is drawn to: 'mean' of the labels, a number, or a list of them.",
    ),
    Parameter(
        "prior_weight",
        "float",
        1.0,
        "Rows that the prior of a target statistic counts for.",
        0,
        open_low=True,
    ),
    Parameter("statistic_bins", "int", 32, "Bins of a target statistic.", 2, 255),
    Parameter(
        "target_borders",
        "int",
        1,
        "Borders of a regression's labels; a target statistic is made for each.",
        1,
        255,
    ),
    Parameter("counters", "bool", True, "Also count how frequent a category is, whatever its labels."),
    CATEGORICAL_FEATURES,
    Parameter(
        "unstored",
        "choice",
        "zero",
        "What the cells are that a sparse matrix does not store: zeros, or missing values.",
        choices=("zero", "missing"),
    ),
    Parameter(
        "monotone_constraints",
        "any",
        None,
        "For every column 1 (predictions never fall with it), -1 (never rise) or 0; or a dict from names or positions to these.",
    ),
    Parameter(
        "interaction_constraints",
        "any",
        None,
        "Groups of columns, as lists of names or positions; the columns of a path from root to leaf are of one group.",
    ),
    Parameter(
        "max_bins",
        "int",
        255,
        "Bins of a column, missing values apart; above 255 a cell takes two bytes.",
        2,
        65_535,
    ),
    Parameter(
        "max_bins_by_column",
        "any",
        None,
        "Bins of single columns: a list, or a dict from names or positions; None: max_bins for all.",
    ),
    Parameter(
        "max_categories",
        "int",
        None,
        "Bins of a categorical column, the rarest categories sharing the last; None: max_bins.",
        2,
        65_535,
        optional=True,
    ),
    Parameter(
        "rare_categories", "float", 0.0, "Share of the rows whose rarest categories share a bin.", 0, 0.5
    ),
    Parameter("min_samples_bin", "int", 1, "Rows of a bin.", 1),
    Parameter(
        "bin_sample",
        "int",
        200_000,
        "Rows that bins are found on, drawn at random where there are more.",
        1_000,
        2**31 - 1,
    ),
    Parameter(
        "border_type",
        "choice",
        "quantiles",
        "Where numeric columns are cut: by quantiles, by Median, at equal distances, by both, or by greedy log sums.",
        choices=("quantiles", "median", "uniform", "uniform_and_quantiles", "greedy_log_sum"),
    ),
    Parameter(
        "forced_bins",
        "any",
        None,
        "Cut points that a column has in any case: a dict from names or positions to lists.",
    ),
    Parameter("use_missing", "bool", True, "Missing values are told apart; otherwise they are zeros."),
    Parameter("zero_as_missing", "bool", False, "Zeros are missing values, in dense tables and sparse ones."),
    Parameter(
        "bundling",
        "choice",
        "count",
        "In which order columns that are never away from zero in the same row are bundled: by count, by conflicts, or not.",
        choices=("count", "degree", "none"),
    ),
    Parameter(
        "max_conflict_rate",
        "float",
        0.0,
        "Share of the rows in which two columns of a bundle may collide.",
        0,
        1,
    ),
    Parameter(
        "precision",
        "choice",
        "packed",
        "Integers of the gradients: packed (wide where the data need it), always wide, or always packed.",
        choices=("packed", "wide", "packed_always"),
    ),
    Parameter(
        "class_weight",
        "any",
        None,
        "None, 'balanced', 'sqrt_balanced' (by the roots of the factors), "
        "'minority' (the lighter of two classes weighs as much as the other), or a weight for every class.",
    ),
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
        "importance_type",
        "choice",
        "gain",
        "What feature_importances_ counts: the gain of a column's splits, their number, or how far they move predictions.",
        choices=("gain", "split", "prediction"),
    ),
    Parameter("warm_start", "bool", False, "fit goes on from the trees that are there."),
    Parameter("n_jobs", "any", None, "Threads; None: all cores. Never changes the model."),
    RANDOM_STATE,
    Parameter("verbose", "int", 0, "0: silent, 1: progress.", 0, 1),
)


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
