"""The same scripts with the original systems and with Weald: ``python -m tools.side_by_side > docs/side_by_side.md``.

A topic is a function of ``for_xgboost`` and its like: it takes the original's module or Weald's, and returns metrics.
"""
