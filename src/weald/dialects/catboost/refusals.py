"""What CatBoost has and `weald.catboost` has not, and what to do instead."""

from __future__ import annotations

from weald.dialects.catboost.basic import DOOR
from weald.dialects.shared.refusals import Refusals

REFUSALS = Refusals("weald.catboost", DOOR)
REFUSALS_OF_UTILS = Refusals("weald.catboost.utils", DOOR)
REFUSALS_OF_DATASETS = Refusals("weald.catboost.datasets", DOOR)

_PICTURES = "there are no pictures; draw with matplotlib, or look at trees with weald's forest_."
_TREES = "trees do not change; train another model."
_RANKING = "ranking is not supported; leave it out."
_TEXT = "columns of text and of embeddings are not there; make numbers of them first."
_FILES = "files are not read; give a table."
_SILENT = "nothing is printed; leave it out."
_ERRORS = {"log_cerr": "errors are raised; leave it out."}
_NO_PLOT = dict.fromkeys(
    ("plot", "plot_file"), "there are no pictures in notebooks; draw evals_result_ with matplotlib."
)
_NO_SAGE = "there are no SAGE values; use type='LossFunctionChange'."
_RANKED = ("pairs", "graph", "group_id", "group_weight", "subgroup_id", "pairs_weight")

#: of the module
NAMES = {
    "CatBoostRanker": "ranking is not supported; use CatBoostRegressor on the relevance.",
    "FeaturesData": "give Pool a frame, with its categories named in cat_features.",
    "to_ranker": "ranking is not supported; use to_regressor.",
    "sample_gaussian_process": "use RMSEWithUncertainty.",
    "MultiTargetCustomMetric": "there is one label a row.",
    "MultiTargetCustomObjective": "there is one label a row.",
    "MultiRegressionCustomMetric": "there is one label a row.",
    "MultiRegressionCustomObjective": "there is one label a row.",
    "EFeaturesSelectionGrouping": "columns are selected one by one, as they have no tags.",
}
#: methods of models
METHODS = {
    "plot_partial_dependence": "use sklearn.inspection.PartialDependenceDisplay.",
    "plot_predictions": _PICTURES,
    "plot_tree": _PICTURES,
    "compare": "draw eval_metrics of both models.",
    "create_metric_calcer": "use eval_metrics.",
    "get_leaf_weights": "trees keep the rows that they were grown on, which may be drawn; count those of calc_leaf_indexes.",
    "get_metadata": "models carry no notes.",
    "get_object_importance": "rows have no importances; leave some out and train again.",
    "get_test_eval": "use predict with prediction_type='RawFormulaVal'.",
    "get_test_evals": "use predict with prediction_type='RawFormulaVal'.",
    "set_scale_and_bias": _TREES,
}
#: arguments of a Pool
OF_POOL = {
    **dict.fromkeys((*_RANKED, "timestamp"), _RANKING),
    **dict.fromkeys(("text_features", "embedding_features", "embedding_features_data"), _TEXT),
    **dict.fromkeys(("column_description", "delimiter", "has_header", "ignore_csv_quoting"), _FILES),
    "feature_tags": "columns have no tags; leave it out.",
    "log_cout": _SILENT,
    **_ERRORS,
}
POOL_METHODS = {
    **dict.fromkeys(
        (
            "get_group_id_hash",
            "set_group_id",
            "set_group_weight",
            "set_pairs",
            "set_pairs_weight",
            "set_subgroup_id",
        ),
        _RANKING,
    ),
    "set_timestamp": "rows are in the order of time already, with has_time=True; leave it out.",
    "train_eval_split": "split row numbers with sklearn.model_selection.train_test_split, and slice.",
    "save_quantization_borders": "bins are made when a model is trained; use the model's save_borders.",
    "quantize": "bins are made when a model is trained.",
    "save": "write the table with the library that it is of.",
}
OF_FIT = {
    **dict.fromkeys(_RANKED, _RANKING),
    **dict.fromkeys(("text_features", "embedding_features"), _TEXT),
    "column_description": _FILES,
    **_NO_PLOT,
    **_ERRORS,
}
OF_EVAL_METRICS = {"tmp_dir": "nothing is written; leave it out.", "log_cout": _SILENT, **_NO_PLOT, **_ERRORS}
#: arguments of get_feature_importance
OF_IMPORTANCES = {
    "shap_mode": "the values are the same in all modes; use 'Auto'.",
    "model_output": "the values are parts of the raw score; use 'Raw'.",
    "shap_calc_type": "the values are exact by the trees' counts of training rows; use 'Regular'.",
    "reference_data": "the values are beside the mean of the training rows; leave it out.",
    "interaction_indices": "there are no values of interactions; leave it out.",
    **dict.fromkeys(("sage_n_samples", "sage_batch_size", "sage_detect_convergence"), _NO_SAGE),
    "verbose": "no progress is printed; leave it out.",
    "log_cout": _SILENT,
    **_ERRORS,
}
#: arguments of calc_feature_statistics, and of select_features
OF_STATISTICS = {"plot_file": "there are no pictures; leave it out."}
OF_SELECTION = {
    **_NO_PLOT,
    **_ERRORS,
    "shap_calc_type": "the values are exact by the trees' counts of training rows; leave it out.",
    **dict.fromkeys(
        ("grouping", "features_tags_for_select", "num_features_tags_to_select"),
        "columns have no tags; leave it out.",
    ),
}
OF_CV = {
    **dict.fromkeys(("plot", "plot_file", "metric_update_interval"), "cv draws no pictures; leave it out."),
    "type": "there is 'Classical' alone; leave it out.",
    **_ERRORS,
}
#: an argument of sum_models
OF_SUM = {"ctr_merge_policy": "models with statistics of categories are not summed; leave it out."}
#: arguments of grid_search and randomized_search
OF_SEARCH = {**_NO_PLOT, **_ERRORS}
#: of the module utils
OF_UTILS = {
    **dict.fromkeys(
        ("create_cd", "read_cd"),
        "files are not read; give Pool a table, with cat_features, weight and baseline.",
    ),
    "quantize": "bins are made when a model is trained; give Pool a table.",
    "convert_to_onnx_object": "models are written in Weald's own format, by save_model.",
    "calculate_quantization_grid": "borders are found when a model is trained; see the thresholds of the trees.",
    "reset_trace_backend": "there are no traces.",
}
OF_EVAL_METRIC = dict.fromkeys(("group_id", "group_weight", "subgroup_id", "pairs"), _RANKING)
OF_CURVE = {"plot": "there are no pictures; draw the points with matplotlib."}
#: of the module datasets
OF_DATASETS = dict.fromkeys(
    (
        "amazon", "epsilon", "higgs", "imdb", "monotonic1", "monotonic2", "msrank", "msrank_10k", "rotten_tomatoes",
        "titanic",
    ),
    "nothing is downloaded; weald.datasets.load has adult, bike_sharing, diamonds, letter, penguins and wine_quality.",
)  # fmt: skip
OF_DATASETS["set_cache_path"] = "nothing is downloaded; leave it out."
#: an argument of predictions
OF_PREDICT = {"task_type": "prediction runs on the CPU; use 'CPU'."}
