"""What a foreign model is, by its file or its object, and the reader that it takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from weald.exchange.exchanged import ExchangedModel
from weald.exchange.foreign.catboost_format import catboost_model
from weald.exchange.foreign.lightgbm_format import lightgbm_dump, lightgbm_model
from weald.exchange.foreign.model import ForeignModel
from weald.exchange.foreign.onnx_format import onnx_model
from weald.exchange.foreign.reading import json_of
from weald.exchange.foreign.scikit import scikit_model
from weald.exchange.foreign.treelite_format import treelite_model
from weald.exchange.foreign.ubjson import ubjson_of
from weald.exchange.foreign.xgboost_format import xgboost_model
from weald.exchange.formats.json_reading import is_model_json, loads
from weald.forest.disk import read
from weald.runtime.errors import InputTypeError, ModelFileError, NotSupportedError

_BEGINNING: Final = 256  # bytes of a file that say what JSON it is
_PICKLES: Final = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
# What follows the first brace of UBJSON: the length of a name, or the size of the object.
_AFTER_BRACE: Final = b"LiUIl#$"
_SAVE_CATBOOST: Final = "save it with save_model(path, format='json', pool=the training pool)"


def read_foreign(source: Any) -> ForeignModel | ExchangedModel:
    """The model of a file or of an object of another system; nothing in a file is executed."""
    if isinstance(source, str | os.PathLike):
        data = read(source)
        try:
            return model_of_bytes(data)
        except (ModelFileError, NotSupportedError) as error:
            raise type(error)(f"{os.fspath(source)!r}: {error}") from None
    if isinstance(source, Mapping):
        return _model_of_json(source)
    if isinstance(source, bytes | bytearray):
        return model_of_bytes(bytes(source))
    return _model_of_object(source)


def model_of_bytes(data: bytes) -> ForeignModel | ExchangedModel:
    """The model of a file's bytes."""
    start = data[:64].lstrip()
    if data[:4] == b"CBM1":
        raise NotSupportedError(
            f"the file is CatBoost's binary format, which is not documented; {_SAVE_CATBOOST}."
        )
    if data[:2] in _PICKLES:
        raise NotSupportedError(
            "the file is a pickle, which can execute anything, so it is not opened; load it yourself, or by skops, and "
            "give weald.load_foreign the object."
        )
    if not data:
        raise ModelFileError("The file is empty.")
    if start.startswith(b"tree") and b"max_feature_idx" in data[:4096]:
        return lightgbm_model(text_of(data))
    if data[:1] == b"{" and data[1:2] in _AFTER_BRACE:
        return xgboost_model(ubjson_of(data))
    if is_model_json(data[:_BEGINNING]):
        return loads(data)
    if start.startswith(b"{"):
        return _model_of_json(json_of(data, "The file"))
    if data[:4] == b"binf" or b"gbtree" in data[:256]:
        raise NotSupportedError(
            "the file is XGBoost's old binary format; load it there and save it as .json or .ubj."
        )
    return onnx_model(data)


def xgboost_content(data: bytes) -> Any:
    """What a JSON or UBJSON file of XGBoost's holds."""
    if data[:1] == b"{" and data[1:2] in _AFTER_BRACE:
        return ubjson_of(data)
    return json_of(data, "The file")


def text_of(data: bytes) -> str:
    """The text of a LightGBM file."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelFileError("The LightGBM file is not valid UTF-8.") from None


def _model_of_json(content: Any) -> ForeignModel:
    if not isinstance(content, Mapping):
        raise ModelFileError("The file is JSON, but not an object.")
    if "learner" in content:
        return xgboost_model(content)
    if "tree_info" in content:
        return lightgbm_dump(content)
    if "features_info" in content:
        return catboost_model(content)
    raise ModelFileError("The file is JSON, but not that of XGBoost, LightGBM or CatBoost.")


def _model_of_object(model: Any) -> ForeignModel | ExchangedModel:
    """The model of an object, by the package that its class is from; none is imported here."""
    package = type(model).__module__.split(".")[0]
    if package == "xgboost":
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        found = xgboost_model(ubjson_of(bytes(booster.save_raw(raw_format="ubj"))))
    elif package == "lightgbm":
        booster = getattr(model, "booster_", model)
        found = lightgbm_model(booster.model_to_string(num_iteration=-1))
    elif package == "catboost":
        raise NotSupportedError(f"a model of CatBoost's is read from its file: {_SAVE_CATBOOST}.")
    elif package == "sklearn":
        return scikit_model(model)
    elif package == "treelite":
        return treelite_model(model)
    elif package == "onnx":
        return onnx_model(model.SerializeToString())
    else:
        raise InputTypeError(
            f"weald.load_foreign takes a path or a model of XGBoost, LightGBM, scikit-learn, treelite or ONNX, "
            f"not a {type(model).__name__}."
        )
    return _with_labels(found, getattr(model, "classes_", None))


def _with_labels(found: ForeignModel, classes: Any) -> ForeignModel:
    """The classes that an estimator knows, in place of their numbers."""
    if found.classes is None or classes is None or len(classes) != len(found.classes):
        return found
    return replace(found, classes=classes)
