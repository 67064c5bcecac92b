"""Collects the nodes of an ONNX graph, and knows in which tensor every slot of a row is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weald.exchange.model import Slots
from weald.runtime.extras import load_extra

_OPSET: Final = 17
_IR_VERSION: Final = 8


class Graph:
    """Tensors are named by numbers; all that steps make are (rows, numbers) float64."""

    def __init__(self, ml_version: int) -> None:
        self.ml_version = ml_version
        self._onnx = load_extra("onnx", "format='onnx'")
        self._helper = load_extra("onnx.helper", "format='onnx'")
        self._numpy = load_extra("onnx.numpy_helper", "format='onnx'")
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._places: list[tuple[str, int]] = []  # of every slot: tensor and column
        self._widths: dict[str, int] = {}
        self._count = 0

    def _name(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def _type(self, kind: type) -> int:
        types = self._onnx.TensorProto
        chosen: int = {float: types.DOUBLE, str: types.STRING, int: types.INT64, bool: types.BOOL}[kind]
        return chosen

    def input(self, name: str, kind: type, width: int) -> str:
        """A tensor that the caller gives."""
        own = self._name()
        self._inputs.append(self._helper.make_tensor_value_info(name, self._type(kind), [None, width]))
        self._nodes.append(self._helper.make_node("Identity", [name], [own]))
        return own

    def output(self, name: str, tensor: str, kind: type, width: int | None) -> None:
        """A tensor that the caller gets."""
        shape = [None] if width is None else [None, width]
        self._nodes.append(self._helper.make_node("Identity", [tensor], [name]))
        self._outputs.append(self._helper.make_tensor_value_info(name, self._type(kind), shape))

    def add(self, operator: str, *inputs: str, ml: bool = False, outputs: int = 1, **attributes: Any) -> str:
        """A node; its tensor, or the first of several, whose others have `.1` and so on behind the name."""
        own = self._name()
        names = [own, *(f"{own}.{number}" for number in range(1, outputs))]
        domain = "ai.onnx.ml" if ml else ""
        self._nodes.append(self._helper.make_node(operator, list(inputs), names, domain=domain, **attributes))
        return own

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        """A tensor that is part of the model."""
        own = self._name()
        self._constants.append(self._numpy.from_array(np.array(values, dtype=kind), own))
        return own

    def cast(self, tensor: str, kind: Any) -> str:
        """A tensor in another type."""
        return self.add("Cast", tensor, to=self._helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def tensor(self, name: str, values: Any, kind: Any) -> Any:
        """An attribute that is a tensor."""
        return self._numpy.from_array(np.ascontiguousarray(values, dtype=kind), name)

    def keep(self, tensor: str, width: int) -> None:
        """The next slots are the columns of a tensor."""
        self._widths[tensor] = width
        self._places += [(tensor, column) for column in range(width)]

    def matrix(self, reads: Slots) -> str:
        """A tensor of some slots."""
        parts: list[tuple[str, list[int]]] = []
        for slot in reads:
            tensor, column = self._places[slot]
            if not parts or parts[-1][0] != tensor:
                parts.append((tensor, []))
            parts[-1][1].append(column)
        taken = [
            tensor
            if columns == list(range(self._widths[tensor]))
            else self.add("Gather", tensor, self.constant(columns, np.int64), axis=1)
            for tensor, columns in parts
        ]
        return taken[0] if len(taken) == 1 else self.add("Concat", *taken, axis=1)

    def first_column(self) -> str:
        """A tensor with a row for every row of the table."""
        return self._places[0][0]

    def model(self) -> Any:
        """The finished model, checked."""
        graph = self._helper.make_graph(self._nodes, "weald", self._inputs, self._outputs, self._constants)
        opsets = [
            self._helper.make_opsetid("", _OPSET),
            self._helper.make_opsetid("ai.onnx.ml", self.ml_version),
        ]
        made = self._helper.make_model(
            graph, opset_imports=opsets, producer_name="weald", ir_version=_IR_VERSION
        )
        self._onnx.checker.check_model(made)
        return made
