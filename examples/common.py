"""What the examples share: their arguments, tables on the terminal and the look of their figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

#: colours that stay apart for colour-blind readers (Okabe and Ito), and in grey print
BLUE, ORANGE, GREEN, SKY, GREY = "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#999999"


def argument_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """A parser that knows ``--quick``, ``--out`` and ``--page``."""
    parser = argparse.ArgumentParser(prog=f"python -m examples.{program}", description=description)
    parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs" / "images" / f"{program}.png",
        help="where the figure goes (docs/images)",
    )
    parser.add_argument(
        "--page", type=Path, help="a page with this program's markers, to write the table between them"
    )
    return parser


def write_into_page(page: Path, program: str, text: str) -> None:
    """Put ``text`` between the program's two markers of a page."""
    begin, end = f"<!-- {program}:begin -->", f"<!-- {program}:end -->"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    tail = rest.split(end)[1]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same table for a page."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *rows))


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Text in columns: the first to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def pyplot() -> Any:
    """``matplotlib.pyplot``, drawing to files; a sentence where Matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("this example draws with Matplotlib: pip install 'weald[plots]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plots

    plots.rcParams.update(
        {
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "font.size": 10,
            "figure.constrained_layout.use": True,
        }
    )
    return plots


def save(figure: Any, path: Path) -> None:
    """Write a figure, say where, and forget it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, facecolor="white")
    pyplot().close(figure)
    print(f"\nThe figure is {path}.")
