"""Training that goes on: from a checkpoint to the same bytes, and from the model of an earlier fit, for every booster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from weald import Averaging, Checkpoint, Dart, Linear, Ordered, Partition, Plain, TargetStatistics
from weald.estimators.shared.persistence import to_bytes
from weald.forest.container import unpack
from weald.forest.predict import raw_scores
from weald.losses import make_metric
from weald.runtime.errors import InputError, ModelFileError

ROUNDS, EVERY = 9, 4
TASKS = ("numbers", "two classes", "three classes")
#: Statistics of all four kinds, and of combinations of three columns.
KINDS = ("ordered", "greedy", "holdout", "leave_one_out")
OBLIVIOUS: dict[str, Any] = {"growth": "oblivious", "max_leaves": None, "max_depth": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"subsample": 0.7, "colsample_bytree": 0.8, "categories": "onehot"},
    "auto, with statistics": {"subsample": 0.7},
    "sets of categories": {"categories": Partition(max_onehot=1), "sampling": "bayesian"},
    "parallel trees": {"booster": Plain(parallel_trees=2), "subsample": 0.7, "categories": "onehot"},
    "dart": {"booster": Dart(rate_drop=0.4), "learning_rate": 0.3},
    "dart, parallel trees": {"booster": Dart(rate_drop=0.4, parallel_trees=2), "subsample": 0.8},
    "averaging": {"booster": Averaging(), "subsample": 0.5},
    "linear": {"booster": Linear(selector="shuffle"), "learning_rate": 0.3},
    "ordered": {"booster": Ordered(permutations=2), **OBLIVIOUS},
    **{
        f"statistics, {kind}": {"categories": TargetStatistics(kind, max_onehot=2), **OBLIVIOUS}
        for kind in KINDS
    },
    "ordered statistics, leafwise": {"categories": TargetStatistics(max_onehot=2), "max_leaves": 5},
    "ordered, with statistics": {"booster": "ordered", "categories": "ordered", **OBLIVIOUS},
    "ordered, greedy": {
        "booster": "ordered",
        "categories": TargetStatistics("greedy", max_onehot=2),
        **OBLIVIOUS,
    },
}
WITH_STATISTICS = [name for name in SETTINGS if "statistics" in name or name == "ordered, greedy"]


def table(
    seed: int = 0, n_rows: int = 400, towns: range = range(9), shops: range = range(30)
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {"x": rng.random(n_rows)}
    for name, numbers in (("town", towns), ("shop", shops), ("day", range(3))):
        columns[name] = pd.Categorical([f"{name} {code}" for code in rng.choice(numbers, n_rows)])
    return pd.DataFrame(columns)


def signal(X: pd.DataFrame) -> Any:
    town, shop, day = (X[name].str.split().str[1].astype(int) for name in ("town", "shop", "day"))
    noise = np.random.default_rng(len(X)).random(len(X))
    return (town * 0.3 + shop % 5 + (shop + day) % 2 + X["x"] + noise).to_numpy()


def data(task: str, X: pd.DataFrame, booster: Any = None) -> tuple[Any, Any]:
    """A table as the booster takes it, and its labels."""
    y = signal(X)
    if task != "numbers":
        y = np.digitize(y, [3.0] if task == "two classes" else [2.5, 4.0])
    if isinstance(booster, Linear):
        return np.column_stack([X["x"], signal(X) % 1.0]), y
    return X, y


def made(task: str, name: str, rounds: int = ROUNDS, **more: Any) -> Any:
    kind: Any = weald.BoostedTreesRegressor if task == "numbers" else weald.BoostedTreesClassifier
    given: dict[str, Any] = {"n_estimators": rounds, "n_jobs": 1, "random_state": 3, **SETTINGS[name], **more}
    if not isinstance(given.get("booster"), Linear):
        given = {"min_samples_leaf": 5, **given}
    return kind(**given)


def interrupted(model: Any, path: Path, after: int, *given: Any, **fit: Any) -> None:
    """Train until a callback is interrupted after some round."""

    def stop(state: Any) -> None:
        if state.number == after:
            raise KeyboardInterrupt

    callbacks = [*fit.pop("callbacks", ()), Checkpoint(path, every=EVERY), stop]
    with pytest.raises(KeyboardInterrupt):
        model.fit(*given, callbacks=callbacks, **fit)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_checkpoint_goes_on_to_the_same_bytes(name: str, task: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    X, y = data(task, table(), SETTINGS[name].get("booster"))
    other = data(task, table(1, 150), SETTINGS[name].get("booster"))
    weight = np.random.default_rng(4).integers(0, 3, len(y)).astype(float)
    fit: dict[str, Any] = {"sample_weight": weight, "eval_set": [other]}
    whole = made(task, name).fit(X, y, **fit)
    interrupted(made(task, name), path, EVERY + 1, X, y, **fit)
    resumed = made(task, name).fit(X, y, resume_from=path, **fit)
    assert to_bytes(resumed, resumed._model) == to_bytes(whole, whole._model)
    assert resumed.history_ == whole.history_
    # The file is a model of its own: that of so many rounds.
    loaded, short = weald.load(path), made(task, name, EVERY).fit(X, y, **fit)
    assert type(loaded) is type(whole)
    assert loaded._model.predictor.n_rounds == EVERY
    assert loaded.predict(other[0]).tobytes() == short.predict(other[0]).tobytes()
    assert loaded._raw(X).tobytes() == short._raw(X).tobytes()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_checkpoint_of_a_resumed_fit_is_that_of_one_which_was_not_interrupted(
    name: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.weald", tmp_path / "second.weald"
    X, y = data("numbers", table(), SETTINGS[name].get("booster"))
    made("numbers", name, 3 * EVERY).fit(X, y, callbacks=[Checkpoint(first, every=EVERY)])
    interrupted(made("numbers", name, 3 * EVERY), second, EVERY, X, y)
    interrupted(made("numbers", name, 3 * EVERY), second, 2 * EVERY, X, y, resume_from=second)
    made("numbers", name, 3 * EVERY).fit(
        X, y, resume_from=second, callbacks=[Checkpoint(second, every=EVERY)]
    )
    assert second.read_bytes() == first.read_bytes()


def best_at(model: Any, X: Any) -> tuple[Any, ...]:
    """An evaluation set that no model fits better than a given one: its own predictions, of classes as weights of each."""
    if not hasattr(model, "classes_"):
        return X, model.predict(X)
    classes = model.classes_
    several = (
        pd.concat([X] * len(classes)) if isinstance(X, pd.DataFrame) else np.concatenate([X] * len(classes))
    )
    return several, np.repeat(classes, len(X)), model.predict_proba(X).T.ravel()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", SETTINGS)
def test_early_stopping_stops_a_resumed_fit_where_it_stops_the_whole_one(
    name: str, task: str, tmp_path: Path
) -> None:
    path, best = tmp_path / "checkpoint.weald", 6
    X, y = data(task, table(), SETTINGS[name].get("booster"))
    other, _ = data(task, table(1, 150), SETTINGS[name].get("booster"))
    fit = {"eval_set": [best_at(made(task, name, best).fit(X, y), other)]}
    settings: dict[str, Any] = {"rounds": 30, "early_stopping_rounds": 3}
    whole = made(task, name, **settings).fit(X, y, **fit)
    assert whole.best_iteration_ == best - 1
    assert whole._model.predictor.n_rounds == best
    interrupted(made(task, name, **settings), path, EVERY, X, y, **fit)
    resumed = made(task, name, **settings).fit(X, y, resume_from=path, **fit)
    assert [len(curve) for curve in resumed.history_["valid_0"].values()] == [best + 3]
    assert resumed.history_ == whole.history_
    assert to_bytes(resumed, resumed._model) == to_bytes(whole, whole._model)


@pytest.mark.parametrize("name", [*WITH_STATISTICS, "ordered"])
def test_a_checkpoint_holds_what_the_model_alone_does_not_tell_and_a_model_file_does_not(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.weald"
    X, y = data("numbers", table())
    model = made("numbers", name, EVERY).fit(X, y, callbacks=[Checkpoint(path, every=EVERY)])
    assert "interruption" in unpack(path.read_bytes()).header
    model.save(tmp_path / "model.weald")
    assert "interruption" not in unpack((tmp_path / "model.weald").read_bytes()).header
    loaded = weald.load(path)
    assert to_bytes(loaded, loaded._model) == to_bytes(model, model._model)


@pytest.mark.parametrize("name", ["plain", "dart", "linear", "ordered", "statistics, ordered"])
def test_a_damaged_checkpoint_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    X, y = data("numbers", table(), SETTINGS[name].get("booster"))
    made("numbers", name, EVERY).fit(X, y, callbacks=[Checkpoint(path, every=EVERY)])
    whole = path.read_bytes()
    places = [0, 9, len(whole) // 3, len(whole) // 2, len(whole) - 9]
    damaged = [whole[: len(whole) // 2], whole + b"x", b""]
    damaged += [whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :] for place in places]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ModelFileError):
            made("numbers", name).fit(X, y, resume_from=path)
        with pytest.raises(ModelFileError):
            weald.load(path)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_checkpoint_goes_on_only_with_its_own_rows_and_parameters(name: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    X, y = data("numbers", table(), SETTINGS[name].get("booster"))
    made("numbers", name, EVERY).fit(X, y, callbacks=[Checkpoint(path, every=EVERY)])
    with pytest.raises(InputError, match="resume_from"):
        made("numbers", name).fit(X, y + 1.0, resume_from=path)
    with pytest.raises(InputError, match="random_state"):
        made("numbers", name, random_state=4).fit(X, y, resume_from=path)
    if name in (*WITH_STATISTICS, "ordered"):  # which know the scores of every row
        twice = pd.concat([X, X], ignore_index=True)
        with pytest.raises(InputError, match="resume_from needs the 400 rows of the interrupted fit, but X has 800"):
            made("numbers", name).fit(twice, np.concatenate([y, y]), resume_from=path)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_warm_start_adds_rounds_and_its_file_predicts_the_same(
    name: str, task: str, tmp_path: Path
) -> None:
    X, y = data(task, table(), SETTINGS[name].get("booster"))
    other = data(task, table(1, 150), SETTINGS[name].get("booster"))
    model = made(task, name, EVERY, warm_start=True).fit(X, y, eval_set=[other])
    before, scores = model._model, model._raw(X)
    model.set_params(n_estimators=ROUNDS).fit(X, y, eval_set=[other])
    assert model._model.predictor.n_rounds == ROUNDS
    assert [len(curve) for curve in model.history_["valid_0"].values()] == [ROUNDS]
    curve = next(iter(model.history_["valid_0"].values()))
    assert curve[:EVERY] == next(iter(before.history["valid_0"].values()))
    if "dart" not in name and name not in (
        "averaging",
        "linear",
    ):  # whose later rounds change the earlier ones
        kept = model._model.predictor.first(EVERY)
        rows = model._read(X)
        from weald.forest.predict import raw_scores

        assert raw_scores(kept, rows.blocks(), rows.n_rows).tobytes() == scores.tobytes()
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert loaded._raw(other[0]).tobytes() == model._raw(other[0]).tobytes()
    again = made(task, name, EVERY, warm_start=True).fit(X, y).set_params(n_estimators=ROUNDS).fit(X, y)
    assert again._raw(X).tobytes() == model._raw(X).tobytes()


@pytest.mark.parametrize(
    "name", [name for name in SETTINGS if name not in WITH_STATISTICS and name != "ordered"]
)
def test_a_warm_start_on_the_same_rows_is_training_in_one_go(name: str) -> None:
    X, y = data("numbers", table(), SETTINGS[name].get("booster"))
    whole = made("numbers", name).fit(X, y)
    halves = made("numbers", name, EVERY, warm_start=True).fit(X, y).set_params(n_estimators=ROUNDS).fit(X, y)
    assert to_bytes(halves, halves._model) == to_bytes(whole, whole._model)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "linear"])
def test_a_warm_start_learns_from_another_batch_with_other_categories(
    name: str, task: str, tmp_path: Path
) -> None:
    """Towns and shops that the first batch has not are missing values, and some of the first are not there any more."""
    first, y = data(task, table(0, 500, range(6), range(20)))
    second, later_y = data(task, table(1, 500, range(3, 12), range(10, 40)))
    model = made(task, name, EVERY, warm_start=True).fit(first, y)
    before, schema = model._raw(first), model._model.schema
    model.set_params(n_estimators=4 * EVERY).fit(second, later_y, eval_set=[(first, y)])
    assert model._model.predictor.n_rounds == 4 * EVERY
    assert model._model.schema == schema
    if changes_only_by_adding(name):
        assert first_scores(model, first, EVERY).tobytes() == before.tobytes()
    unknown = second.assign(
        **{column: known_or_missing(second, first, column) for column in ("town", "shop")}
    )
    assert model._raw(second).tobytes() == model._raw(unknown).tobytes()
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    for X in (first, second, table(7, 90)):
        assert loaded._raw(X).tobytes() == model._raw(X).tobytes()
    # The evaluation set was scored by the model as it is, the old trees and the new.
    ((metric, curve),) = model.history_["valid_0"].items()
    labels = model._labels(y, len(y), None)
    value = make_metric(metric, labels.loss)(labels.y, labels.loss.respond(model._raw(first)))
    assert curve[-1] == pytest.approx(value, rel=1e-9)
    assert np.isnan(curve[:EVERY]).all() and not np.isnan(curve[EVERY:]).any()


def changes_only_by_adding(name: str) -> bool:
    """Whether the rounds that are there stay as they are when others are added."""
    return "dart" not in name and name not in ("averaging", "linear")


def first_scores(model: Any, X: Any, rounds: int) -> Any:
    """Raw scores of the first rounds alone."""
    rows = model._read(X)
    return raw_scores(model._model.predictor.first(rounds), rows.blocks(), rows.n_rows)


def known_or_missing(X: pd.DataFrame, known: pd.DataFrame, column: str) -> Any:
    return pd.Categorical(X[column].where(X[column].isin(set(known[column]))))


@pytest.mark.parametrize("name", [*WITH_STATISTICS, "plain", "ordered"])
def test_a_warm_start_on_other_rows_can_be_interrupted_and_go_on_to_the_same_bytes(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.weald"
    X = table()
    order = np.random.default_rng(1).permutation(len(X))
    # Other labels, and rows of the same categories: a checkpoint is checked by these, and by the first score.
    first, second = (X, signal(X)), (X.iloc[order].reset_index(drop=True), signal(X)[order] ** 1.5)

    def started() -> Any:
        model = made("numbers", name, 2, warm_start=True, base_score=3.0).fit(*first)
        return model.set_params(n_estimators=ROUNDS)

    whole = started().fit(*second)
    interrupted(started(), path, EVERY + 1, *second)
    resumed = made("numbers", name, base_score=3.0).fit(*second, resume_from=path)
    assert to_bytes(resumed, resumed._model) == to_bytes(whole, whole._model)


@pytest.mark.parametrize("name", WITH_STATISTICS)
def test_trees_of_statistics_go_on_without_them_and_trees_without_go_on_with_them(
    name: str, tmp_path: Path
) -> None:
    X, y = data("numbers", table())
    for first, second in ((name, "plain"), ("plain", name), (name, "sets of categories")):
        model = made("numbers", first, EVERY, warm_start=True).fit(X, y)
        before = model._raw(X)
        other = {key: value for key, value in made("numbers", second).get_params(deep=False).items()}
        model.set_params(**{**other, "warm_start": True}).fit(X, y)
        assert first_scores(model, X, EVERY).tobytes() == before.tobytes()
        assert model._model.predictor.n_rounds == ROUNDS
        model.save(tmp_path / "model.weald")
        assert weald.load(tmp_path / "model.weald")._raw(X).tobytes() == model._raw(X).tobytes()
        assert model.score(X, y) > weald.BoostedTreesRegressor(n_estimators=1).fit(X, y).score(X, y)
