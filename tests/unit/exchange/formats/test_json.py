from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import numpy as np
import pytest

import weald
from exchange_models import CASES, case, hard_rows, scores_of, table_for
from weald.exchange.exchanged import ExchangedModel
from weald.exchange.formats.json import dumps
from weald.exchange.formats.json_reading import loads, read_json


@pytest.mark.parametrize("name", CASES)
def test_a_model_comes_back_from_json_with_the_same_bits(name: str, tmp_path: Path) -> None:
    model, estimator = case(name).model, case(name).estimator
    path = tmp_path / "model.json"
    estimator.export(path, format="json")
    back = read_json(path)
    assert dumps(back.model) == dumps(model)
    if name == "blending":  # its final estimator's sums are BLAS's
        return
    table = table_for(model, hard_rows(model, 60))
    is_classifier = hasattr(estimator, "classes_")
    with np.errstate(invalid="ignore", over="ignore"):
        expected = scores_of(estimator, table)
        labels = back.predict(table)
        found = scores_of(back, table) if expected is not None else None
    assert np.array_equal(labels, estimator.predict(table), equal_nan=not is_classifier)
    assert expected is None or np.array_equal(found, expected, equal_nan=True)


def test_a_model_that_came_back_is_exported_again(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    case("sets").estimator.export(first, format="json")
    read_json(first).export(second, format="json")
    assert first.read_bytes() == second.read_bytes()


def test_a_large_table_is_evaluated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = case("sets_three").model
    table = hard_rows(model, 50)
    whole = ExchangedModel(model).predict_proba(table)
    monkeypatch.setattr("weald.exchange.evaluate._NUMBERS_TOGETHER", 7 * model.n_slots)
    back = ExchangedModel(model)
    assert np.array_equal(back.predict_proba(table), whole) and len(back.predict(table)) == 50
    assert back.predict(table[:0]).shape == (0,)


def test_formats_and_options_that_are_not_there_are_named(tmp_path: Path) -> None:
    estimator = case("regressor").estimator
    with pytest.raises(weald.InputError, match="format must be one of 'json'"):
        estimator.export(tmp_path / "m", format="excel")
    with pytest.raises(weald.InputError, match="no option 'colour'"):
        estimator.export(tmp_path / "m", format="json", colour=1)
    assert not list(tmp_path.iterdir())


def test_damaged_files_end_in_a_sentence_or_in_a_model_that_predicts() -> None:
    names = ("sets", "statistics", "stacking", "adaboost_values", "voting_majority", "linear_classes")
    chance = random.Random(0)
    refused = 0
    for number in range(600):
        name = names[number % len(names)]
        found = json.loads(dumps(case(name).model))
        damaged = _damaged(found, chance) if number % 2 else _cut(dumps(case(name).model), chance)
        try:
            back = loads(damaged)
        except weald.ModelFileError as error:
            assert str(error).endswith("."), error
            refused += 1
            continue
        _predict(back)
    assert 200 < refused < 600


def _predict(back: ExchangedModel) -> None:
    cells = {
        column.name: [1.0, np.nan] if column.kind == "numeric" else [*column.categories[:1], None, "?"][:2]
        for column in back.model.schema.columns
    }
    # Damaged columns may be ones that no such table has.
    with np.errstate(all="ignore"), contextlib.suppress(weald.InputError):
        back.predict({name: np.array((value + [None])[:2], dtype=object) for name, value in cells.items()})


def _cut(text: str, chance: random.Random) -> bytes:
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(32, 127)
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.1 else data)


def _damaged(found: object, chance: random.Random) -> bytes:
    """A value somewhere is replaced by another."""
    place: object = found
    for _ in range(12):
        keys = (
            list(place)
            if isinstance(place, dict)
            else list(range(len(place)))
            if isinstance(place, list)
            else []
        )
        if not keys:
            break
        key = chance.choice(keys)
        child = place[key]  # type: ignore[index]
        if not isinstance(child, dict | list) or not child or chance.random() < 0.1:
            strange = [None, -1, 2**70, 1e308, "?", [], {}, True, 0, 7, [1, 2], {"float": "nan"}, 2**31]
            place[key] = chance.choice(strange)  # type: ignore[index]
            break
        place = child
    return json.dumps(found).encode()


NO_MODELS = [
    b"",
    b"\xff",
    b"[" * 100_000,
    b"{}",
    b'{"format": "weald-model", "version": 9}',
    b"NaN",
    b"1" * 10_000,
]


@pytest.mark.parametrize("data", NO_MODELS)
def test_files_that_are_no_models_are_refused(data: bytes) -> None:
    with pytest.raises(weald.ModelFileError, match=r"\.$"):
        loads(data)
