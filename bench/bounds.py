"""What a count of rare events allows to say."""

import math

_CHANCE = 0.05


def upper_bound(events: int, trials: int) -> float:
    """One-sided, 95 %: the share at which so few events have a chance of 5 %. None: about three
    in the number of trials.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(events, trials * middle) > _CHANCE:
            low = middle
        else:
            high = middle
    return high


def _at_most(events: int, mean: float) -> float:
    return sum(
        math.exp(it * math.log(mean) - mean - math.lgamma(it + 1)) if mean else float(it == 0)
        for it in range(events + 1)
    )
