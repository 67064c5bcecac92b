"""The minimum of a convex function of one variable, from its slope alone."""

from __future__ import annotations

from collections.abc import Callable

# The slope has vanished when it is this share of the slope at zero: what single-precision gradients can tell.
_VANISHED = 1e-8
_FARTHEST = 2.0**40
_MOST_STEPS = 100
# A bracket this narrow, relative to its upper end, is a point.
_NARROW = 1e-12


def least_of_convex(slope: Callable[[float], float]) -> float:
    """The x >= 0 where a rising `slope` reaches zero; 0 where it does not fall there to begin with.

    Doubles a bracket until the slope has changed its sign, then narrows it by the secant, with half the slope of an end
    that stayed twice (the Illinois variant of false position): no derivative of the slope is needed, and the calls, so
    the result, are the same on every machine.

    >>> least_of_convex(lambda x: 2.0 * (x - 3.0))
    3.0
    """
    low, low_slope = 0.0, slope(0.0)
    if not low_slope < 0.0:
        return 0.0
    enough = _VANISHED * -low_slope
    high, high_slope = 1.0, slope(1.0)
    while high_slope < -enough and high < _FARTHEST:
        low, low_slope = high, high_slope
        high *= 2.0
        high_slope = slope(high)
    if high_slope <= enough:
        return high
    kept = 0  # which end stayed in the last step: -1 the lower, 1 the upper
    for _ in range(_MOST_STEPS):
        middle = low + (high - low) * (-low_slope / (high_slope - low_slope))
        if not low < middle < high or high - low <= _NARROW * high:
            break
        value = slope(middle)
        if abs(value) <= enough:
            return middle
        if value < 0.0:
            low, low_slope = middle, value
            high_slope *= 0.5 if kept == 1 else 1.0
            kept = 1
        else:
            high, high_slope = middle, value
            low_slope *= 0.5 if kept == -1 else 1.0
            kept = -1
    return low if -low_slope < high_slope else high
