"""What the growers of histograms share with the search for splits, as one argument."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weald.tree.splits.constraints import ConstraintState
from weald.tree.state import Gradients, Nodes, Rules, TreeInput, Workspace


class Search(NamedTuple):
    """A tree while it grows: what it is grown from, by which rules, and what is known of its nodes."""

    data: TreeInput
    gradients: Gradients
    rules: Rules
    key: np.uint64  # of draws of columns, thresholds and noise
    work: Workspace
    nodes: Nodes
    state: ConstraintState
