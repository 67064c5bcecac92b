"""Names, numbers and stages of a query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from weald.runtime.errors import NotSupportedError

# Columns of a stage: SQLite has 2,000 at most.
_MOST_COLUMNS: Final = 1500
_EXACT_DIGITS, _EXACT_POWER = 15, 22


def name_of(name: str) -> str:
    """A name in quotes.

    >>> name_of('a"b')
    '"a""b"'
    """
    return '"' + _checked(name).replace('"', '""') + '"'


def text(value: str) -> str:
    """A string.

    >>> text("O'Hara")
    "'O''Hara'"
    """
    return "'" + _checked(value).replace("'", "''") + "'"


def _checked(value: str) -> str:
    if "\0" in value:
        raise NotSupportedError(f"format='sql' cannot hold {value!r}, in which there is a NUL; rename it.")
    return value


class Query:
    """A chain of stages, each of which selects what the stage before has, and more; `slots` are the names of the numbers."""

    def __init__(self, dialect: str, source: str, columns: Sequence[str]) -> None:
        self.dialect = dialect
        self.slots: list[str] = []
        self._stages: list[str] = []
        self._source = source
        self._columns = [name_of(name) for name in columns]
        self._kept: list[str] = []
        self._new: list[tuple[str, str]] = []
        self._prefix = "weald_s"
        while any(name.lower().startswith(self._prefix) for name in columns):
            self._prefix += "_"

    def cast(self, expression: str) -> str:
        """As a float64."""
        return f"CAST({expression} AS {'REAL' if self.dialect == 'sqlite' else 'DOUBLE'})"

    def real(self, value: float) -> str:
        """A number that both read as a float64, and SQLite without an error in the last bit."""
        if math.isnan(value):
            return "NULL"
        if math.isinf(value):
            sign = "-" if value < 0 else ""
            return f"{sign}9e999" if self.dialect == "sqlite" else f"CAST('{sign}Infinity' AS DOUBLE)"
        mantissa, _, power = f"{value!r}".partition("e")
        written = f"{mantissa}e{power or '0'}"
        digits = len(mantissa.replace("-", "").replace(".", "").strip("0"))
        places = len(mantissa.partition(".")[2])
        if self.dialect == "duckdb" or (
            digits <= _EXACT_DIGITS and abs(int(power or "0") - places) <= _EXACT_POWER
        ):
            return f"({written})" if value < 0 else written
        return _ratio(value)

    def stage_column(self, expression: str) -> str:
        """A new number of this stage; its name."""
        name = f"{self._prefix}{len(self._kept) + len(self._new)}"
        self._new.append((expression, name))
        return name

    def end_stage(self) -> None:
        """What comes next may read the numbers of this stage."""
        if not self._new:
            return
        stage = f"{self._prefix}t{len(self._stages)}"
        if len(self._columns) + len(self._kept) + len(self._new) > _MOST_COLUMNS:
            raise NotSupportedError(
                f"format='sql' keeps at most {_MOST_COLUMNS} numbers of a row, which this model has more of; "
                "export it as 'c' or 'onnx'."
            )
        columns = [
            *self._columns,
            *self._kept,
            *(f"{expression} AS {name}" for expression, name in self._new),
        ]
        self._stages.append(f"{stage} AS MATERIALIZED (\nSELECT {', '.join(columns)}\nFROM {self._source})")
        self._source = stage
        self._kept += [name for _, name in self._new]
        self._new = []

    def text(self, results: Sequence[tuple[str, str]]) -> str:
        """The whole query."""
        self.end_stage()
        wanted = ", ".join(f"{expression} AS {name_of(name)}" for expression, name in results)
        return "WITH " + ",\n".join(self._stages) + f"\nSELECT {wanted}\nFROM {self._source};\n"

    def first_largest(self, numbers: Sequence[str], results: Sequence[str]) -> str:
        """WHEN … THEN for the result of the largest number, of equals the first: that which no later one exceeds."""
        whens = [
            f"WHEN {balanced([f'{number} >= {later}' for later in numbers[place + 1 :]], 'AND')} THEN {results[place]}"
            for place, number in enumerate(numbers[:-1])
        ]
        return " ".join(whens) + f" ELSE {results[-1]}" if whens else f"WHEN 1 THEN {results[0]}"

    def largest(self, numbers: Sequence[str]) -> str:
        """The largest of several numbers."""
        return f"{'MAX' if self.dialect == 'sqlite' else 'GREATEST'}({', '.join(numbers)})"


def balanced(terms: Sequence[str], operator: str) -> str:
    """Terms joined so that nothing is nested deeply."""
    if len(terms) <= 8:
        return f" {operator} ".join(terms)
    middle = len(terms) // 2
    return f"({balanced(terms[:middle], operator)}) {operator} ({balanced(terms[middle:], operator)})"


def _ratio(value: float) -> str:
    """A float64 as whole numbers over powers of 2, none of which is rounded but the last."""
    mantissa, exponent = math.frexp(value)
    written, exponent = f"CAST({int(mantissa * 2.0**53)} AS REAL)", exponent - 53
    while exponent > 0:
        step = min(exponent, 62)
        written, exponent = f"{written} * {2**step}", exponent - step
    while exponent < 0:
        step = min(-exponent, 62)
        written, exponent = f"{written} / {2**step}", exponent + step
    return f"({written})"
