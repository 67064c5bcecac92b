"""``weald import``: the model of another system as a model file of Weald's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def bring_in(
    foreign: Annotated[
        Path,
        typer.Argument(
            help="XGBoost's .json or .ubj, LightGBM's text or dumped JSON, CatBoost's JSON (saved with pool=), or ONNX."
        ),
    ],
    model: Annotated[Path, typer.Option("--model", help="The model file to write.")] = Path("model.weald"),
) -> None:
    """Read a model that XGBoost, LightGBM, CatBoost or an ONNX converter has written, and write it as a model of Weald's.

    It predicts the same: 'weald predict' and 'weald evaluate' take it as any other.

    Example: weald import booster.json --model booster.weald
    """
    from weald.estimators.imported.imported import estimator_of_foreign
    from weald.exchange.foreign.load import read_foreign
    from weald.exchange.foreign.model import ForeignModel
    from weald.runtime.errors import NotSupportedError

    found = read_foreign(foreign)
    if not isinstance(found, ForeignModel):
        raise NotSupportedError(
            f"{str(foreign)!r} is a model that Weald has exported as JSON; weald.load_foreign reads it in Python."
        )
    imported = estimator_of_foreign(found)
    imported.save(model)
    predictor = imported._model.predictor
    size = (
        predictor.describe()
        if hasattr(predictor, "describe")
        else f"Linear model of {predictor.n_features} columns"
    )
    typer.echo(f"{imported.system_}, {imported.objective_}: {size}", err=True)
    typer.echo(f"model written to {model}", err=True)
