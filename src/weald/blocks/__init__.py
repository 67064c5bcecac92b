"""Tables larger than memory: binned once, stored in blocks on one disk or several, and read from there while training."""

from weald.blocks.predicting import predict_batches, predict_to_parquet
from weald.blocks.store import BlockStore

__all__ = ["BlockStore", "predict_batches", "predict_to_parquet"]
