"""What members of a team send for a tree, for the three ways of sharing the work, beside the formula; and how good voting is.

Members are threads whose messages are counted. Run it as ``python -m benchmarks.stage.communication``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common import auc, higgs_like, parser, print_table, record
from benchmarks.teams import measure_trees

LEAVES = 31
VOTES = (1, 2, 4, 8)
MEMBERS = (2, 4, 8)


def model_of(trees: int) -> Any:
    """What every member trains, on one thread."""
    import weald

    return weald.BoostedTreesClassifier(n_estimators=trees, max_leaves=LEAVES, n_jobs=1)


def formula(parallel: str, columns: int, opened: float, top_k: int = 0, bins: int = 255) -> float:
    """Bytes that a member sends for a tree, in which so many nodes are counted.

    Data: three sums of 4 bytes (of 8 from 2**19 rows on) for every cell of a counted node. Feature: score, gain and split of both
    children. Voting: votes of 4 bytes, and three sums of 8 for the cells of elected columns, of both children.
    """
    cells = bins + 1
    if parallel == "data":
        return 12.0 * columns * cells * opened
    if parallel == "feature":
        return (8.0 + 8.0 + 80.0) * 2 * opened
    return (4.0 * top_k + 24.0 * min(2 * top_k, columns) * cells) * 2 * opened


def opened_nodes(columns: int, sent: float, messages_only: float) -> float:
    """How many nodes a tree counts, from what data-parallel sends."""
    return (sent - messages_only) / (12.0 * columns * 264)


def main() -> None:
    """Measure every way, and the quality of votes."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (200,000; quick: 20,000)")
    arguments.add_argument("--trees", type=int, help="trees (50; quick: 5)")
    options = arguments.parse_args()
    rows = options.rows or (20_000 if options.quick else 200_000)
    trees = options.trees or (5 if options.quick else 50)
    X, y = higgs_like(rows + 50_000)
    X, y, X_test, y_test = X[:rows], y[:rows], X[rows:], y[rows:]
    columns = X.shape[1]
    bytes_rows, table = [], []
    for parallel, top_k in (("data", 0), ("feature", 0), *(("voting", top_k) for top_k in VOTES)):
        way: Any = parallel
        if parallel == "voting":
            from weald.workers.parameters import VotingParallel

            way = VotingParallel(top_k=top_k)
        costs = measure_trees(model_of, X, y, 2, way, trees)
        if parallel == "data":
            opened = opened_nodes(columns, costs.bytes, 0.0)
        expected = formula(parallel, columns, opened, top_k)
        name = f"voting, top_k={top_k}" if top_k else parallel
        bytes_rows.append(
            {
                "parallel": parallel,
                "top_k": top_k,
                "bytes": costs.bytes,
                "formula": expected,
                "messages": costs.messages,
            }
        )
        table.append([name, f"{costs.bytes / 1e6:.3f}", f"{expected / 1e6:.3f}", f"{costs.messages:.1f}"])
    print_table(
        f"a member's messages for a tree of {LEAVES} leaves: {rows:,} x {columns}, 2 members",
        ["parallel", "MB", "formula, MB", "messages"],
        table,
    )
    quality = voting_quality(X, y, X_test, y_test, trees)
    record(options, {"rows": rows, "trees": trees, "opened": opened, "bytes": bytes_rows, "quality": quality})


def voting_quality(X: Any, y: Any, X_test: Any, y_test: Any, trees: int) -> list[dict[str, float]]:
    """Area under the curve of the other rows, by number of members and votes; members' rows alike, and sorted by a column."""
    from weald.workers.parameters import VotingParallel

    whole = auc(model_of(trees).fit(X, y), X_test, y_test)
    found, table = [], []
    order = np.argsort(X[:, 0], kind="stable")
    for members in MEMBERS:
        for top_k in VOTES:
            scores = [
                auc(
                    measure_trees(
                        model_of, X[rows], y[rows], members, VotingParallel(top_k=top_k), trees - 1
                    ).model,
                    X_test,
                    y_test,
                )
                for rows in (slice(None), order)
            ]
            found.append({"members": members, "top_k": top_k, "alike": scores[0], "sorted": scores[1]})
            table.append([f"{members} members, top_k={top_k}", f"{scores[0]:.4f}", f"{scores[1]:.4f}"])
    print_table(
        f"voting: area under the curve after {trees} trees; data-parallel {whole:.4f}",
        ["", "rows alike", "sorted by a column"],
        table,
    )
    return [{"members": 1, "top_k": 0, "alike": whole, "sorted": whole}, *found]


if __name__ == "__main__":
    main()
