"""Every training parameter of CatBoost: whether `weald.catboost` takes it, what it is called there and here, and what differs.

The module `weald.catboost` and the page ``docs/catboost_parameters.md`` read this table and no other. A default of None is
chosen by the loss, the data or another parameter.
"""

from __future__ import annotations

from typing import Any

from weald.params.dialect import ParameterTable, all_refused, different, refused, same

_POSITIVE: dict[str, Any] = {"low": 0, "open_low": True}
_SHARE: dict[str, Any] = {"low": 0, "high": 1, "open_low": True}
_NOT_NEGATIVE: dict[str, Any] = {"low": 0}
_NO_GPU = "a device decides it itself; leave it out."
_NO_TEXT = "columns of text and of embeddings are not there; make numbers of them first."
_NO_PENALTY = "all columns count alike; leave it out."
_NO_LANGEVIN = "there is no Langevin boosting; leave it out."
_NOTHING_WRITTEN = "no file is written unless save_model is called."
_BORDER_TYPES = ("Median", "Uniform", "UniformAndQuantiles", "GreedyLogSum")

# A row for every parameter, where the formatter would have a line for every argument.
# fmt: off
_CORE = (
    different("loss_function", "any", None,
        "What is minimised: a name with its options after a colon (Quantile:alpha=0.9), or an object with "
        "calc_ders_range. RMSE; a classifier's own choice is Logloss or MultiClass.",
        "Logloss, CrossEntropy, MultiClass, MultiClassOneVsAll, RMSE, MAE, MAPE, Quantile, MultiQuantile, Huber, Poisson, "
        "Tweedie, LogCosh and RMSEWithUncertainty are there; others, those of ranking among them, are refused by name.",
        "loss", aliases=("objective",)),
    same("iterations", "int", 1000, "Rounds.", "n_estimators", low=1, high=10_000_000,
        aliases=("n_estimators", "num_boost_round", "num_trees")),
    same("learning_rate", "float", None,
        "Share of a tree that is added; None: for RMSE, Logloss and MultiClass from rows and rounds, else 0.03.",
        "learning_rate", optional=True, aliases=("eta",), **_POSITIVE),
    same("random_seed", "any", 0, "Seed.", "random_state", aliases=("random_state",)),
    same("thread_count", "int", -1, "Threads; -1: all cores.", "n_jobs", low=-1, high=100_000),
    same("boosting_type", "choice", "Plain", "One model, or supporting models that have not seen a row.", "booster",
        choices=("Plain", "Ordered")),
    different("boost_from_average", "bool", None,
        "Start from the best constant; None: for RMSE, MAE, MAPE, Quantile and MultiQuantile.",
        "RMSEWithUncertainty always does.", "base_score", optional=True),
    different("task_type", "choice", "CPU", "Where training runs.",
        "in place of a GPU an OpenCL device grows the trees, to the same bytes; a warning names it.", "device",
        choices=("CPU", "GPU")),
    different("devices", "any", None, "Numbers of the GPUs: '0', '0:1', '0-3' or a list.",
        "those of the OpenCL devices, which share the rows.", "device", optional=True, of=("task_type", ("GPU",))),
)
_TREES = (
    same("grow_policy", "choice", "SymmetricTree",
        "One split for a whole level, level by level, or the leaf with the largest gain.", "growth",
        choices=("SymmetricTree", "Depthwise", "Lossguide")),
    same("depth", "int", 6, "Depth of a tree.", "max_depth", low=1, high=16, aliases=("max_depth",)),
    same("max_leaves", "int", None,
        "Leaves of a tree of grow_policy='Lossguide'; None: 31. Other trees have 2**depth, and no other number is taken.",
        "max_leaves", low=2, high=2**24, optional=True, aliases=("num_leaves",)),
    same("min_data_in_leaf", "int", 1,
        "Rows that a leaf of a Depthwise or Lossguide tree must have; with SymmetricTree it changes nothing, as in CatBoost, "
        "and a warning says so.", "min_samples_leaf", low=1, aliases=("min_child_samples",)),
    same("l2_leaf_reg", "float", 3.0, "L2 penalty of leaf values, times the rows' mean weight.", "reg_lambda",
        aliases=("reg_lambda",), **_NOT_NEGATIVE),
    same("rsm", "float", 1.0, "Share of columns drawn for every split.", "colsample_bylevel",
        aliases=("colsample_bylevel",), **_SHARE),
    different("score_function", "choice", None,
        "What a split is chosen by; None: L2 for MultiClass, MultiClassOneVsAll and Huber, else, and with "
        "monotone_constraints, NewtonL2.",
        "the defaults are NewtonL2, and L2 where many rows have hardly any hessian; they gave better models than CatBoost's "
        "own, Cosine.", "split_score",
        choices=("Cosine", "L2", "NewtonCosine", "NewtonL2"), optional=True,
        refused=(("SolarL2", "'L2'"), ("LOOL2", "'L2'"))),
    different("random_strength", "float", 1.0, "Noise added to a split's score, in units of the gradients' deviation.",
        "draws are Weald's own.", "random_strength", **_NOT_NEGATIVE),
    same("leaf_estimation_method", "choice", None,
        "How far a leaf goes; None: Exact for MAE, MAPE, LogCosh and quantiles, else Newton.", "leaf_estimation",
        choices=("Newton", "Gradient", "Exact"), optional=True, refused=(("Simple", "'Gradient'"),)),
    different("leaf_estimation_iterations", "int", None,
        "Steps of a leaf's value; None: one of Newton's; of the gradient's, in 200 rounds and more, 40 for Logloss and "
        "CrossEntropy and 10 for MultiClass, else 1.",
        "the default is one step of Newton's; CatBoost takes 10 for Logloss, CrossEntropy and Poisson.", "leaf_iterations",
        low=1, high=100, optional=True),
    different("leaf_estimation_backtracking", "choice", "AnyImprovement", "What is done about a step that is too long.",
        "every leaf halves its own step, and not all leaves theirs; 'No' and 'Armijo' are refused.",
        choices=("AnyImprovement",), refused=(("No", "'AnyImprovement'"), ("Armijo", "'AnyImprovement'"))),
    different("monotone_constraints", "any", None,
        "1, -1 or 0 for every column; also text, or a dict from columns to these.",
        "all growth policies have it, with score_function='NewtonL2'.", "monotone_constraints"),
    refused("model_shrink_rate", 0.0, "trees keep their weights; use a smaller learning_rate."),
    refused("model_shrink_mode", "Constant", "trees keep their weights; leave it out."),
    refused("random_score_type", "NormalWithModelSizeDecrease", "the noise fades as the model grows; leave it out."),
    refused("fixed_binary_splits", None, "it is of GPUs; leave it out."),
    *all_refused(_NO_PENALTY, [("feature_weights", None), ("penalties_coefficient", 1.0),
        ("first_feature_use_penalties", None), ("per_object_feature_penalties", None)]),
    *all_refused(_NO_LANGEVIN, [("langevin", False), ("diffusion_temperature", 10000.0), ("posterior_sampling", False)]),
)
_SAMPLING = (
    different("bootstrap_type", "choice", None,
        "How rows are drawn or weighed; None: MVS, and Bayesian for several classes.", "draws are Weald's own.",
        "sampling", choices=("MVS", "Bayesian", "Bernoulli", "No"),
        refused=(("Poisson", "'Bernoulli', as there is no GPU"),), optional=True),
    same("subsample", "float", None, "Share of the rows; None: 0.8 for MVS, 0.66 for Bernoulli, all of fewer than 100.",
        "subsample", optional=True, **_SHARE, of=("bootstrap_type", ("MVS", "Bernoulli"))),
    different("bagging_temperature", "float", 1.0, "How unequal the weights of bootstrap_type='Bayesian' are.",
        "at most 20, so that a float32 holds gradients times weights; CatBoost sets no limit.", "bagging_temperature",
        low=0, high=20, of=("bootstrap_type", ("Bayesian",))),
    different("mvs_reg", "float", None, "What MVS adds to a squared gradient; None: from the gradients.",
        "None is the squared mean of the gradients in every round, where CatBoost takes it from the last tree's leaves. "
        "Where all rows are taken (subsample=1, or fewer than 100 rows and no subsample) none are drawn, and it changes "
        "nothing.", "mvs_reg", optional=True, of=("bootstrap_type", ("MVS",)), **_NOT_NEGATIVE),
    refused("sampling_frequency", "PerTree", "rows are drawn for every tree; leave it out."),
    refused("sampling_unit", "Object", "rows are drawn one by one; leave it out."),
)
_CATEGORIES = (
    same("cat_features", "any", None, "Names or positions of the columns of categories.", "categorical_features"),
    same("one_hot_max_size", "int", 2, "Categories up to which a column is split one from the rest.", "max_cat_to_onehot",
        low=1, high=2**31 - 1),
    same("max_ctr_complexity", "int", 4, "Most columns of a combination.", "max_combination", low=1, high=16),
    different("simple_ctr", "any", None,
        "Statistics of a column: Borders and Counter, with CtrBorderCount, TargetBorderCount and Prior.",
        "there is one description for all columns: Borders once (of several classes one for each; Buckets is refused), "
        "and Counter or none, in the same bins; BinarizedTargetMeanValue, FloatTargetMeanValue, CtrBorderType and "
        "TargetBorderType are refused, as bins and groups of labels are as even as they can be. By default the prior is "
        "the mean label, in 32 bins, and there is a Counter.", "prior"),
    different("combinations_ctr", "any", None, "Statistics of combinations.",
        "they are those of single columns: the two must say the same.", "prior"),
    same("ctr_target_border_count", "int", None,
        "Borders of a regression's labels; None: 1. Of several classes it can only be one less than there are.",
        "target_borders", low=1, high=255, optional=True),
    different("counter_calc_method", "choice", "SkipTest", "Which rows Counter counts.",
        "'Full', which counts rows of the eval_set, is refused.", choices=("SkipTest",), refused=(("Full", "'SkipTest'"),)),
    same("permutation_count", "int", 4, "Orders of the rows, that of the leaf values among them.", "permutations", low=1,
        high=65),
    same("fold_len_multiplier", "float", 2.0,
        "How many times longer each next prefix is that boosting_type='Ordered' keeps a model for.", "prefix_growth",
        low=1, high=1024, open_low=True, of=("boosting_type", ("Ordered",))),
    refused("has_time", False, "orders are drawn at random; leave it out."),
    refused("model_size_reg", 0.5, "a statistic's size does not count against it; leave it out."),
    refused("ctr_leaf_count_limit", None, "the model holds the statistics that its trees use, whole; leave it out."),
    refused("store_all_simple_ctr", False, "the model holds only the statistics that its trees use; leave it out."),
    refused("final_ctr_computation_mode", "Default", "the model holds its statistics; leave it out."),
    refused("fold_permutation_block", None, "orders are of single rows; leave it out."),
    refused("approx_on_full_history", False, "prefixes grow by fold_len_multiplier; leave it out."),
    refused("ctr_history_unit", "Sample", "orders are of single rows; leave it out."),
    refused("per_feature_ctr", None, "there is one description for all columns; use simple_ctr."),
    refused("ctr_description", None, "use simple_ctr."),
)
_BINS = (
    same("border_count", "int", 254, "Borders of a numeric column.", "max_bins", low=1, high=65_534, aliases=("max_bin",)),
    different("feature_border_type", "choice", "GreedyLogSum", "Where borders are put.",
        "MaxLogSum and MinEntropy are refused.", "border_type", choices=_BORDER_TYPES,
        refused=(("MaxLogSum", "'GreedyLogSum'"), ("MinEntropy", "'GreedyLogSum'"))),
    different("nan_mode", "choice", "Min", "Where missing values go; 'Forbidden': they are an error.",
        "every split learns on which side missing values are better; Min and Max are the same here.",
        choices=("Min", "Max", "Forbidden")),
    same("ignored_features", "any", None, "Columns that are not used, by names or positions; or text such as '0-3,7'."),
    different("per_float_feature_quantization", "any", None,
        "Borders of single columns: '0:border_count=1024', a list of these, or a dict.",
        "border_count alone; border_type and nan_mode are for all columns.", "max_bins_by_column"),
    refused("input_borders", None, "borders are not read from files; use weald.BoostedTreesRegressor(forced_bins=...)."),
    refused("output_borders", None, "borders are not written; leave it out."),
    refused("dev_efb_max_buckets", None, "leave it out."),
    refused("sparse_features_conflict_fraction", 0.0, "columns of a bundle never collide; leave it out."),
)
_CLASSES = (
    same("class_weights", "any", None, "A weight for every class: a list, an array, or a dict."),
    same("auto_class_weights", "choice", None, "Weights of the classes from their sizes.",
        choices=("None", "Balanced", "SqrtBalanced"), optional=True),
    same("scale_pos_weight", "float", 1.0, "Weight of the second of two classes.", **_POSITIVE),
    same("classes_count", "int", None, "How many classes MultiClass has.", low=2, optional=True),
    same("class_names", "any", None, "The classes in their order."),
    same("target_border", "float", None, "Labels above it are the second class of Logloss.", optional=True),
    refused("allow_const_label", False,
        "the labels of a regression may all be the same, and there must be two classes at least; leave it out."),
)
_METRICS = (
    different("eval_metric", "any", None,
        "The metric that the best round is chosen by; None: the loss's own. An object with evaluate is one, too.",
        "those that weald.catboost does not have are refused by name. With Poisson and Tweedie, metrics of a regression "
        "(RMSE, MAE, R2, …) are of the predicted means; CatBoost takes them of raw scores, which are logarithms of these.",
        "eval_metric"),
    different("custom_metric", "any", None, "Further metrics: a name, or a list.", "as eval_metric.",
        aliases=("custom_loss",)),
    same("use_best_model", "bool", None, "Keep the rounds up to the best; None: with an eval_set.", optional=True),
    same("best_model_min_trees", "int", 1, "Rounds that the best model has at least.", low=1),
    same("od_type", "choice", None,
        "Overfitting detector: so many rounds without a better one, or by how much it got worse.",
        choices=("IncToDec", "Iter"), optional=True),
    same("od_pval", "float", 0.0, "Threshold of od_type='IncToDec'; 0: off.", low=0, high=1,
        of=("od_type", ("IncToDec", None))),
    same("od_wait", "int", None, "Rounds after the best one; None: 20.", low=1, optional=True),
    same("early_stopping_rounds", "int", None, "od_type='Iter' with this od_wait.", low=1, optional=True),
    refused("eval_fraction", 0.0, "no rows are set aside by themselves; give fit an eval_set."),
)
_OUTPUT = (
    same("verbose", "any", None, "True: a line a round; a number: every so many rounds; False: nothing.",
        aliases=("verbose_eval",)),
    same("silent", "bool", None, "Nothing is printed.", optional=True),
    different("logging_level", "choice", None, "How much is printed.", "Info and Debug print what Verbose does.",
        choices=("Silent", "Verbose", "Info", "Debug"), optional=True),
    same("metric_period", "int", 1, "Rounds between two evaluations.", low=1),
    different("allow_writing_files", "bool", True, "Whether training may write files.", _NOTHING_WRITTEN),
    different("train_dir", "any", None, "Where training writes files.", _NOTHING_WRITTEN, optional=True),
    refused("save_snapshot", None, "use init_model, or weald.BoostedTreesRegressor with weald.Checkpoint."),
    refused("snapshot_file", None, "use init_model, or weald.BoostedTreesRegressor with weald.Checkpoint."),
    refused("snapshot_interval", None, "use init_model, or weald.BoostedTreesRegressor with weald.Checkpoint."),
    refused("name", "experiment", "experiments have no names; leave it out."),
    refused("metadata", None, "models carry no notes; leave it out."),
    refused("callback", None, "give fit callbacks."),
)
_ELSEWHERE = (
    *all_refused(_NO_GPU, [("device_config", None), ("gpu_ram_part", None),
        ("pinned_memory_size", None), ("gpu_cat_features_storage", None), ("data_partition", None)]),
    *all_refused(_NO_TEXT, [("text_features", None), ("tokenizers", None), ("dictionaries", None),
        ("feature_calcers", None), ("text_processing", None), ("embedding_features", None)]),
    refused("used_ram_limit", None, "memory is what the data need; leave it out."),
    refused("dev_score_calc_obj_block_size", None, "leave it out."),
    refused("bayesian_matrix_reg", 0.1, "it is of multidimensional Newton steps; leave it out."),
    refused("force_unit_auto_pair_weights", False, "ranking is not supported; leave it out."),
    refused("pool_metainfo_options", None, "columns have no tags; leave it out."),
)
# fmt: on

#: every parameter by CatBoost's own name
CATBOOST_PARAMETERS = ParameterTable(
    "CatBoost",
    {
        "core": ("Core", _CORE),
        "trees": ("Trees", _TREES),
        "sampling": ("Rows drawn or weighed", _SAMPLING),
        "categories": ("Categories and orders of the rows", _CATEGORIES),
        "bins": ("Bins", _BINS),
        "classes": ("Classes", _CLASSES),
        "metrics": ("Metrics and the best round", _METRICS),
        "output": ("Output and files", _OUTPUT),
        "elsewhere": ("GPU, text and others", _ELSEWHERE),
    },
    [
        "Written by `python -m weald.pages catboost`. Each training parameter of CatBoost is *the same*, *different*",
        "(and how), or *refused* (and what to use instead); a refused one may be given where its value is CatBoost's default.",
        "An unknown name is an error that asks whether the nearest known one was meant; so are two names of one parameter,",
        "as in CatBoost.",
    ],
)
