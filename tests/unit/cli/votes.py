"""Model files of several models."""

from __future__ import annotations

from pathlib import Path

import weald
from weald.data.files import read_file


def save_vote(flowers: Path, classifier: Path, folder: Path, voting: str) -> Path:
    """The file of a vote of two models, on the columns of the ``classifier``."""
    table = read_file(flowers)
    columns = {name: table[name] for name in weald.load(classifier).feature_names_in_}
    members = [
        ("many", weald.BoostedTreesClassifier(n_estimators=20)),
        ("stump", weald.BoostedTreesClassifier(n_estimators=1, max_leaves=2)),
    ]
    refusal_label = "unsure" if voting == "majority" else None
    model = weald.VotingClassifier(members, voting=voting, refusal_label=refusal_label)
    path = folder / f"{voting}.weald"
    model.fit(columns, table["kind"]).save(path)
    return path
