"""Programs that show what Weald is for; each prints a table and draws a figure of ``docs/images``.

``python -m examples.decision_regions``, ``python -m examples.hr_attrition``, ``python -m examples.bias_variance``,
``python -m examples.monotone``
"""
