"""Benchmarks: programs that measure Weald, stage by stage and against its peers."""
