"""Every parameter of LightGBM: whether `weald.lightgbm` takes it, what it is called there and here, and what differs.

The module `weald.lightgbm` and the page ``docs/lightgbm_parameters.md`` read this table and no other. Of several other
names the first one counts, as in LightGBM.
"""

from __future__ import annotations

from typing import Any

from weald.params.dialect import (
    ParameterTable,
    all_ignored,
    all_refused,
    belonging,
    different,
    ignored,
    refused,
    same,
)

_SHARE: dict[str, Any] = {"low": 0, "high": 1, "open_low": True}
_WHOLE: dict[str, Any] = {"low": 0, "high": 1}
_COUNT: dict[str, Any] = {"low": 1, "high": 2**31 - 1}
_NOT_NEGATIVE: dict[str, Any] = {"low": 0}
_POSITIVE: dict[str, Any] = {"low": 0, "open_low": True}
_SEED_NOTE = "Weald has one seed, which this one is mixed into; draws are Weald's own."
_COMMAND_LINE = "it is LightGBM's command line's; "
_OF_FILES = "among the params of a Dataset of a file, which is read at once; train refuses others than those."
_ONE_MACHINE = "training runs on one machine; leave it out."
_NO_NETWORK = "training runs on one machine."
_ONE_PLATFORM = "`weald doctor` numbers the devices of all platforms together."
_GPU = ("device_type", ("gpu", "cuda"))
_NO_RANKING = "it is of ranking, and no objective here ranks."

OBJECTIVES = (
    "regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie", "binary",
    "multiclass", "multiclassova", "cross_entropy",
)  # fmt: skip
#: other name of an objective -> its own
OBJECTIVE_ALIASES = {
    **dict.fromkeys(
        ("regression_l2", "l2", "mean_squared_error", "mse", "l2_root", "root_mean_squared_error", "rmse"),
        "regression",
    ),
    **dict.fromkeys(("l1", "mean_absolute_error", "mae"), "regression_l1"),
    "mean_absolute_percentage_error": "mape",
    "softmax": "multiclass",
    **dict.fromkeys(("multiclass_ova", "ova", "ovr"), "multiclassova"),
    "xentropy": "cross_entropy",
    **dict.fromkeys(("none", "None", "null", "na"), "custom"),
    "xentlambda": "cross_entropy_lambda",
    **dict.fromkeys(("xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"), "rank_xendcg"),
}
# A row for every parameter, where the formatter would have a line for every argument.
# fmt: off
_CORE = (
    different("objective", "choice", "regression",
        "What is minimised; or a function(predictions, Dataset) -> (gradient, hessian).",
        "lambdarank, rank_xendcg and cross_entropy_lambda are refused.", "loss", choices=(*OBJECTIVES, "custom"),
        refused=(*((name, "one of the other objectives, as there is no ranking") for name in ("lambdarank", "rank_xendcg")),
            ("cross_entropy_lambda", "'cross_entropy'")),
        aliases=("app", "loss", "application", "objective_type")),
    different("boosting", "choice", "gbdt", "How trees add up; 'goss' is data_sample_strategy='goss'.",
        "dart drops from the trees of every class by itself, not whole rounds.", "booster",
        choices=("gbdt", "rf", "dart", "goss"), aliases=("boost", "boosting_type")),
    same("data_sample_strategy", "choice", "bagging", "How rows are drawn.", "sampling", choices=("bagging", "goss")),
    same("num_iterations", "int", 100, "Rounds.", "n_estimators", low=0, high=10_000_000, aliases=("n_iter", "nrounds",
        "max_iter", "num_tree", "num_round", "num_trees", "num_rounds", "n_estimators", "num_iteration",
        "num_boost_round")),
    same("learning_rate", "float", 0.1, "Share of every tree that is added; no meaning with boosting='rf'.",
        "learning_rate", **_POSITIVE, aliases=("eta", "shrinkage_rate")),
    same("num_leaves", "int", 31, "Leaves of a tree.", "max_leaves", low=2, high=131_072,
        aliases=("max_leaf", "num_leaf", "max_leaves", "max_leaf_nodes")),
    different("tree_learner", "choice", "serial", "How machines share the work.",
        "training runs on one machine, where all are 'serial', as in LightGBM.",
        choices=("serial", *(name for kind in ("feature", "data", "voting") for name in (kind, f"{kind}_parallel"))),
        aliases=("tree", "tree_type", "tree_learner_type")),
    different("num_threads", "int", None, "Threads; None and 0: all cores, below 0: so many fewer, -1 being all.",
        "never changes the model, not by a bit.", "n_jobs", optional=True,
        aliases=("n_jobs", "nthread", "nthreads", "num_thread")),
    different("device_type", "choice", "cpu", "Where training runs.",
        "in place of a GPU an OpenCL device grows the trees, to the same bytes; a warning names it.", "device",
        choices=("cpu", "gpu", "cuda"), aliases=("device",)),
    different("gpu_device_id", "int", -1, "Number of the GPU; -1: the first.", "that of the OpenCL device.", "device",
        low=-1, of=_GPU),
    different("gpu_device_id_list", "any", "", "Numbers of several GPUs, with commas between them.",
        "those of the OpenCL devices, which share the rows.", "device", of=_GPU),
    different("num_gpu", "int", 1, "How many GPUs.", "so many OpenCL devices, the first ones.", "device", low=1, of=_GPU),
    different("seed", "any", None, "Seed.", "draws are Weald's own; None is 0.", "random_state",
        aliases=("random_seed", "random_state")),
    different("deterministic", "bool", False, "Whether the number of threads may not change the model.",
        "it never does, whatever is said here."),
)
_LEARNING = (
    *(different(f"force_{way}_wise", "bool", False, f"Build histograms {way} by {way}.",
        "Weald chooses by itself, for every node, which changes nothing but the time; both at once are refused.")
        for way in ("col", "row")),
    ignored("histogram_pool_size", -1.0, "the memory of histograms is bounded by itself.", "hist_pool_size"),
    same("max_depth", "int", -1, "Depth of a tree; 0 and below: no limit.", "max_depth", high=1_000_000),
    different("min_data_in_leaf", "int", 20, "Rows that a leaf must have.",
        "rows are counted, not estimated from hessians; 0 is 1.", "min_samples_leaf", **_NOT_NEGATIVE,
        aliases=("min_data", "min_samples_leaf", "min_child_samples", "min_data_per_leaf")),
    same("min_sum_hessian_in_leaf", "float", 1e-3, "Sum of hessians that a leaf must have.", "min_child_weight",
        **_NOT_NEGATIVE, aliases=("min_hessian", "min_sum_hessian", "min_child_weight", "min_sum_hessian_per_leaf")),
    different("bagging_fraction", "float", 1.0, "Share of rows that is drawn, where bagging_freq is not 0.",
        "without bagging_freq it has no effect either, which is told in a warning.", "subsample", **_SHARE,
        aliases=("bagging", "sub_row", "subsample")),
    *(same(f"{sign}_bagging_fraction", "float", 1.0,
        f"Share of the rows of the {which} class that is drawn, in place of bagging_fraction; with bagging_freq.",
        f"{which}_subsample", **_SHARE, aliases=(f"{sign}_bagging", f"{sign}_sub_row", f"{sign}_subsample"),
        of=("objective", ("binary",)))
        for sign, which in (("pos", "positive"), ("neg", "negative"))),
    same("bagging_freq", "int", 0, "Rounds after which rows are drawn anew; 0: all rows always.", "subsample_freq",
        **_NOT_NEGATIVE, aliases=("subsample_freq",)),
    different("bagging_seed", "int", 3, "Seed of the rows.", _SEED_NOTE, "random_state",
        aliases=("bagging_fraction_seed",)),
    ignored("bagging_by_query", False, _NO_RANKING),
    same("feature_fraction", "float", 1.0, "Share of columns of a tree.", "colsample_bytree", **_SHARE,
        aliases=("sub_feature", "colsample_bytree")),
    same("feature_fraction_bynode", "float", 1.0, "Share of the tree's columns of a node.", "colsample_bynode", **_SHARE,
        aliases=("colsample_bynode", "sub_feature_bynode")),
    different("feature_fraction_seed", "int", 2, "Seed of the columns.", _SEED_NOTE, "random_state"),
    same("extra_trees", "bool", False, "Look at one random threshold a column.", "extra_trees", aliases=("extra_tree",)),
    different("extra_seed", "int", 6, "Seed of the thresholds.", _SEED_NOTE, "random_state"),
    same("early_stopping_round", "int", 0,
        "Stop after so many rounds without improvement of any metric on any valid set; 0 and below: never.",
        aliases=("early_stopping", "n_iter_no_change", "early_stopping_rounds")),
    same("early_stopping_min_delta", "float", 0.0, "What counts as an improvement.", **_NOT_NEGATIVE),
    same("first_metric_only", "bool", False, "Stop early by the first metric alone."),
    same("max_delta_step", "float", 0.0, "Largest leaf value before shrinkage; 0 and below: no limit.", "max_delta_step",
        aliases=("max_leaf_output", "max_tree_output")),
    same("lambda_l1", "float", 0.0, "L1 penalty.", "reg_alpha", **_NOT_NEGATIVE,
        aliases=("reg_alpha", "l1_regularization")),
    same("lambda_l2", "float", 0.0, "L2 penalty.", "reg_lambda", **_NOT_NEGATIVE,
        aliases=("lambda", "reg_lambda", "l2_regularization")),
    refused("linear_lambda", 0.0, "there are no linear trees; leave it out."),
    same("min_gain_to_split", "float", 0.0, "Gain that a split must have; twice Weald's gamma.", "gamma", **_NOT_NEGATIVE,
        aliases=("min_split_gain",)),
    same("path_smooth", "float", 0.0, "Rows of its parent's value that a leaf is averaged with.", "path_smooth",
        **_NOT_NEGATIVE),
    same("monotone_constraints", "any", None, "1, -1 or 0 for every column, as a list or text.", "monotone_constraints",
        aliases=("mc", "monotonic_cst", "monotone_constraint")),
    different("monotone_constraints_method", "choice", "basic", "How monotone constraints are kept.", "only 'basic'.",
        choices=("basic",), refused=(("intermediate", "'basic'"), ("advanced", "'basic'")),
        aliases=("mc_method", "monotone_constraining_method")),
    refused("monotone_penalty", 0.0, "there is no penalty of monotone splits; leave it out.", "mc_penalty", "ms_penalty",
        "monotone_splits_penalty"),
    refused("feature_contri", None, "all columns' gains count alike; leave it out.", "fc", "fp", "feature_contrib",
        "feature_penalty"),
    same("forcedsplits_filename", "any", "", "A JSON file with the splits at the top of every tree.", "forced_splits",
        aliases=("fs", "forced_splits", "forced_splits_file", "forced_splits_filename")),
    ignored("refit_decay_rate", 0.9, "Booster.refit has it as its argument decay_rate."),
    *all_refused("columns and splits cost nothing beside their gain; leave it out.", [("cegb_tradeoff", 1.0),
        ("cegb_penalty_split", 0.0), ("cegb_penalty_feature_lazy", None), ("cegb_penalty_feature_coupled", None)]),
    same("interaction_constraints", "any", None,
        "Groups of columns that may meet on a path, as lists or text; a column in no group is not used.",
        native="interaction_constraints"),
    different("verbosity", "int", 1, "How much is said.",
        "below 0 silences warnings; there is no log beside that of callbacks.", aliases=("verbose",)),
    different("use_quantized_grad", "bool", False, "Round gradients to integers.",
        "they always are, to 12 bits and more; True keeps them packed also where the data would need wider ones.",
        "precision"),
    *all_refused("gradients have 12 bits or more, rounded at random; leave it out.",
        [("num_grad_quant_bins", 4), ("quant_train_renew_leaf", False), ("stochastic_rounding", True)]),
)
_DART = (
    same("drop_rate", "float", 0.1, "Share of trees dropped.", "rate_drop", **_WHOLE, aliases=("rate_drop",)),
    same("max_drop", "int", 50, "Most trees dropped in a round; 0 and below: no limit.", "max_drop"),
    same("skip_drop", "float", 0.5, "Share of rounds that drop none.", "skip_drop", **_WHOLE),
    same("xgboost_dart_mode", "bool", False, "Weigh trees as XGBoost does.", "normalize_type"),
    same("uniform_drop", "bool", False, "Drop all trees alike, not by their weights.", "sample_type"),
    different("drop_seed", "int", 4, "Seed of the dropped trees.", _SEED_NOTE, "random_state"),
)
_GOSS = (
    same("top_rate", "float", 0.2, "Share of the rows of large gradients that is kept.", "top_rate", **_WHOLE),
    same("other_rate", "float", 0.1, "Share of the rows that is drawn from the others.", "other_rate", **_SHARE),
)
_CATEGORIES = (
    same("min_data_per_group", "int", 100, "Rows of a group of categories.", "min_samples_category", **_COUNT),
    same("max_cat_threshold", "int", 32, "Most categories on the smaller side of a split.", "max_cat_threshold", low=1,
        high=65_535),
    same("cat_l2", "float", 10.0, "L2 penalty of splits into sets of categories.", "cat_l2", **_NOT_NEGATIVE),
    same("cat_smooth", "float", 10.0, "Smoothing of the categories' order.", "cat_smooth", **_NOT_NEGATIVE),
    same("max_cat_to_onehot", "int", 4, "Categories up to which one is split from the rest.", "max_cat_to_onehot",
        **_COUNT),
)
_DATASET = (
    refused("linear_tree", False, "leaves are constants; leave it out.", "linear_trees"),
    different("max_bin", "int", 255, "Bins of a column.", "missing values have a bin beside these; at most 65,535.",
        "max_bins", low=2, high=65_535, aliases=("max_bins",)),
    same("max_bin_by_feature", "any", None, "Bins of every column.", "max_bins_by_column"),
    same("min_data_in_bin", "int", 3, "Rows of a bin.", "min_samples_bin", **_COUNT),
    different("bin_construct_sample_cnt", "int", 200_000, "Rows that bins are found on.", "at least 1,000.", "bin_sample",
        **_COUNT, aliases=("subsample_for_bin",)),
    different("data_random_seed", "int", 1, "Seed of the rows of bins.", _SEED_NOTE, "random_state",
        aliases=("data_seed",)),
    ignored("is_enable_sparse", True, "sparse tables are always kept so.", "sparse", "is_sparse",
        "enable_sparse"),
    same("enable_bundle", "bool", True, "Bundle columns that exclude each other.", "bundling",
        aliases=("bundle", "is_enable_bundle")),
    same("use_missing", "bool", True, "Missing values are told apart.", "use_missing"),
    same("zero_as_missing", "bool", False, "Zeros are missing values.", "zero_as_missing"),
    different("feature_pre_filter", "bool", True, "Leave columns out that no split could use.",
        "both values give the same model: such columns are never split."),
    same("forcedbins_filename", "any", "", "A JSON file with cut points of columns.", "forced_bins"),
    different("categorical_feature", "any", "", "Columns that hold categories, as a list, or as text: 0,2 or name:a,b.",
        "names need no name: in lists. As in LightGBM it counts where the Dataset's own argument, which is the place for it, "
        "names no column and its table has no category columns.", "categorical_features",
        aliases=("cat_column", "cat_feature", "categorical_column", "categorical_features")),
    ignored("pre_partition", False, _NO_NETWORK, "is_pre_partition"),
    different("header", "bool", False, "A file's first line names the columns.", _OF_FILES, aliases=("has_header",)),
    different("label_column", "any", "", "A file's column of labels: its number, or name:label; the first one by default.",
        _OF_FILES, aliases=("label",)),
    different("weight_column", "any", "", "A file's column of weights: its number, without counting that of labels, or name:w.",
        _OF_FILES, aliases=("weight",)),
    different("ignore_column", "any", "", "A file's columns to leave out: 0,2, without counting that of labels, or name:a,b.",
        _OF_FILES, aliases=("blacklist", "ignore_feature")),
    refused("group_column", "", "it is of ranking; leave it out.", "group", "query", "group_id", "query_id", "query_column"),
    refused("parser_config_file", "", "files are CSV, TSV or libsvm; leave it out."),
    ignored("two_round", False, "a file is read once, a line at a time.", "two_round_loading", "use_two_round_loading"),
    ignored("precise_float_parser", False, "numbers in files are always read exactly."),
)
_PREDICTION = (
    *all_ignored("predict has start_iteration, num_iteration, raw_score, pred_leaf and pred_contrib as arguments.",
        [("start_iteration_predict", 0), ("num_iteration_predict", -1),
        ("predict_raw_score", False, "raw_score", "predict_rawscore", "is_predict_raw_score"),
        ("predict_leaf_index", False, "leaf_index", "is_predict_leaf_index"),
        ("predict_contrib", False, "contrib", "is_predict_contrib")]),
    ignored("predict_disable_shape_check", False, "predictions need the columns of the training."),
    *all_refused("predictions sum all trees; leave it out.",
        [("pred_early_stop", False), ("pred_early_stop_freq", 10), ("pred_early_stop_margin", 10.0)]),
)
_OBJECTIVE = (
    ignored("objective_seed", 5, _NO_RANKING),
    same("num_class", "int", 1, "Classes of multiclass and multiclassova.", **_COUNT, aliases=("num_classes",),
        of=("objective", ("multiclass", "multiclassova"))),
    different("is_unbalance", "bool", False,
        "Weigh the rarer of two classes up to the other; under multiclassova those of each class, or all others.",
        "both this and scale_pos_weight at once are refused.", "scale_pos_weight",
        aliases=("unbalance", "unbalanced_sets"), of=("objective", ("binary", "multiclassova"))),
    different("scale_pos_weight", "float", 1.0,
        "Weight of the rows labelled 1; under multiclassova of those of each class where it is told from the others.",
        "both this and is_unbalance at once are refused.", "scale_pos_weight",
        of=("objective", ("binary", "multiclassova")), **_POSITIVE),
    refused("sigmoid", 1.0, "the logistic function has the slope 1; leave it out."),
    same("boost_from_average", "bool", True, "Start from the best constant, and not from 0.", "base_score"),
    refused("reg_sqrt", False, "give the square roots of the labels, or use sklearn.compose.TransformedTargetRegressor."),
    same("alpha", "float", 0.9, "Where huber turns linear; the quantile of quantile.", "quantile_alpha", **_POSITIVE,
        of=("objective", ("huber", "quantile"))),
    same("fair_c", "float", 1.0, "Where fair turns linear.", "fair_scale", **_POSITIVE, of=("objective", ("fair",))),
    same("poisson_max_delta_step", "float", 0.7, "How much poisson's steps are shortened.", **_POSITIVE,
        of=("objective", ("poisson",))),
    different("tweedie_variance_power", "float", 1.5, "Power of tweedie.", "above 1; 1 itself is objective='poisson'.",
        "tweedie_power", low=1, high=2, open_low=True, of=("objective", ("tweedie",))),
    *all_ignored(_NO_RANKING, [("lambdarank_truncation_level", 30), ("lambdarank_norm", True), ("label_gain", None),
        ("lambdarank_position_bias_regularization", 0.0)]),
)
_METRICS = (
    different("metric", "any", "", "Names of metrics, as text or a list; 'None': none.",
        "ndcg, map and cross_entropy_lambda are refused.", "eval_metric", aliases=("metrics", "metric_types")),
    ignored("metric_freq", 1, _COMMAND_LINE + "log_evaluation has a period.", "output_freq"),
    ignored("is_provide_training_metric", False, _COMMAND_LINE + "put the training set among valid_sets.", "train_metric",
        "training_metric", "is_training_metric"),
    ignored("eval_at", None, _NO_RANKING, "map_at", "ndcg_at", "map_eval_at", "ndcg_eval_at"),
    same("multi_error_top_k", "int", 1, "Among how many classes of multi_error the right one must be.", **_COUNT),
    refused("auc_mu_weights", None, "auc_mu weighs all errors alike; leave it out."),
)
_ELSEWHERE = (
    *all_ignored(_COMMAND_LINE + "it is not read.", [("config", "", "config_file"), ("saved_feature_importance_type", 0),
        ("convert_model_language", ""), ("convert_model", "gbdt_prediction.cpp", "convert_model_file")]),
    refused("task", "train", _COMMAND_LINE + "call train, Booster.predict or Booster.refit.", "task_type"),
    *all_ignored(_COMMAND_LINE + "give tables to Dataset, train and Booster.predict.",
        [("data", "", "train", "train_data", "data_filename", "train_data_file"),
        ("valid", "", "test", "test_data", "valid_data", "test_data_file", "valid_data_file", "valid_filenames"),
        ("output_result", "LightGBM_predict_result.txt", "name_pred", "pred_name", "predict_name", "predict_result",
        "prediction_name", "prediction_result")]),
    refused("input_model", "", _COMMAND_LINE + "use init_model or Booster(model_file=...).", "model_in", "model_input"),
    *all_ignored(_COMMAND_LINE + "use Booster.save_model.",
        [("output_model", "LightGBM_model.txt", "model_out", "model_output"), ("snapshot_freq", -1, "save_period"),
        ("save_binary", False, "is_save_binary", "is_save_binary_file")]),
    *all_refused(_ONE_MACHINE, [("num_machines", 1, "num_machine"),
        ("machine_list_filename", "", "mlist", "machine_list", "machine_list_file"), ("machines", "", "nodes", "workers")]),
    *all_ignored(_NO_NETWORK, [("local_listen_port", 12400, "port", "local_port"), ("time_out", 120), ("top_k", 20, "topk")]),
    *all_ignored(_ONE_PLATFORM, [("gpu_platform_id", -1)]),
    *all_ignored("sums are whole numbers, and exact.", [("gpu_use_dp", False)]),
)
_FORMER = (
    *all_ignored("LightGBM had it once, and has it no more; verbosity says how much is said.", [("silent", True)]),
    *all_ignored("LightGBM had it once, and has it no more; use the callback log_evaluation.", [("verbose_eval", True)]),
    *all_ignored("it is XGBoost's, and LightGBM does not read it.", [("use_label_encoder", False)]),
)
_ESTIMATORS = (
    same("class_weight", "any", None, "None, 'balanced', or a weight for every class.", "class_weight"),
    same("importance_type", "choice", "split", "What feature_importances_ counts.", "importance_type",
        choices=("split", "gain")),
)
# fmt: on

#: every parameter by LightGBM's own name
LIGHTGBM_PARAMETERS = ParameterTable(
    "LightGBM",
    {
        "core": ("Core", _CORE),
        "learning": ("Learning control", _LEARNING),
        "dart": ("DART", belonging(_DART, "boosting", "dart")),
        "goss": ("Gradient-based sampling", belonging(_GOSS, "data_sample_strategy", "goss")),
        "categories": ("Categories", _CATEGORIES),
        "dataset": ("Data", _DATASET),
        "objective": ("Objective", _OBJECTIVE),
        "metrics": ("Metrics", _METRICS),
        "prediction": ("Prediction", _PREDICTION),
        "elsewhere": ("Command line, network and GPU", _ELSEWHERE),
        "former": ("Of scripts for older versions, or other libraries", _FORMER),
        "estimators": ("Of the scikit-learn classes only", _ESTIMATORS),
    },
    [
        "Written by `python -m weald.pages lightgbm`. Each parameter of LightGBM's documentation is *the same*, *different*",
        "(and how), *refused* (and what to use instead), or *changes nothing*, here as in LightGBM, which a warning says. A",
        "refused one may be given where its value is LightGBM's default. One that belongs to another booster or objective than",
        "that in use changes nothing, which a warning says, too. An unknown name is an error that asks whether the nearest known",
        "one was meant. Of several names of one parameter its own counts, then the first of the others, with a warning.",
    ],
)
SEEDS = ("data_random_seed", "bagging_seed", "feature_fraction_seed", "extra_seed", "drop_seed")
