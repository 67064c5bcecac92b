"""Random forests with scikit-learn's interface, on bins that all trees share."""

from __future__ import annotations

from dataclasses import dataclass

from weald.estimators.classical.forests import ForestClassifier, ForestRegressor
from weald.params.declare import documented


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class RandomForestClassifier(ForestClassifier):
    """A random forest for classification: the mean of trees that were grown on drawn rows and drawn columns.

    The same data, parameters and seed give the same model, byte for byte, on any number of threads.

    Attributes
    ----------
    forest_ : the trees
    estimators_ : the same as decision trees, made when first asked for
    feature_importances_, feature_importances_std_ : shares in the decrease of impurity, and their spread over the trees
    oob_score_, oob_decision_function_ : accuracy and probabilities by trees that have not seen the row

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.RandomForestClassifier(20, oob_score=True).fit(data.data, data.target)
    >>> model.oob_score_ > 0.95
    True
    """


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class RandomForestRegressor(ForestRegressor):
    """A random forest for regression: the mean of trees that were grown on drawn rows.

    Attributes
    ----------
    forest_ : the trees
    estimators_ : the same as decision trees, made when first asked for
    feature_importances_, feature_importances_std_ : shares in the decrease of impurity, and their spread over the trees
    oob_score_, oob_prediction_ : R² and predictions by trees that have not seen the row

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = weald.RandomForestRegressor(50, min_samples_leaf=5, oob_score=True).fit(X, y)
    >>> model.oob_score_ > 0.35
    True
    """
