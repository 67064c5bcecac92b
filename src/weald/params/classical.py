"""The parameters of the classical ensembles: bagging, forests, AdaBoost, Friedman's boosting, voting, stacking, blending."""

from __future__ import annotations

from weald.params.parameter import CATEGORICAL_FEATURES, RANDOM_STATE, Parameter, table_of

ADABOOST_PARAMETERS: dict[str, Parameter] = table_of(
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
    RANDOM_STATE,
)

BAGGING_PARAMETERS: dict[str, Parameter] = table_of(
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
    RANDOM_STATE,
    Parameter("verbose", "int", 0, "0: silent, 1 or more: progress.", 0),
)

VOTING_PARAMETERS: dict[str, Parameter] = table_of(
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

STACKING_PARAMETERS: dict[str, Parameter] = table_of(
    *_COMBINING,
    Parameter(
        "cv",
        "any",
        None,
        "Folds: a number, a splitter, a list of (train, test), 'prefit' or 'in_sample_overfits'.",
    ),
    Parameter("refit", "bool", True, _REFIT),
)

BLENDING_PARAMETERS: dict[str, Parameter] = table_of(
    *_COMBINING,
    Parameter("holdout", "float", 0.2, "Share of rows that the final estimator learns from.", 0, 1, True),
    Parameter("refit", "bool", False, _REFIT),
    RANDOM_STATE,
)
TREE_PARAMETERS: dict[str, Parameter] = table_of(
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
    Parameter(
        "class_weight",
        "any",
        None,
        "None, 'balanced', 'sqrt_balanced' (by the roots of the factors), "
        "'minority' (the lighter of two classes weighs as much as the other), or a weight for every class.",
    ),
    Parameter(
        "ccp_alpha", "float", 0.0, "Must be 0: trees are not pruned; use max_leaf_nodes or max_depth.", 0
    ),
    Parameter("monotonic_cst", "none", None, "Not supported yet."),
    Parameter("max_bins", "int", 255, "Bins of a column, missing values apart.", 2, 255),
    CATEGORICAL_FEATURES,
    RANDOM_STATE,
)

FOREST_PARAMETERS: dict[str, Parameter] = TREE_PARAMETERS | table_of(
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
GRADIENT_BOOSTING_PARAMETERS: dict[str, Parameter] = table_of(
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
    RANDOM_STATE,
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
    CATEGORICAL_FEATURES,
    Parameter("n_jobs", "any", None, "Threads; None: all cores. Never changes the model."),
)
