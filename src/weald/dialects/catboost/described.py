"""The part of CatBoost's models that tells of a training and of its trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.catboost.basic import EFstrType
from weald.dialects.catboost.importances import importances
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.refusals import OF_IMPORTANCES, REFUSALS
from weald.dialects.catboost.trained import Trained
from weald.dialects.shared.values import names_of_columns
from weald.runtime.extras import load_extra

if TYPE_CHECKING:
    from weald.dialects.shared.tables import Float64s


class DescribedModel:
    """What a model says of itself; mixed into `CatBoost`."""

    if TYPE_CHECKING:  # what the model has
        n_features_in_: int

        def is_fitted(self) -> bool: ...

        def _trained(self) -> Trained: ...

        def _codes(self, pool: Pool) -> Float64s: ...

    @property
    def tree_count_(self) -> int | None:
        """How many rounds the model has."""
        return self._trained()._rounds() if self.is_fitted() else None

    @property
    def best_iteration_(self) -> int | None:
        """The best round on the last eval_set, from 0."""
        return self._trained().best_iteration if self.is_fitted() else None

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """Set -> metric -> its best value."""
        return self._trained().best_score if self.is_fitted() else {}

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Set ("learn", "validation", or "validation_0", …) -> metric -> a value for every round."""
        return self._trained().curves if self.is_fitted() else {}

    @property
    def learning_rate_(self) -> float:
        """The learning rate of the training."""
        return float(self._trained().full["learning_rate"])

    @property
    def random_seed_(self) -> Any:
        """The seed of the training."""
        return self._trained().full["random_seed"]

    @property
    def feature_names_(self) -> list[str]:
        """Names of the columns."""
        return list(self._trained().names)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes; none of a regression."""
        found = self._trained().classes
        return np.array([]) if found is None else found

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much predictions change with every column, in percent; see `get_feature_importance`."""
        return importances(self._trained(), None, EFstrType.FeatureImportance)

    def get_best_iteration(self) -> int | None:
        """`best_iteration_`."""
        return self.best_iteration_

    def get_best_score(self) -> dict[str, dict[str, float]]:
        """`best_score_`."""
        return self.best_score_

    def get_evals_result(self) -> dict[str, dict[str, list[float]]]:
        """`evals_result_`."""
        return self.evals_result_

    def get_n_features_in(self) -> int:
        """How many columns X had."""
        return self.n_features_in_

    def get_cat_feature_indices(self) -> list[int]:
        """Positions of the columns of categories."""
        return self._trained().categorical

    def get_text_feature_indices(self) -> list[int]:
        """Positions of the columns of text: there are none."""
        return []

    def get_embedding_feature_indices(self) -> list[int]:
        """Positions of the columns of embeddings: there are none."""
        return []

    def get_tree_leaf_counts(self) -> NDArray[np.uint32]:
        """Leaves of every tree."""
        forest = self._trained()._trees("get_tree_leaf_counts")
        return np.array([forest.tree(place).n_leaves for place in range(forest.n_trees)], np.uint32)

    def get_scale_and_bias(self) -> tuple[float, Any]:
        """1, and the score that every row starts from."""
        base = self._trained()._trees("get_scale_and_bias").base_score
        return 1.0, float(base[0]) if len(base) == 1 else base.tolist()

    def set_feature_names(self, feature_names: Sequence[str]) -> None:
        """Rename the columns."""
        self._trained().names = names_of_columns("feature_names", feature_names, self.n_features_in_)

    @REFUSALS.arguments(OF_IMPORTANCES)
    def get_feature_importance(
        self,
        data: Pool | None = None,
        type: EFstrType | str = EFstrType.FeatureImportance,
        prettified: bool = False,
        thread_count: int = -1,
        verbose: bool = False,
        fstr_type: EFstrType | str | None = None,
        shap_mode: str = "Auto",
        model_output: str = "Raw",
        interaction_indices: Any = None,
        shap_calc_type: str = "Regular",
        reference_data: Any = None,
        sage_n_samples: int = 128,
        sage_batch_size: int = 512,
        sage_detect_convergence: bool = True,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> Any:
        """What the columns count for: PredictionValuesChange (the default), in percent, LossFunctionChange or ShapValues.

        The last two need data. ShapValues are (rows, columns + 1), and (rows, outputs, columns + 1) where a row has several
        scores; ``prettified``: a frame with the largest first.
        """
        trained = self._trained()
        y = self._codes(data) if isinstance(data, Pool) and data.has_label() else None
        found = importances(trained, data, fstr_type or type, y, threads_of(thread_count))
        if not prettified or found.ndim > 1:
            return found
        pd = load_extra("pandas", "get_feature_importance with prettified=True")
        order = np.argsort(-found, kind="stable")
        return pd.DataFrame({"Feature Id": np.array(trained.names)[order], "Importances": found[order]})


def threads_of(thread_count: int) -> int | None:
    return thread_count if thread_count > 0 else None
