"""Pieces and tiles against loops in plain Python."""

from __future__ import annotations

import numpy as np

from weald.devices.pieces import pieces_of, targets_of, tiles_of


def test_pieces_cover_segments_in_their_order() -> None:
    generator = np.random.default_rng(2)
    for most in (1, 3, 100):
        sizes = generator.integers(0, 9, 20)
        ends = np.cumsum(sizes)
        segments = np.stack([ends - sizes, ends], axis=1)
        numbers = generator.integers(0, 50, 20)
        pieces, owner = pieces_of(numbers, segments, most)
        expected = [
            [number, first, min(first + most, end)]
            for number, (begin, end) in zip(numbers.tolist(), segments.tolist(), strict=True)
            for first in range(begin, end, most)
        ]
        assert pieces.tolist() == expected and pieces.dtype == np.uint32
        assert numbers[owner].tolist() == [number for number, _, _ in expected]


def test_rows_of_all_pieces_have_places_of_their_own() -> None:
    generator = np.random.default_rng(3)
    segments = np.array([[0, 0], [5, 40], [40, 41], [50, 90]])
    goes_left = generator.random(100) < 0.4
    pieces, owner = pieces_of(np.arange(4), segments, 7)
    lefts = np.array([goes_left[begin:end].sum() for _, begin, end in pieces.tolist()], np.uint32)
    targets, middles = targets_of(segments, pieces, owner, lefts)
    moved = np.full(100, -1)
    for (_, begin, end), (left, right) in zip(pieces.tolist(), targets.tolist(), strict=True):
        rows = np.arange(begin, end)
        for target, own in ((left, rows[goes_left[begin:end]]), (right, rows[~goes_left[begin:end]])):
            moved[target : target + len(own)] = own
    for (begin, end), middle in zip(segments.tolist(), middles.tolist(), strict=True):
        rows = np.arange(begin, end)
        expected = [*rows[goes_left[begin:end]], *rows[~goes_left[begin:end]]]
        assert moved[begin:end].tolist() == expected
        assert middle == begin + goes_left[begin:end].sum()


def test_tiles_have_no_more_cells_than_there_is_room_for() -> None:
    places, sizes, offsets = np.array([4, 0, 2, 1]), np.array([10, 25, 12, 9]), np.array([0, 16, 48, 64])
    tiles = tiles_of(places, sizes, offsets, most=22)
    assert tiles.large == [(0, 16)] and tiles.n_cells == 22 and tiles.count == 2
    assert tiles.firsts.tolist() == [0, 2, 3]
    assert tiles.columns.tolist() == [[4, 10, 0, 0], [2, 12, 48, 10], [1, 9, 64, 0]]
    assert tiles_of(places[:0], sizes[:0], offsets[:0], 5).count == 0
