"""The parameters of `weald.TargetStatisticsEncoder`."""

from __future__ import annotations

from weald.params.parameter import CATEGORICAL_FEATURES, RANDOM_STATE, Parameter, table_of

STATISTICS_PARAMETERS: dict[str, Parameter] = table_of(
    Parameter(
        "kind",
        "choice",
        "ordered",
        "Whose labels a training row gets: rows before it in a random order, all, rows set aside, all but its own.",
        choices=("ordered", "greedy", "holdout", "leave_one_out"),
    ),
    Parameter(
        "prior", "any", "mean", "What a statistic is drawn to: 'mean', the mean of the labels, or a number."
    ),
    Parameter("a", "float", 1.0, "Rows that the prior counts for.", 0, open_low=True),
    Parameter(
        "permutations",
        "int",
        1,
        "Random orders over which kind='ordered' averages a row's statistics.",
        1,
        1000,
    ),
    Parameter("counters", "bool", False, "Add a column a category: the share of rows that have it."),
    Parameter(
        "target_borders",
        "int",
        None,
        "Borders of a regression's labels, with a statistic for each: how many labels lie above it. None: the mean label.",
        1,
        255,
        optional=True,
    ),
    Parameter(
        "holdout",
        "float",
        0.5,
        "Share of rows that kind='holdout' sets aside for the statistics.",
        0,
        0.99,
        True,
    ),
    Parameter(
        "target_type",
        "choice",
        "auto",
        "What y holds: two classes, several, or numbers; 'auto' looks at it.",
        choices=("auto", "binary", "multiclass", "continuous"),
    ),
    CATEGORICAL_FEATURES,
    RANDOM_STATE,
)
