"""How every command ends: an expected error is one sentence on stderr, never a traceback."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from weald.runtime.errors import InputError, ModelFileError

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


class WealdGroup(TyperGroup):
    """Runs a command and turns Weald's own errors and the system's into a sentence and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.secho("Stopped.", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of our output (such as `head`) has gone; Python would complain again when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (InputError, ModelFileError) as error:
            _fail(str(error))
        except OSError as error:
            _fail(_sentence(error))


def _fail(message: str) -> None:
    typer.secho(f"Error: {message}", fg="red", err=True)
    raise typer.Exit(EXIT_BAD_INPUT) from None


def _sentence(error: OSError) -> str:
    if error.strerror and error.filename:
        return f"{error.strerror}: {str(error.filename)!r}"
    return str(error)
