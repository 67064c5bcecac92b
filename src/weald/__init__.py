"""Weald: ensemble learning in Python and Numba.

>>> import weald
>>> weald.BoostedTreesClassifier.__name__
'BoostedTreesClassifier'

Public names are loaded when they are first used, so that ``import weald`` stays quick and loads neither
Numba nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weald import datasets, losses
    from weald.binning.parameters import Approximate, Bins, Exact, Histogram
    from weald.blocks.predicting import predict_batches, predict_to_parquet
    from weald.blocks.store import BlockStore
    from weald.data.dates import date_parts
    from weald.data.targets import many_classes
    from weald.devices.parameters import Cpu, OpenCL
    from weald.encoding.parameters import AutoCategories, OneHot, Partition, TargetStatistics
    from weald.estimators.boosted.boosted import BoostedTreesClassifier, BoostedTreesRegressor
    from weald.estimators.classical.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from weald.estimators.classical.bagging import BaggingClassifier, BaggingRegressor
    from weald.estimators.classical.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
    from weald.estimators.classical.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from weald.estimators.classical.gradient_boosting import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )
    from weald.estimators.classical.random_forest import RandomForestClassifier, RandomForestRegressor
    from weald.estimators.combined.blending import BlendingClassifier, BlendingRegressor
    from weald.estimators.combined.stacking import StackingClassifier, StackingRegressor
    from weald.estimators.combined.voting import VotingClassifier, VotingRegressor
    from weald.estimators.encoder import TargetStatisticsEncoder
    from weald.estimators.imported.imported import ImportedClassifier, ImportedRegressor, load_foreign
    from weald.estimators.shared.registry import load
    from weald.runtime.errors import DataWarning, InputError, ModelFileError, NotSupportedError
    from weald.sampling.parameters import Bayesian, ByClass, Goss, MinimalVariance, Uniform
    from weald.training.boosting.booster_parameters import Averaging, Dart, Linear, Ordered, Plain
    from weald.training.boosting.callbacks import (
        Checkpoint,
        EarlyStopping,
        LearningRateScheduler,
        OverfittingDetector,
        TimeBudget,
    )
    from weald.tree.parameters import Leaves, Splits

__version__ = "0.1.0"

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "TargetStatisticsEncoder",
    "Plain",
    "Ordered",
    "Dart",
    "Averaging",
    "Linear",
    "Uniform",
    "ByClass",
    "Goss",
    "Bayesian",
    "MinimalVariance",
    "Histogram",
    "Approximate",
    "Exact",
    "AutoCategories",
    "OneHot",
    "Partition",
    "TargetStatistics",
    "Bins",
    "Leaves",
    "Splits",
    "Cpu",
    "OpenCL",
    "losses",
    "load",
    "load_foreign",
    "ImportedClassifier",
    "ImportedRegressor",
    "BlockStore",
    "predict_batches",
    "predict_to_parquet",
    "EarlyStopping",
    "TimeBudget",
    "Checkpoint",
    "LearningRateScheduler",
    "OverfittingDetector",
    "datasets",
    "date_parts",
    "many_classes",
    "DataWarning",
    "InputError",
    "NotSupportedError",
    "ModelFileError",
    "__version__",
]

#: module below ``weald.estimators`` -> the families of estimators in it; each has a classifier and a regressor
_FAMILIES = {
    "boosted.boosted": "BoostedTrees",
    "classical.decision_tree": "DecisionTree",
    "classical.random_forest": "RandomForest",
    "classical.extra_trees": "ExtraTrees",
    "classical.bagging": "Bagging",
    "classical.adaboost": "AdaBoost",
    "classical.gradient_boosting": "GradientBoosting",
    "combined.voting": "Voting",
    "combined.stacking": "Stacking",
    "combined.blending": "Blending",
}
#: estimator -> its module
ESTIMATOR_HOMES = {
    family + task: f"weald.estimators.{module}"
    for module, family in _FAMILIES.items()
    for task in ("Classifier", "Regressor")
}
#: estimators that hold models trained elsewhere -> their module
IMPORTED_HOMES = dict.fromkeys(("ImportedClassifier", "ImportedRegressor"), "weald.estimators.imported.imported")
#: module -> the choices in it: parameters that are objects with parameters of their own
_CHOICES = {
    "weald.training.boosting.booster_parameters": ("Plain", "Ordered", "Dart", "Averaging", "Linear"),
    "weald.sampling.parameters": ("Uniform", "ByClass", "Goss", "Bayesian", "MinimalVariance"),
    "weald.binning.parameters": ("Histogram", "Approximate", "Exact", "Bins"),
    "weald.encoding.parameters": ("AutoCategories", "OneHot", "Partition", "TargetStatistics"),
    "weald.tree.parameters": ("Leaves", "Splits"),
    "weald.devices.parameters": ("Cpu", "OpenCL"),
}
_HOMES = {
    **ESTIMATOR_HOMES,
    **IMPORTED_HOMES,
    "load_foreign": "weald.estimators.imported.imported",
    **{name: module for module, names in _CHOICES.items() for name in names},
    "TargetStatisticsEncoder": "weald.estimators.encoder",
    "load": "weald.estimators.shared.registry",
    "BlockStore": "weald.blocks.store",
    "predict_batches": "weald.blocks.predicting",
    "predict_to_parquet": "weald.blocks.predicting",
    "EarlyStopping": "weald.training.boosting.callbacks",
    "TimeBudget": "weald.training.boosting.callbacks",
    "Checkpoint": "weald.training.boosting.callbacks",
    "LearningRateScheduler": "weald.training.boosting.callbacks",
    "OverfittingDetector": "weald.training.boosting.callbacks",
    "date_parts": "weald.data.dates",
    "many_classes": "weald.data.targets",
    "DataWarning": "weald.runtime.errors",
    "InputError": "weald.runtime.errors",
    "NotSupportedError": "weald.runtime.errors",
    "ModelFileError": "weald.runtime.errors",
}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "losses"):
        return import_module(f"weald.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'weald' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
