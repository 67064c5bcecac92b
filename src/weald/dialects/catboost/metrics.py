"""CatBoost's metrics by their names, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from weald.dialects.catboost import confusion
from weald.dialects.catboost.basic import Description, described
from weald.dialects.catboost.confusion import counted
from weald.dialects.catboost.objectives import Chosen
from weald.dialects.shared.metrics import Function, auc_mu
from weald.dialects.shared.tables import Float64s
from weald.losses import LINKS, METRICS, Loss, Metric
from weald.losses.means import weighted_mean
from weald.losses.quantiles import weighted_quantile
from weald.losses.suggest import unknown_name
from weald.runtime.errors import InputError, NotSupportedError


def _of(name: str, option: str = "") -> Function:
    """A metric of Weald's own; CatBoost calls its option ``value``."""
    function = METRICS[name].function
    return function if not option else lambda y, p, w, value: function(y, p, w, **{option: value})


def _squared_log(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return METRICS["rmsle"].function(y, prediction, weight) ** 2


def _symmetric_share(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    size = np.abs(y) + np.abs(prediction)
    share = np.divide(2.0 * np.abs(y - prediction), size, out=np.zeros(len(y)), where=size > 0.0)
    return 100.0 * weighted_mean(share, weight)


def _median_error(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return float(weighted_quantile(np.abs(y - prediction), None, 0.5))


def _power(y: Float64s, prediction: Float64s, weight: Float64s | None, value: float) -> float:
    return weighted_mean(np.abs(y - prediction) ** value, weight)


def _far(y: Float64s, prediction: Float64s, weight: Float64s | None, value: float) -> float:
    return weighted_mean((np.abs(y - prediction) > value).astype(np.float64), weight)


def _expectile(y: Float64s, prediction: Float64s, weight: Float64s | None, value: float) -> float:
    residual = y - prediction
    return weighted_mean(np.where(residual > 0.0, value, 1.0 - value) * residual**2, weight)


def _one_vs_all(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    entropy = METRICS["cross_entropy"].function
    of_class = [
        entropy((y == k).astype(np.float64), prediction[:, k], weight) for k in range(prediction.shape[1])
    ]
    return float(np.mean(of_class))


def _area(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    if prediction.ndim == 2:
        return auc_mu(y, prediction, weight)
    return METRICS["auc"].function(y, prediction, weight)


def _gini(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return 2.0 * METRICS["auc"].function(y, prediction, weight) - 1.0


@dataclass(frozen=True)
class Known:
    """A metric of CatBoost's.

    needs       "regression", "positive" (means of counts), "two" or "several" classes, "classes", "labels" or "share"
    larger      larger values are better
    option      its option, if it has one, and the option's default (None: it must be given)
    weighted    whether weights count where nothing else is said
    on_train    whether it is evaluated on the training rows where nothing else is said
    """

    function: Function
    needs: str
    larger: bool = False
    option: tuple[str, Any] | None = None
    weighted: bool = True
    on_train: bool = True


_wrong = counted(lambda counts: 1.0 - confusion.accuracy(counts))
_KNOWN: dict[str, Known] = {
    "RMSE": Known(_of("rmse"), "regression"),
    "MAE": Known(_of("mae"), "regression"),
    "MAPE": Known(_of("bounded_mape"), "regression"),
    "SMAPE": Known(_symmetric_share, "regression"),
    "R2": Known(_of("r2"), "regression", True),
    "MSLE": Known(_squared_log, "regression"),
    "MedianAbsoluteError": Known(_median_error, "regression", on_train=False),
    "Quantile": Known(_of("pinball", "quantile_alpha"), "regression", option=("alpha", 0.5)),
    "Huber": Known(_of("huber", "huber_delta"), "regression", option=("delta", None)),
    "FairLoss": Known(_of("fair", "fair_scale"), "regression", option=("smoothness", 1.0)),
    "LogCosh": Known(_of("log_cosh"), "regression"),
    "Lq": Known(_power, "regression", option=("q", None)),
    "NumErrors": Known(_far, "regression", option=("greater_than", None)),
    "Expectile": Known(_expectile, "regression", option=("alpha", 0.5)),
    "MultiQuantile": Known(_of("pinball", "quantile_alpha"), "quantiles", option=("alpha", None)),
    "Poisson": Known(_of("poisson_loss"), "positive"),
    "Tweedie": Known(_of("tweedie_nloglik", "tweedie_power"), "positive", option=("variance_power", None)),
    "RMSEWithUncertainty": Known(_of("normal_nloglik"), "uncertainty"),
    "CrossEntropy": Known(_of("cross_entropy"), "share"),
    "Logloss": Known(_of("logloss"), "labels"),
    "MultiClass": Known(_of("logloss"), "several"),
    "MultiClassOneVsAll": Known(_one_vs_all, "several"),
    "AUC": Known(_area, "classes", True, ("type", "Classic"), weighted=False, on_train=False),
    "NormalizedGini": Known(_gini, "two", True, on_train=False),
    "PRAUC": Known(_of("aucpr"), "two", True, weighted=False),
    "BrierScore": Known(_of("mse"), "two"),
    "Accuracy": Known(counted(confusion.accuracy), "classes", True),
    "ZeroOneLoss": Known(_wrong, "classes"),
    "HammingLoss": Known(_wrong, "classes"),
    "Precision": Known(counted(confusion.precision), "two", True),
    "Recall": Known(counted(confusion.recall), "two", True),
    "F1": Known(counted(confusion.f_score), "two", True),
    "F": Known(counted(confusion.f_score), "two", True, ("beta", None)),
    "TotalF1": Known(counted(confusion.total_f1), "classes", True, ("average", "Weighted")),
    "BalancedAccuracy": Known(counted(confusion.balanced_accuracy), "two", True),
    "BalancedErrorRate": Known(counted(lambda counts: 1.0 - confusion.balanced_accuracy(counts)), "two"),
    "MCC": Known(counted(confusion.mcc), "classes", True),
    "Kappa": Known(counted(confusion.kappa), "classes", True),
}
_FITS: dict[str, Callable[[Chosen], bool]] = {
    "regression": lambda chosen: (
        not chosen.of_classes and chosen.n_outputs == 1 and chosen.name != "CrossEntropy"
    ),
    "positive": lambda chosen: chosen.name in ("Poisson", "Tweedie"),
    "quantiles": lambda chosen: chosen.name == "MultiQuantile",
    "uncertainty": lambda chosen: chosen.name == "RMSEWithUncertainty",
    "labels": lambda chosen: chosen.name == "Logloss",
    "share": lambda chosen: chosen.name in ("Logloss", "CrossEntropy"),
    "two": lambda chosen: chosen.name in ("Logloss", "CrossEntropy"),
    "several": lambda chosen: chosen.several,
    "classes": lambda chosen: chosen.of_classes or chosen.name == "CrossEntropy",
}
#: of several classes these have chances of their own from raw scores, whatever the loss makes of them
_LINK_OF = {"MultiClass": "softmax", "MultiClassOneVsAll": "sigmoids", "AUC": "softmax"}
#: their predictions are chances, for which a user's own loss has only scores
_OF_CHANCES = ("labels", "share", "two", "classes")
_REFUSED = (
    "NDCG", "DCG", "MAP", "MRR", "ERR", "PFound", "PrecisionAt", "RecallAt", "AverageGain", "QueryAUC", "QueryAverage",
    "PairAccuracy", "PairLogit", "PairLogitPairwise", "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy", "YetiRank", "FilteredDCG",
    "Cox", "SurvivalAft", "MultiRMSE", "MultiLogloss", "MultiCrossEntropy", "HingeLoss", "LogLikelihoodOfPrediction",
    "LogLinQuantile", "CtrFactor", "WKappa", "MedianAbsolutePercentageError",
)  # fmt: skip


@dataclass(frozen=True)
class Evaluated:
    """A metric that a training evaluates; ``on_train``: on the training rows, too."""

    metric: Metric
    on_train: bool

    @property
    def name(self) -> str:
        """What results call it."""
        return self.metric.name

    def value(self, loss: Loss, scores: Float64s, y: Float64s, weight: Float64s | None) -> float:
        """Its value for raw scores, (outputs, rows)."""
        seen = scores if self.metric.of_scores else loss.respond(scores)
        return float(self.metric.function(y, seen, weight))


def metrics_of(params: Mapping[str, Any], chosen: Chosen) -> list[Evaluated]:
    """The metrics of a training: the one that the best round is chosen by, the loss's own, and further ones."""
    further = params.get("custom_metric") or ()
    wanted = [*([further] if isinstance(further, str) else further)]
    own = chosen.own is None
    if params.get("eval_metric") is None and not own:
        raise InputError("a loss of your own has no metric; give eval_metric.")
    first = params.get("eval_metric", chosen.description.text)
    found: dict[str, Evaluated] = {}
    for one in [first, *([chosen.description.text] if own else []), *wanted]:
        evaluated = metric_of(one, chosen)
        found.setdefault(evaluated.name, evaluated)
    return list(found.values())


def metric_of(metric: Any, chosen: Chosen) -> Evaluated:
    """The metric of a name with options, or of a user's object with evaluate, is_max_optimal and get_final_error.

    >>> from weald.dialects.catboost.objectives import choose
    >>> metric_of("Quantile:alpha=0.9", choose("RMSE", 0)).name
    'Quantile:alpha=0.9'
    """
    if hasattr(metric, "evaluate"):
        larger = bool(metric.is_max_optimal())
        return Evaluated(
            Metric(type(metric).__name__, partial(_evaluate, metric), larger, of_scores=True), True
        )
    given, known = _known(metric)
    if chosen.own is None and not _FITS[known.needs](chosen):
        fitting = [name for name, other in _KNOWN.items() if _FITS[other.needs](chosen)]
        raise NotSupportedError(
            f"the metric {given.name!r} does not fit loss_function={chosen.name!r}; use one of {', '.join(fitting)}."
        )
    options = dict(given.options)
    weighted = bool(options.pop("use_weights", known.weighted))
    hints = str(options.pop("hints", ""))
    on_train = "skip_train~false" in hints or (known.on_train and "skip_train~true" not in hints)
    value, shown = _option(given, known, options, chosen)
    bound: Function = known.function if value is None else partial(known.function, value=value)
    if chosen.own is not None and known.needs in _OF_CHANCES:
        bound = partial(_of_scores, bound)
    of_scores = known.needs == "uncertainty"
    if chosen.several and given.name in _LINK_OF:
        bound, of_scores = partial(_linked, bound, LINKS[_LINK_OF[given.name]]), True
    function = bound if weighted else partial(_unweighted, bound)
    return Evaluated(
        Metric(Description(given.name, shown).text, function, known.larger, of_scores=of_scores), on_train
    )


def kind_of(metric: Any) -> str:
    """What scores a metric is of: what its `Known` needs."""
    return _known(metric)[1].needs


def _known(metric: Any) -> tuple[Description, Known]:
    given = described("eval_metric", metric)
    if given.name in _REFUSED:
        raise NotSupportedError(
            f"the metric {given.name!r} is not supported by weald.catboost; use one of {', '.join(_KNOWN)}."
        )
    if given.name not in _KNOWN:
        raise unknown_name("eval_metric", given.name, _KNOWN)
    return given, _KNOWN[given.name]


def _option(
    given: Description, known: Known, options: dict[str, Any], chosen: Chosen
) -> tuple[Any, dict[str, Any]]:
    """The value of a metric's option, None for none, and the options as results show them."""
    name, default = known.option or ("", None)
    for key in options:
        if key != name:
            said = f"it has {name}, use_weights and hints" if name else "it has use_weights and hints"
            raise InputError(f"the metric {given.name!r} has no option {key!r} here; {said}.")
    if not name:
        return None, {}
    if name == "type":
        wanted = options.get(name, "Mu" if chosen.several else default)
        if wanted != ("Mu" if chosen.several else "Classic"):
            raise NotSupportedError(
                f"AUC of type={wanted!r} is not supported by weald.catboost; use 'Classic' of two classes and 'Mu' of several."
            )
        return None, {name: wanted} if chosen.several else {}
    value = options.get(name, default)
    if value is None:
        raise InputError(f"the metric {given.name!r} needs {name}; write {given.name}:{name}=....")
    return value, options


def _unweighted(function: Function, y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return function(y, prediction, None)


def _linked(
    function: Function,
    link: Callable[[Float64s], Float64s],
    y: Float64s,
    scores: Float64s,
    weight: Float64s | None,
) -> float:
    return function(y, link(scores), weight)


def _of_scores(function: Function, y: Float64s, scores: Float64s, weight: Float64s | None) -> float:
    return function(y, LINKS["logit"](scores[None]), weight)


def _evaluate(own: Any, y: Float64s, scores: Float64s, weight: Float64s | None) -> float:
    """What a user's own metric gives for raw scores, (outputs, rows)."""
    error, total = own.evaluate(list(scores), y, weight)
    return float(own.get_final_error(error, total))
