"""Imported models as model files and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.estimators.shared.persistence import FittedModel, check_schema
from weald.estimators.shared.plain import classes_from_json, labels_to_json
from weald.exchange.foreign.hashed import ARRAYS, HashedStatistics
from weald.forest import file as model_file
from weald.forest.container import Container
from weald.forest.predictor import Predictor
from weald.linear.model import LinearModel
from weald.losses.links import LINKS
from weald.runtime.errors import ModelFileError

Importance = Literal["gain", "split", "prediction"]

_HASHED: Final = "hashed"  # tables of looked-up columns, where there are any
_KEYS: Final = frozenset(
    {
        "estimator",
        "importance_type",
        "schema",
        "objective",
        "system",
        "link",
        "classes",
        "missing",
        "has_cover",
    }
)


@dataclass(frozen=True)
class ImportedModel(FittedModel):
    """A fitted model that was trained elsewhere; ``loss`` is what it was trained for, by its name there."""

    hashed: HashedStatistics | None = None
    has_cover: bool = True
    system: str = ""

    @property
    def sources(self) -> list[tuple[int, ...]] | None:
        """The user's columns that every column of the predictor comes from; None where they are the same."""
        return None if self.hashed is None else self.hashed.sources


def imported_to_bytes(name: str, importance_type: str, model: ImportedModel) -> bytes:
    """The model file's bytes; equal for equal models."""
    header: dict[str, Any] = {
        "estimator": name,
        "importance_type": importance_type,
        "schema": model.schema.to_json(),
        "objective": model.loss,
        "system": model.system,
        "link": model.link,
        "classes": None if model.classes is None else labels_to_json(np.asarray(model.classes)),
        "missing": model.missing,
        "has_cover": model.has_cover,
    }
    if model.hashed is None:
        return model.predictor.dumps(header)
    header[_HASHED], arrays = model.hashed.to_file()
    return model_file.dumps(model.forest, header, arrays)


def imported_from_content(content: Container, name: str) -> tuple[Importance, ImportedModel]:
    """Importance type and model of an opened file; everything is checked."""
    header = content.header
    if set(header) - {_HASHED} != _KEYS or header["estimator"] != name:
        raise ModelFileError("The file's header does not have the fields of an imported model.")
    for field in ("objective", "system"):
        if not isinstance(header[field], str):
            raise ModelFileError(f"The file's {field} must be a name.")
    if header["missing"] not in ("nan", "zero") or header["importance_type"] not in (
        "gain",
        "split",
        "prediction",
    ):
        raise ModelFileError("The file's missing or importance_type is not known.")
    if not isinstance(header["has_cover"], bool) or header["link"] not in LINKS:
        raise ModelFileError("The file's has_cover or link is not known.")
    schema = Schema.from_json(header["schema"])
    predictor, hashed = _predictor_of(content, schema)
    classes = None if header["classes"] is None else classes_from_json(header["classes"])
    if (classes is None) != (name == "ImportedRegressor"):
        raise ModelFileError(f"An {name} cannot have these classes.")
    _check_outputs(predictor, classes, header["link"])
    model = ImportedModel(
        predictor,
        schema,
        header["objective"],
        header["link"],
        classes,
        {},
        predictor.n_rounds - 1,
        missing=header["missing"],
        hashed=hashed,
        has_cover=header["has_cover"],
        system=header["system"],
    )
    return header["importance_type"], model


def _predictor_of(content: Container, schema: Schema) -> tuple[Predictor, HashedStatistics | None]:
    if LinearModel.is_in(content):
        linear = LinearModel.from_content(content)
        linear.check_schema(schema)
        return linear, None
    described = content.header.get(_HASHED)
    forest, arrays = model_file.forest_and_more(content, {} if described is None else ARRAYS)
    hashed = None if described is None else HashedStatistics.from_file(described, arrays, schema)
    check_schema(forest, schema if hashed is None else hashed.extended_schema)
    return forest, hashed


def _check_outputs(predictor: Predictor, classes: NDArray[Any] | None, link: str) -> None:
    """Two classes have one score or two, more have one each."""
    if classes is None:
        return
    fitting = (1, 2) if len(classes) == 2 else (len(classes),)
    single = predictor.n_outputs == 1
    if predictor.n_outputs not in fitting or single != (link in ("logit", "half_logit", "step")):
        raise ModelFileError(
            f"{len(classes)} classes do not fit {predictor.n_outputs} outputs and link {link!r}."
        )
