"""Values of parameters, drawn from their declarations: the bounds, values near them, and any between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tools.fuzz.draws import Draws
from tools.fuzz.tables import Table
from weald.params.choice import Choice, Part
from weald.params.declare import declared
from weald.params.parameter import Parameter

# What makes a fit long without making it odd: the largest value that is drawn.
_MOST = {
    "n_estimators": 6,
    "iterations": 6,
    "num_iterations": 6,
    "parallel_trees": 3,
    "num_parallel_tree": 3,
    "permutations": 6,
    "permutation_count": 6,
    "max_combination": 4,
    "max_ctr_complexity": 3,
    "num_class": 5,
    "classes_count": 200_000,
    "depth": 16,
    "thread_count": 2,
    "nthread": 2,
    "num_threads": 2,
}
_LARGEST = 2_000_000
Values = Callable[[Draws, Table], Any]


def _columns(draws: Draws, table: Table) -> Any:
    places = draws.some(range(table.n_columns), 3)
    return [table.names[place] if table.names and draws.chance(0.5) else place for place in places]


def _directions(draws: Draws, table: Table) -> Any:
    return [draws.one([-1, 0, 1]) for _ in range(table.n_columns)]


def _count_or_share(draws: Draws, table: Table) -> Any:
    return draws.one([1, 2, 5, 0.01, 0.3, 0.5, 1.0])


_METRICS = ["rmse", "mae", "logloss", "auc", "error", "mlogloss"]
#: parameters whose values are checked where they are used
ANYTHING: dict[str, Values] = {
    "base_score": lambda draws, table: draws.one([None, 0.5, 0.0, 1.0, 1e30, -3.0]),
    "categorical_features": _columns,
    "monotone_constraints": _directions,
    "interaction_constraints": lambda draws, table: [_columns(draws, table) or [0] for _ in range(2)],
    "random_state": lambda draws, table: draws.one([None, 0, 1, 2**31 - 1]),
    "n_jobs": lambda draws, table: draws.one([None, 1, 2]),
    "class_weight": lambda draws, table: draws.one([None, "balanced", "sqrt_balanced"]),
    "alpha": lambda draws, table: draws.one([0.5, 0.01, 0.999, [0.1, 0.9]]),
    "quantile_alpha": lambda draws, table: draws.one([0.5, 0.01, 0.999, [0.1, 0.9]]),
    "min_samples_split": lambda draws, table: draws.one([2, 3, 10, 0.01, 0.5, 1.0]),
    "min_samples_leaf": lambda draws, table: draws.one([1, 2, 10, 0.01, 0.3, 0.5]),
    "max_features": lambda draws, table: draws.one([None, 1, 0.1, 1.0, "sqrt", "log2"]),
    "max_samples": lambda draws, table: draws.one([None, 1, 0.1, 1.0]),
    "oob_score": lambda draws, table: draws.chance(0.5),
    "cv": lambda draws, table: draws.one([None, 2, 3, "in_sample_overfits"]),
    "prior": lambda draws, table: draws.one(["mean", 0.0, 0.5, 1e10]),
    "weights": lambda draws, table: draws.one([None, [1, 2], [0, 1], "fit"]),
    "seed": lambda draws, table: draws.whole(0, 2**31 - 1),
    "random_seed": lambda draws, table: draws.whole(0, 2**31 - 1),
    "max_bin_by_feature": lambda draws, table: [draws.whole(2, 300) for _ in range(table.n_columns)],
    "simple_ctr": lambda draws, table: draws.one(["Borders", "Counter", ["Borders:Prior=0.5", "Counter"]]),
    "combinations_ctr": lambda draws, table: draws.one(["Borders", "Counter"]),
    "missing": lambda draws, table: draws.one([math.nan, 0.0, -7.5]),
    "verbose": lambda draws, table: 0,
}


def draw_value(draws: Draws, parameter: Parameter, table: Table) -> Any:
    """A value that the declaration allows; the default where the declaration does not say what is allowed."""
    if parameter.name in ANYTHING and parameter.kind in ("any", "none"):
        return ANYTHING[parameter.name](draws, table)
    if isinstance(parameter, Part):
        return _draw_part(draws, parameter, table)
    if parameter.optional and draws.chance(0.15):
        return None
    if parameter.kind == "bool":
        return draws.chance(0.5)
    if parameter.choices and (parameter.kind == "choice" or draws.chance(0.3)):
        return draws.one(parameter.choices)
    if parameter.kind == "int":
        return _draw_whole(draws, parameter)
    return _draw_number(draws, parameter) if parameter.kind == "float" else parameter.default


def draw_values(
    draws: Draws, parameters: Mapping[str, Parameter], table: Table, most: int, without: frozenset[str]
) -> dict[str, Any]:
    """Values of at most so many of the parameters."""
    names = [name for name in parameters if name not in without]
    return {name: draw_value(draws, parameters[name], table) for name in draws.some(names, most)}


def _draw_part(draws: Draws, part: Part, table: Table) -> Any:
    assert part.family is not None
    if draws.chance(0.5) or not part.family.classes:
        return draws.one(part.family.names)
    kind: type[Choice] = draws.one(part.family.classes)
    return kind(**draw_values(draws, declared(kind), table, 3, frozenset()))


def _draw_whole(draws: Draws, parameter: Parameter) -> int:
    low = int(parameter.low) if parameter.low > -math.inf else draws.one([-5, -1, 0])
    high = int(min(parameter.high, _MOST.get(parameter.name, _LARGEST)))
    if draws.chance(0.4):
        return draws.one([low, min(low + 1, high), high])
    return min(max(low, round(draws.magnitude(1, max(high, 2)))), high)


def _draw_number(draws: Draws, parameter: Parameter) -> float:
    low = parameter.low if parameter.low > -math.inf else -1e6
    values = [] if parameter.open_low else [low]
    if parameter.high < math.inf:
        values += [parameter.high, low + (parameter.high - low) * float(draws.generator.random())]
        values += [low + (parameter.high - low) * draws.magnitude(1e-12, 1.0)]
    else:
        values += [low + draws.magnitude(1e-3, 1e3), low + draws.magnitude(1e-3, 1.0), 1.0, 0.1]
        values += [low + draws.magnitude(1e-12, 1e12)]
        if draws.chance(0.1):
            values = [low + draws.one([1e-300, 1e30, 1e300])]
    return draws.one(values)
