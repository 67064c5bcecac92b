"""Estimators that the ranks of an MPI program fit together, each with rows of its own: ``mpirun -n 4 python train.py``.

>>> import weald.mpi
>>> weald.mpi.BoostedTreesRegressor(n_estimators=10).alone()
BoostedTreesRegressor(n_estimators=10)
"""

from __future__ import annotations

from weald.mpi.estimators import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.workers.parameters import DataParallel, FeatureParallel, VotingParallel

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "DataParallel",
    "FeatureParallel",
    "VotingParallel",
]
