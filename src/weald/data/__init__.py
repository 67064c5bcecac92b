"""Any table -> blocks of floats and the schema that is saved with the model; labels and weights -> arrays."""

from weald.data.dataset import Dataset
from weald.data.read import column_positions, read_table
from weald.data.schema import Column, Schema
from weald.data.targets import (
    read_classes,
    read_labels,
    read_regression_target,
    read_several_classes,
    read_weights,
    split_outputs,
)

__all__ = [
    "Column",
    "Dataset",
    "Schema",
    "column_positions",
    "read_classes",
    "read_labels",
    "read_regression_target",
    "read_several_classes",
    "read_table",
    "read_weights",
    "split_outputs",
]
