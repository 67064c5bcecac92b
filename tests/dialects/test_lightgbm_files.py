"""A Dataset of weald.lightgbm from a file: the same model as from arrays, and the same reading as LightGBM's own."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald.lightgbm as lgb
import weald.xgboost as xgb
from weald.runtime.errors import InputError, NotSupportedError

rng = np.random.default_rng(4)
X = np.round(rng.standard_normal((90, 4)), 3)
X[::7, 2] = np.nan
X[:, 3] = rng.integers(0, 4, 90)
Y = np.round(2.0 * X[:, 0] + X[:, 3], 3)
W = rng.integers(1, 4, 90).astype(np.float64)
PARAMS: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 4}


def write(path: Path, columns: Any, separator: str = ",", names: str = "", missing: str = "na") -> Path:
    rows = [separator.join(missing if cell != cell else repr(float(cell)) for cell in row) for row in columns]
    path.write_text("\n".join([names.replace(",", separator), *rows][not names :]) + "\n")
    return path


def write_svm(path: Path, table: Any) -> Path:
    lines = (" ".join(f"{at}:{cell!r}" for at, cell in enumerate(row) if cell) for row in table.tolist())
    path.write_text("".join(f"{label!r} {line}\n" for label, line in zip(Y.tolist(), lines, strict=True)))
    return path


def model(data: lgb.Dataset, **params: Any) -> str:
    return lgb.train({**PARAMS, **params}, data, 4).model_to_string()


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.txt", "\t")])
@pytest.mark.parametrize("missing", ["na", "", "NaN", "NULL"])
def test_a_file_gives_the_model_of_its_arrays(
    tmp_path: Path, name: str, separator: str, missing: str
) -> None:
    path = write(tmp_path / name, np.column_stack([Y, X]), separator, missing=missing)
    assert model(lgb.Dataset(path)) == model(lgb.Dataset(str(path))) == model(lgb.Dataset(X, Y))


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", np.column_stack([Y, X]))
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert model(lgb.Dataset(packed)) == model(lgb.Dataset(X, Y))


CASES: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"label_column": 3}),
    ("", {"label_column": 3, "weight_column": 1}),
    ("", {"label_column": "0", "weight_column": "0"}),
    ("y,w,a,b,c,d", {"header": True}),
    ("y,w,a,b,c,d", {"header": True, "label_column": "name:y", "weight_column": "name:w"}),
    (
        "y,w,a,b,c,d",
        {"has_header": "true", "label": "name:y", "weight": "name:w", "ignore_column": "name:a,d"},
    ),
    ("y,w,a,b,c,d", {"header": True, "label_column": "name:w", "ignore_feature": "0,2"}),
]


@pytest.mark.parametrize(("names", "params"), CASES)
def test_columns_are_those_of_lightgbm(tmp_path: Path, names: str, params: dict[str, Any]) -> None:
    theirs = pytest.importorskip("lightgbm")
    path = write(tmp_path / "a.csv", np.column_stack([Y, W, X]), names=names)
    data = lgb.Dataset(path, params=params)
    other = theirs.Dataset(str(path), params={**params, "verbosity": -1}).construct()
    assert (data.num_data(), data.num_feature()) == (other.num_data(), other.num_feature())
    assert data.get_feature_name() == other.get_feature_name()
    assert np.array_equal(data.get_label(), other.get_label())
    if "weight_column" in params or "weight" in params:
        assert np.array_equal(data.get_weight(), other.get_weight())
    assert data.get_weight() is None or other.get_weight() is not None


def test_weights_and_ignored_columns_keep_their_place_and_are_never_split(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", np.column_stack([Y, W, X]), names="y,w,a,b,c,d")
    params = {"header": True, "weight_column": "name:w", "ignore_column": "name:a"}
    booster = lgb.train(PARAMS, lgb.Dataset(path, params=params), 4)
    used = booster.feature_importance("split")
    assert booster.feature_name() == ["w", "a", "b", "c", "d"]
    assert used[0] == used[1] == 0 < used[4]
    table = X.copy()
    table[:, 0] = 0.0
    assert np.array_equal(
        lgb.train(PARAMS, lgb.Dataset(table, Y, weight=W), 4).predict(table),
        booster.predict(path, data_has_header=True),
    )


@pytest.mark.parametrize("chosen", [[3], ["d"], "name:d"])
def test_categories_by_number_and_by_name(tmp_path: Path, chosen: Any) -> None:
    path = write(tmp_path / "a.csv", np.column_stack([Y, X]), names="y,a,b,c,d")
    params, given = {"header": True, "min_data_per_group": 5}, {}
    if isinstance(chosen, str):
        params["categorical_feature"] = chosen
    else:
        given = {"categorical_feature": chosen}
    arrays = lgb.Dataset(X, Y, feature_name=list("abcd"), params=params, **given)
    assert lgb.Dataset(path, params=params, **given).declared({}) == arrays.declared({}) == [3]
    found = [
        lgb.train(
            {**PARAMS, "min_data_per_group": 5},
            lgb.Dataset(data, label, params={**params, "header": head}, feature_name=names, **given),
            3,
        )
        for data, label, head, names in ((path, None, True, "auto"), (X, Y, False, list("abcd")))
    ]
    assert np.array_equal(found[0].predict(X), found[1].predict(X))


def test_files_beside_a_file_as_lightgbm_reads_them(tmp_path: Path) -> None:
    theirs = pytest.importorskip("lightgbm")
    path = write(tmp_path / "a.csv", np.column_stack([Y, X]))
    (tmp_path / "a.csv.weight").write_text("".join(f"{one}\n" for one in W))
    (tmp_path / "a.csv.init").write_text("".join(f"{one}\n" for one in Y / 2))
    data = lgb.Dataset(path)
    other = theirs.Dataset(str(path), params={"verbosity": -1}).construct()
    assert np.array_equal(data.get_weight(), other.get_weight())
    assert np.allclose(
        data.get_init_score(), other.get_init_score(), rtol=1e-15
    )  # LightGBM rounds what it reads
    assert model(data) == model(lgb.Dataset(X, Y, weight=W, init_score=Y / 2))
    assert np.array_equal(lgb.Dataset(path, weight=W + 1).get_weight(), W + 1)
    (tmp_path / "a.csv.init").write_text("".join(f"{one}\t{one + 1}\n" for one in Y))
    assert np.array_equal(lgb.Dataset(path).get_init_score(), np.column_stack([Y, Y + 1]))
    (tmp_path / "a.csv.query").write_text("90\n")
    with pytest.raises(NotSupportedError, match=r"a\.csv\.query.* is of ranking"):
        lgb.Dataset(path)


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm", "a.txt"])
def test_libsvm_counts_from_0_and_zeros_are_not_missing(tmp_path: Path, name: str) -> None:
    theirs = pytest.importorskip("lightgbm")
    table = np.where(np.abs(X) < 0.5, 0.0, np.nan_to_num(X))
    path = write_svm(tmp_path / name, table)
    data = lgb.Dataset(path)
    assert model(data) == model(lgb.Dataset(scipy.sparse.csr_matrix(table), Y))
    other = theirs.Dataset(str(path), params={"verbosity": -1}).construct()
    assert (data.num_feature(), data.get_feature_name()) == (other.num_feature(), other.get_feature_name())
    short = tmp_path / "short.svm"
    short.write_text("1.5 0:2\n2 1:3\n")
    assert lgb.Dataset(short, reference=data).num_feature() == 4
    booster = lgb.train(PARAMS, data, 3)
    assert np.array_equal(booster.predict(path), booster.predict(table))
    assert np.array_equal(booster.predict(short), booster.predict([[2.0, 0, 0, 0], [0, 3.0, 0, 0]]))
    short.write_text("0:2\n1:3\n")
    assert np.array_equal(booster.predict(short), booster.predict([[2.0, 0, 0, 0], [0, 3.0, 0, 0]]))


def test_predictions_and_valid_sets_of_files(tmp_path: Path) -> None:
    labelled = write(tmp_path / "a.csv", np.column_stack([Y, X]))
    plain = write(tmp_path / "plain.csv", X, names="a,b,c,d")
    last = write(tmp_path / "last.csv", np.column_stack([X, Y]))
    train = lgb.Dataset(labelled)
    found: dict[str, Any] = {}
    booster = lgb.train(
        PARAMS, train, 3, [train.create_valid(labelled)], callbacks=[lgb.record_evaluation(found)]
    )
    assert len(found["valid_0"]["l2"]) == 3
    for path, head in ((labelled, False), (plain, True)):
        assert np.array_equal(booster.predict(path, data_has_header=head), booster.predict(X))
    other = lgb.train(PARAMS, lgb.Dataset(last, params={"label_column": 4}), 3)
    other = lgb.Booster(model_str=other.model_to_string())
    assert np.array_equal(other.predict(last), booster.predict(X))
    with pytest.raises(InputError, match=r"has the columns \['a', 'b', 'c', 'd'\]"):
        booster.predict(plain, data_has_header=True, validate_features=True)
    with pytest.raises(InputError, match="has 6 columns, but the model was trained with 4"):
        booster.predict(write(tmp_path / "wide.csv", np.column_stack([X, Y, Y])))
    named = write(tmp_path / "named.csv", np.column_stack([X, Y]), names="a,b,c,d,y")
    train = lgb.Dataset(named, params={"header": True, "label_column": "name:y"})
    assert np.array_equal(train.create_valid(named).get_label(), train.get_label())
    assert len(lgb.cv(PARAMS, train, 2, nfold=2, stratified=False)["valid l2-mean"]) == 2


def test_a_binary_file_has_everything(tmp_path: Path) -> None:
    path = tmp_path / "train.bin"
    data = lgb.Dataset(
        X,
        Y,
        weight=W,
        init_score=Y / 3,
        feature_name=list("abcd"),
        categorical_feature=["d"],
        params={"max_bin": 9},
    )
    assert data.save_binary(path) is data
    first = path.read_bytes()
    again = lgb.Dataset(path)
    assert (again.get_feature_name(), again.get_params(), again.declared({})) == (
        list("abcd"),
        {"max_bin": 9},
        [3],
    )
    assert model(again, max_bin=9, min_data_per_group=5) == model(data, max_bin=9, min_data_per_group=5)
    again.save_binary(path)
    assert path.read_bytes() == first
    sparse = lgb.Dataset(scipy.sparse.csr_matrix(np.nan_to_num(X)), Y).save_binary(path)
    assert model(lgb.Dataset(str(path))) == model(sparse)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="which save_binary has not written"):
        lgb.Dataset(path)
    xgb.DMatrix(X, Y).save_binary(path)
    with pytest.raises(InputError, match="it holds something else"):
        lgb.Dataset(path)
    pd = pytest.importorskip("pandas")
    frame = lgb.Dataset(pd.DataFrame(X, columns=list("abcd")), Y).save_binary(path)
    assert lgb.Dataset(path).get_feature_name() == list("abcd")
    found = [lgb.train(PARAMS, data, 3).predict(X) for data in (frame, lgb.Dataset(path))]
    assert np.array_equal(*found)
    with pytest.raises(NotSupportedError, match="has categories"):
        lgb.Dataset(pd.DataFrame({"a": pd.Categorical(["x", "y"])})).save_binary(path)


@pytest.mark.parametrize(
    ("text", "params", "sentence"),
    [
        ("1,2\n2,x\n", {}, "line 2 of .* has 'x' in column 1, which is no number"),
        ("y,a\n1,2\n", {}, "line 1 of .* has 'y' in column 0"),
        ("1,2\n2,1_0\n", {}, "'1_0' in column 1"),
        ("1,2,3\n2,3\n", {}, "line 2 of .* has 2 cells, but those before it have 3"),
        ("1 2\n3 4\n", {}, "neither CSV, TSV nor libsvm"),
        ("", {}, "has no rows"),
        ("y,a\n", {"header": True}, "has no rows"),
        ("y,a,b\n1,2\n", {"header": True}, "has 2 cells, but its header has 3 names"),
        ("1,2\n", {"label_column": 2}, "label_column=2 is none of the 2 columns"),
        ("1,2\n", {"label_column": "name:y"}, "names need header=True"),
        ("y,a\n1,2\n", {"header": True, "label_column": "name:z"}, "it has y, a"),
        ("y,a\n1,2\n", {"header": True, "weight_column": "name:y"}, "holds the labels"),
        ("1,2\n", {"weight_column": -1}, "weight_column=-1 is none"),
        ("1,2\n", {"group_column": 0}, "group_column is not supported"),
        ("1 0:2\n2 a:3\n", {}, "line 2 of .* is not of the libsvm format: '2 a:3'"),
        ("1 qid:3 0:2\n", {}, "qid is of ranking"),
        ("0:2 1:3\n", {}, "must begin with labels"),
        ("1 -1:2\n", {}, "a column below the first one"),
        ("1 0:2\n", {"weight_column": 1}, "weight_column is of CSV and TSV"),
        ("______LightGBM_Binary_File_Token______\n", {}, "a binary file of LightGBM's"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    tmp_path: Path, text: str, params: Any, sentence: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(lgb.LightGBMError, match=sentence):
        lgb.Dataset(path, params=params)


def test_what_is_no_file_and_what_comes_too_late(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        lgb.Dataset(tmp_path / "none.csv")
    with pytest.raises(NotSupportedError, match="a BlockStore holds bins"):
        lgb.Dataset(tmp_path)
    path = write(tmp_path / "a.csv", np.column_stack([Y, X]))
    with pytest.raises(InputError, match="label_column=2 comes too late"):
        model(lgb.Dataset(path), label_column=2)
    assert model(lgb.Dataset(path, params={"label_column": 2}), label_column=2)
    with pytest.warns(UserWarning, match="header=True changes nothing"):
        lgb.train({**PARAMS, "verbosity": 0, "header": True}, lgb.Dataset(X, Y), 1)
    (tmp_path / "a.csv.weight").write_text("weight\n1\n")
    with pytest.raises(InputError, match=r"line 1 of '.*a\.csv\.weight' has 'weight'"):
        lgb.Dataset(path)
