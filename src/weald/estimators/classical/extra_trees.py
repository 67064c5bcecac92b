"""Extremely randomised trees with scikit-learn's interface (Geurts, Ernst and Wehenkel 2006)."""

from __future__ import annotations

from dataclasses import dataclass

from weald.estimators.classical.forests import ForestClassifier, ForestRegressor
from weald.params.declare import documented


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classification: of every column looked at, one threshold is drawn at random.

    The parameters and attributes are those of `RandomForestClassifier`; only ``bootstrap`` is False by default.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.ExtraTreesClassifier(20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95
    True
    """

    _random_thresholds = True
    bootstrap: bool = False


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for regression: of every column looked at, one threshold is drawn at random.

    The parameters and attributes are those of `RandomForestRegressor`; only ``bootstrap`` is False by default.

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> weald.ExtraTreesRegressor(20).fit(X, y).score(X, y) > 0.9
    True
    """

    _random_thresholds = True
    bootstrap: bool = False
