"""The ``weald`` command.

Each command is a module of this folder and imports what it needs when it runs, so that ``weald --help`` is
quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from weald import __version__
from weald.cli.bring_in import bring_in
from weald.cli.evaluate import evaluate
from weald.cli.export import export
from weald.cli.group import WealdGroup
from weald.cli.predict import predict
from weald.cli.system import doctor, warmup
from weald.cli.train import train

__all__ = ["app", "main"]

app = typer.Typer(
    cls=WealdGroup,
    name="weald",
    help="Train, use and judge ensembles of trees.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"weald {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Train, use and judge ensembles of trees."""


for _command in (train, predict, evaluate, export, warmup, doctor):
    app.command()(_command)
app.command("import")(bring_in)


def main() -> None:
    """Run the command line; the entry point of the ``weald`` script."""
    app()
