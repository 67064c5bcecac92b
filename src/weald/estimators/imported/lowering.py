"""Imported models on their way to `weald.exchange.model`."""

from __future__ import annotations

import numpy as np

from weald.estimators.imported.file import ImportedModel
from weald.estimators.shared.lowering import check_groups, lookup_of, lower_predictor
from weald.exchange.foreign.hashed import HashedStatistics
from weald.exchange.model import Answer, Builder, Slots
from weald.exchange.rows import Row, reads_for
from weald.runtime.errors import NotSupportedError


def lower_imported(model: ImportedModel, builder: Builder, row: Row) -> Answer:
    """Looked-up columns, trees or weights, and the link."""
    reads = reads_for(builder, row, model.schema)
    if model.hashed is not None:
        reads += _looked_up(model.hashed, builder, reads)
    return lower_predictor(model, builder, reads)


def _looked_up(hashed: HashedStatistics, builder: Builder, reads: Slots) -> Slots:
    """The columns that are looked up by hashes, table after table."""
    slots: Slots = ()
    names = hashed.schema.names
    for table in hashed.tables:
        if table.tests:
            raise NotSupportedError(
                "The CatBoost model has statistics of categories combined with tests, which no format has; train it with "
                "max_ctr_complexity=1."
            )
        sizes = tuple(len(hashed.hashes[column]) + 1 for column in table.columns)
        check_groups(sizes, [names[column] for column in table.columns])
        codes = np.indices(sizes).reshape(len(sizes), -1)
        keys, known = hashed.keys_of(table, dict(zip(table.columns, codes, strict=True)))
        own = tuple(reads[column] for column in table.columns)
        slots += builder.add(lookup_of(own, sizes, table.look_up(keys, known), table.default))
    return slots
