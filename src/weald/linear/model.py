"""The finished linear model: immutable weights, scores of rows, and its model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset, Schema
from weald.data.dataset import rows_per_block
from weald.forest.container import Container, pack
from weald.forest.predictor import ReadOnlyArrays
from weald.linear.columns import DenseColumns, NumberColumns, SparseColumns, over_outputs, without_nan
from weald.runtime.errors import ModelFileError

FORMAT: Final = 3
# Times the numbers of a row it should still be finite.
_MOST: Final = 1e250
_FIELDS: Final = frozenset({"n_features", "n_outputs", "n_rounds"})
_ARRAYS: Final = {name: np.dtype(np.float64) for name in ("base_score", "bias", "weights")}


@dataclass(frozen=True, eq=False)
class LinearModel(ReadOnlyArrays):
    """Weights of a linear model that was boosted.

    The raw score of a row in output k is ``base_score[k] + bias[k]``; then, column by column in order, the weight
    times the value is added, in float64. Missing values add nothing. That order is part of the model.

    Attributes:
        base_score: float64[K], where boosting started.
        bias: float64[K].
        weights: float64[K, columns].
        n_rounds: how many rounds of training they come from.

    Examples:
        >>> import numpy as np
        >>> from weald.data import read_table
        >>> model = LinearModel(np.array([1.0]), np.array([0.5]), np.array([[2.0, -1.0]]), n_rounds=10)
        >>> model.raw_scores(read_table(np.array([[1.0, 1.0], [3.0, np.nan]]))).tolist()
        [[2.5, 7.5]]
    """

    base_score: NDArray[np.float64]
    bias: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_rounds: int

    def __hash__(self) -> int:
        return hash((self.n_rounds, self.weights.tobytes()))

    @property
    def n_outputs(self) -> int:
        """The number of raw scores of a row (K)."""
        return len(self.base_score)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.weights.shape[1])

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Where every row's scores start, float64[K]."""
        # Adding 0.0 turns -0.0 to 0.0, so that a score does not depend on whether zeros are stored.
        intercept: NDArray[np.float64] = self.base_score + self.bias + 0.0
        return intercept

    def importances(self, kind: str = "gain") -> NDArray[np.float64]:
        """The absolute weight of every column, summed over the outputs; ``kind`` is for trees and changes nothing."""
        importances: NDArray[np.float64] = np.abs(self.weights).sum(axis=0)
        return importances

    def raw_scores(self, dataset: Dataset, tasks: int = 1) -> NDArray[np.float64]:
        """Raw scores float64[K, rows]; the same for every number of tasks, and for sparse and dense tables."""
        scores = np.empty((self.n_outputs, dataset.n_rows))
        if dataset.is_sparse:
            self.score_columns(SparseColumns(dataset.entries), tasks, scores)
            return scores
        step = rows_per_block(self.n_features)
        for first, block in dataset.blocks():
            for begin in range(0, len(block), step):
                piece = block[begin : begin + step]
                columns = DenseColumns(without_nan(np.array(piece.T, order="C")))
                part = np.empty((self.n_outputs, len(piece)))
                self.score_columns(columns, tasks, part)
                scores[:, first + begin : first + begin + len(piece)] = part
        return scores

    def score_columns(self, columns: NumberColumns, tasks: int, scores: NDArray[np.float64]) -> None:
        """Fill OUT scores, (K, rows), of a table whose columns are read already."""
        starts = self.intercept.tolist()

        def score(output: int, tasks: int) -> None:
            columns.score(self.weights[output], starts[output], tasks, scores[output])

        over_outputs(score, self.n_outputs, tasks, columns)

    def validate(self) -> None:
        """Check shapes and numbers.

        Raises:
            ModelFileError: naming the first field that is wrong.
        """
        n_outputs = len(self.base_score)
        if n_outputs < 1 or self.bias.shape != (n_outputs,) or self.weights.shape[0] != n_outputs:
            raise ModelFileError(
                "A linear model's base_score, bias and weights must have as many outputs each."
            )
        if self.n_features < 1:
            raise ModelFileError("A linear model must have at least one column.")
        for name in _ARRAYS:
            if not (np.abs(getattr(self, name)) < _MOST).all():
                raise ModelFileError(f"A linear model's {name} must be finite and within ±{_MOST:g}.")
        if self.n_rounds < 0:
            raise ModelFileError(f"A linear model's n_rounds must not be negative, but is {self.n_rounds}.")

    def check_schema(self, schema: Schema) -> None:
        """The columns must be the model's, and numeric."""
        if schema.n_columns != self.n_features:
            raise ModelFileError(
                f"The schema has {schema.n_columns} columns, but the linear model {self.n_features}."
            )
        if schema.has_categories:
            raise ModelFileError("A linear model's columns must be numeric, but one is categorical.")

    def dumps(self, header: dict[str, Any]) -> bytes:
        """The bytes of a model file; a model that `model_of` would refuse is refused here."""
        self.validate()
        sizes = {"n_features": self.n_features, "n_outputs": self.n_outputs, "n_rounds": self.n_rounds}
        return pack(FORMAT, header, sizes, {name: getattr(self, name) for name in _ARRAYS})

    @staticmethod
    def is_in(content: Container) -> bool:
        """Whether an opened model file holds a linear model."""
        return content.holds("weights")

    @staticmethod
    def from_content(content: Container) -> LinearModel:
        """The checked model of an opened model file.

        Raises:
            ModelFileError: when the file holds something else, or a model that cannot be.
        """
        sizes, arrays = content.require_fields(_FIELDS), content.arrays(_ARRAYS)
        for name, size in sizes.items():
            if type(size) is not int or not 0 <= size < 2**31:
                raise ModelFileError(f"The model file's {name} is {size!r}, which is no number of them.")
        n_outputs, n_features = sizes["n_outputs"], sizes["n_features"]
        if len(arrays["base_score"]) != n_outputs or len(arrays["weights"]) != n_outputs * n_features:
            raise ModelFileError(
                f"The model file's weights are not those of {n_outputs} outputs and {n_features} columns."
            )
        weights = arrays["weights"].reshape(n_outputs, n_features)
        model = LinearModel(arrays["base_score"], arrays["bias"], weights, sizes["n_rounds"])
        model.validate()
        return model
