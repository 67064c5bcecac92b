"""Composite model files: what comes back, what is refused, and that nothing damaged is accepted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

import weald
from unit.forest.factories import craft, mutate, sign, split_file
from weald import BoostedTreesRegressor, InputError, ModelFileError, NotSupportedError
from weald.estimators.shared import registry
from weald.estimators.shared.composite import MAXIMUM_DEPTH, Composite, composite_bytes, composite_parts
from weald.forest.container import pack, unpack

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + X[:, 1]


class Sum(Composite, BaseEstimator):  # type: ignore[misc]
    """The sum of its members, as small as a composite can be."""

    def __init__(self, estimators: Any = (), cv: Any = None, n_jobs: Any = None) -> None:
        self.estimators = estimators
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Sum:
        self.members_ = [(name, member.fit(X, y)) for name, member in self.estimators]
        self.extra_: dict[str, Any] = {}
        return self

    def predict(self, X: Any) -> Any:
        return sum(member.predict(X) for _, member in self.members_)

    def _composite_parts(self) -> Any:
        return self.members_, self.extra_

    @classmethod
    def _from_composite(cls, params: Any, members: Any, extra: Any) -> Sum:
        loaded = cls(members, **params)
        loaded.members_, loaded.extra_ = members, extra
        return loaded


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.HOMES, "Sum", __name__)


def trees(seed: int = 0) -> BoostedTreesRegressor:
    return BoostedTreesRegressor(n_estimators=2, subsample=0.5, min_samples_leaf=5, random_state=seed)


def fitted(extra: dict[str, Any] | None = None, **params: Any) -> Sum:
    model = Sum([("first", trees(0)), ("second", trees(1))], **params).fit(X, Y)
    model.extra_ = extra or {}
    return model


def read(data: bytes) -> Any:
    return registry.estimator_of(unpack(data))


def test_a_composite_comes_back_with_its_members_and_the_same_bytes(tmp_path: Path) -> None:
    model = fitted(cv=3, n_jobs=2)
    model.save(tmp_path / "sum.weald")
    loaded = weald.load(tmp_path / "sum.weald")
    assert isinstance(loaded, Sum)
    assert (loaded.cv, loaded.n_jobs) == (3, None)
    assert [name for name, _ in loaded.members_] == ["first", "second"]
    assert np.array_equal(loaded.predict(X), model.predict(X))
    loaded.save(tmp_path / "again.weald")
    assert (tmp_path / "again.weald").read_bytes() == (tmp_path / "sum.weald").read_bytes()


def test_the_number_of_threads_does_not_change_the_bytes() -> None:
    assert fitted(n_jobs=1)._to_bytes() == fitted(n_jobs=2)._to_bytes()


def test_data_and_arrays_of_every_kind_come_back() -> None:
    extra = {
        "weights": np.array([[0.25, np.nan], [np.inf, 0.0]]),
        "counts": np.arange(3, dtype=np.int32),
        "classes": np.array(["no", "ja"]),
        "flags": np.array([True, False]),
        "names": np.array(["ä", "b"], dtype=object),
        "nothing": np.zeros((0, 4)),
        "number": np.array(2.5),
        "data": {"a": [1, None, float("-inf")], 3: "x"},
        "text": "t",
    }
    loaded = read(fitted(extra)._to_bytes()).extra_
    assert loaded.keys() == extra.keys()
    for name, value in extra.items():
        if isinstance(value, np.ndarray):
            assert loaded[name].dtype == value.dtype and loaded[name].shape == value.shape
            np.testing.assert_array_equal(loaded[name], value)
        else:
            assert loaded[name] == value


def test_an_array_that_no_file_can_hold_is_named() -> None:
    with pytest.raises(InputError, match=r"^when is an array of datetime64"):
        fitted({"when": np.array(["2020-01-01"], "M8[D]")})._to_bytes()


def test_an_object_among_the_parameters_comes_back_as_its_description() -> None:
    assert read(fitted(cv=KFold(3))._to_bytes()).cv.startswith("KFold(n_splits=3")


def test_composites_can_be_nested() -> None:
    model = Sum([("inner", Sum([("deepest", fitted()), ("tree", trees())])), ("tree", trees(3))]).fit(X, Y)
    data = model._to_bytes()
    loaded = read(data)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded._to_bytes() == data


def test_members_nested_without_end_are_refused() -> None:
    model = fitted()
    for _ in range(MAXIMUM_DEPTH - 1):
        outer = Sum()
        outer.members_, outer.extra_ = [("inner", model)], {}
        model = outer
    assert read(model._to_bytes()).members_[0][0] == "inner"
    with pytest.raises(InputError, match="nested 21 deep"):
        composite_bytes(Sum(), [("inner", model)], {})


def test_a_member_that_is_not_ours_is_named_and_so_is_the_way_out(tmp_path: Path) -> None:
    model = Sum([("tree", trees()), ("line", LinearRegression())]).fit(X, Y)
    with pytest.raises(NotSupportedError) as caught:
        model.save(tmp_path / "sum.weald")
    assert str(caught.value) == (
        "member 'line' is a LinearRegression, which is not an estimator of Weald's; "
        "a model file holds only those: use joblib or pickle for this model."
    )
    assert not list(tmp_path.iterdir())


def test_a_class_of_the_users_own_is_not_saved_under_a_name_that_nobody_knows() -> None:
    class MyTrees(BoostedTreesRegressor):
        pass

    with pytest.raises(NotSupportedError, match="member 'mine' is a MyTrees"):
        composite_bytes(Sum(), [("mine", MyTrees(n_estimators=1).fit(X, Y))], {})


def test_no_mutant_of_a_composite_is_accepted_and_none_crashes() -> None:
    data = fitted({"weights": np.array([0.5, 0.5])})._to_bytes()
    generator = random.Random(5)
    refused = 0
    while refused < 400:
        mutant = mutate(data, generator)
        if mutant == data:
            continue
        with pytest.raises(ModelFileError):
            read(mutant)
        refused += 1


def test_a_mutant_signed_anew_is_refused_or_predicts() -> None:
    data = fitted({"weights": np.array([0.5, 0.5]), "classes": np.array(["a", "b"])})._to_bytes()
    generator = random.Random(6)
    accepted = 0
    for _ in range(400):
        mutant = mutate(data, generator)
        if len(mutant) > 8:
            mutant = sign(mutant)
        try:
            loaded = read(mutant)
        except ModelFileError:
            continue
        accepted += 1
        loaded.predict(X)
    assert accepted < 200


def edited(change: Any, data: bytes | None = None) -> bytes:
    """A composite's file with its header changed, signed anew."""
    text, arrays = split_file(data or fitted({"weights": np.array([0.5, 0.5])})._to_bytes())
    table = json.loads(text)
    metadata = json.loads(table["__metadata__"]["weald"])
    change(metadata["header"])
    table["__metadata__"]["weald"] = json.dumps(metadata, sort_keys=True, separators=(",", ":"))
    spelled = json.dumps(table, separators=(",", ":")).encode()
    return sign(len(spelled).to_bytes(8, "little") + spelled + arrays)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda header: header.update(estimator="Product"), "'Product', which this Weald does not know"),
        (lambda header: header.update(estimator=["Sum"]), "estimator must be a name"),
        (lambda header: header.update(estimator="BoostedTreesRegressor"), "fields of a boosted model"),
        (lambda header: header.pop("depth"), "fields of a composite"),
        (lambda header: header.update(depth=0), "Member 'first': it is nested deeper"),
        (lambda header: header.update(depth=10**6), "depth must be"),
        (lambda header: header.update(depth=True), "depth must be"),
        (lambda header: header.update(members="ab"), "members must be a list of names"),
        (lambda header: header.update(members=["first"]), "arrays: 'member.1'"),
        (lambda header: header.update(members=["a", "b", "c"]), "arrays: 'member.2'"),
        (lambda header: header.update(params=[]), "must be dictionaries"),
        (lambda header: header["params"].update(color=1), "no parameter 'color'"),
        (lambda header: header["params"].update(n_jobs=1), "no parameter 'n_jobs'"),
        (lambda header: header["params"].update(estimators=[]), "no parameter 'estimators'"),
        (lambda header: header["params"].update(cv={"call": "f"}), "not in a known form"),
        (lambda header: header.update(extra={}), "arrays: 'extra.weights'"),
        (lambda header: header["extra"].update(weights=1), "'weights' is not in a known form"),
        (lambda header: header["extra"].update(weights={"array": "float64"}), "a type and a shape"),
        (lambda header: header["extra"].update(weights={"array": [[], [2]]}), "a type and a shape"),
        (lambda header: header["extra"].update(weights={"array": ["float64", [-1]]}), "a type and a shape"),
        (lambda header: header["extra"].update(weights={"array": ["float64", [3]]}), "the shape"),
        (lambda header: header["extra"].update(weights={"array": ["int64", [2]]}), "F64 instead of I64"),
        (lambda header: header["extra"].update(names={"labels": {"dtype": "U3"}}), "names must have a dtype"),
        (lambda header: header["extra"].update(names={"labels": {"dtype": "?", "values": [None]}}), "names"),
    ],
)
def test_signed_headers_with_wrong_values_are_refused(change: Any, match: str) -> None:
    with pytest.raises(ModelFileError, match=match) as caught:
        read(edited(change))
    assert "\n" not in str(caught.value)


def test_a_damaged_member_in_a_signed_file_is_named() -> None:
    text, arrays = split_file(fitted()._to_bytes())
    broken = sign(len(text).to_bytes(8, "little") + text.encode() + arrays[:-1] + bytes([arrays[-1] ^ 1]))
    with pytest.raises(ModelFileError, match=r"Member 'second': .*checksum"):
        read(broken)


def test_the_path_of_a_damaged_file_is_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "sum.weald"
    path.write_bytes(edited(lambda header: header.update(depth=0)))
    with pytest.raises(ModelFileError, match=r"sum\.weald': Member 'first'"):
        weald.load(path)


def test_a_forest_that_calls_itself_a_composite_is_refused() -> None:
    data = edited(lambda header: header.update(estimator="Sum"), trees().fit(X, Y)._to_bytes())
    with pytest.raises(ModelFileError, match="unknown keys: 'n_features', 'n_outputs'"):
        read(data)


def test_a_reader_sees_the_parts_as_they_were_given() -> None:
    params, members, extra = composite_parts(unpack(fitted({"weights": np.ones(2)}, cv=4)._to_bytes()))
    assert params == {"cv": 4}
    assert [name for name, _ in members] == ["first", "second"]
    assert extra["weights"].tolist() == [1.0, 1.0]


def test_other_arrays_than_those_of_the_header_are_refused() -> None:
    metadata = {"format": 2, "header": {}, "sha256": "0" * 64, "version": "0.1.0"}
    with pytest.raises(ModelFileError, match="estimator must be a name"):
        read(craft({"member.0": np.zeros(3, np.uint8)}, metadata))


def _with_header(data: bytes, change: Any) -> bytes:
    """The file with another header under a right checksum."""
    content = unpack(data)
    described = {name: entry["array"] for name, entry in content.header["extra"].items() if "array" in entry}
    types = {f"extra.{name}": np.dtype(kind) for name, (kind, _) in described.items()}
    members = {f"member.{place}": np.dtype(np.uint8) for place in range(len(content.header["members"]))}
    arrays = content.arrays(types | members)
    header = json.loads(json.dumps(content.header))
    change(header)
    return pack(2, header, content.fields, arrays)


def _widened(header: Any) -> None:
    header["extra"]["n_chosen"] = {"value": 3_000_000_000}


def _wide_labels(header: Any) -> None:
    header["extra"]["classes"]["labels"]["dtype"] = "<U400000000"


def _odd_type(header: Any) -> None:
    header["extra"]["classes"]["labels"]["dtype"] = "f8)"


def _many_models(header: Any) -> None:
    header["extra"]["layers"]["value"][0][0][2] = 10**12


def _many_columns(header: Any) -> None:
    header["extra"]["widths"]["value"][0] = 10**12


def _other_choice(header: Any) -> None:
    header["params"]["cv"] = {"choice": "Goss", "params": {}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_widened, "was given 3000000000"),
        (_wide_labels, "do not have the type '<U400000000'"),
        (_odd_type, "do not have the type 'f8\\)'"),
        (_many_models, "not as many models as it says"),
        (_many_columns, "more columns than the final estimator"),
        (_other_choice, "the choice 'Goss' as cv"),
    ],
)
def test_a_small_file_cannot_ask_for_more_than_it_holds(tmp_path: Path, change: Any, said: str) -> None:
    labels = np.where(Y > 0, "yes", "no")
    tree = weald.DecisionTreeClassifier(max_depth=2)
    model: Any = weald.BaggingClassifier(n_estimators=2, bootstrap_features=True)
    if change in (_many_models, _many_columns, _other_choice):
        model = weald.StackingClassifier([("tree", tree)], weald.BoostedTreesClassifier(n_estimators=2), cv=2)
    path = tmp_path / "model.weald"
    model.fit(X, labels).save(path)
    path.write_bytes(_with_header(path.read_bytes(), change))
    with pytest.raises(ModelFileError, match=said):
        weald.load(path)
