"""How far a training on a cluster is, on the client's terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from weald.runtime.progress import format_fields, progress


@contextmanager
def shown(client: Any, topic: str, rounds: int, verbose: int) -> Iterator[None]:
    """Show what the members tell under a topic: 1 a bar, more a line after every so many rounds, 0 nothing."""
    if not verbose:
        yield
        return
    with progress(rounds, "training", verbose == 1) as bar:
        told = 0

        def show(event: tuple[float, Mapping[str, Any]]) -> None:
            nonlocal told
            _, said = event
            if "lost" in said:
                print(
                    f"a worker was lost ({said['lost']}); training goes on from round {said['goes on from']}",
                    file=sys.stderr,
                    flush=True,
                )
            elif verbose > 1:
                words = (f"round {said['round']}/{said['of']}", format_fields(said["metrics"]))
                print("  ".join(word for word in words if word), file=sys.stderr, flush=True)
            elif said["round"] > told:
                bar.advance(said["metrics"], said["round"] - told)
                told = said["round"]

        client.subscribe_topic(topic, show)
        try:
            yield
        finally:
            client.unsubscribe_topic(topic)
