"""Convolutions, attention and softmax over handles; what they compute is tg.nn's."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from ..dtypes import float32
from ..layout import Shape
from . import table
from .calls import Calls
from .errors import InvalidArgument


class Networks(Calls):
    """All is float32 and row-major; shapes are given in full and checked against each other."""

    def conv2d_forward(
        self, input: int, input_shape: Sequence[int], filter: int, filter_shape: Sequence[int], output: int,
        output_shape: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    ) -> None:  # fmt: skip
        """Cross-correlation of input (n, c, h, w) with filter (k, c, r, s), zeros around, into output (n, k, oh,
        ow)."""
        from .. import nn

        where = "conv2d_forward"
        x, w, out, how = self._conv(where, input_shape, filter_shape, output_shape, stride, padding)
        table.apart(where, ("output", output), input=input, filter=filter)
        target = table.reading(where, "output", output, prod(out), float32)
        image, f = self._at(where, "input", input, x), self._at(where, "filter", filter, w)
        self._put(where, output, nn.conv2d(image, f, None, *how), target)

    def conv2d_backward_data(
        self, grad_output: int, output_shape: Sequence[int], filter: int, filter_shape: Sequence[int], grad_input: int,
        input_shape: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    ) -> None:  # fmt: skip
        """The gradient of conv2d_forward with respect to its input, of input_shape, from that of its output."""
        from ..nn import grad

        where = "conv2d_backward_data"
        x, w, out, how = self._conv(where, input_shape, filter_shape, output_shape, stride, padding)
        table.apart(where, ("grad_input", grad_input), grad_output=grad_output, filter=filter)
        target = table.reading(where, "grad_input", grad_input, prod(x), float32)
        g, f = self._at(where, "grad_output", grad_output, out), self._at(where, "filter", filter, w)
        self._put(where, grad_input, grad.conv2d_input(x, f, g, *how), target)

    def conv2d_backward_filter(
        self, input: int, input_shape: Sequence[int], grad_output: int, output_shape: Sequence[int], grad_filter: int,
        filter_shape: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    ) -> None:  # fmt: skip
        """The gradient of conv2d_forward with respect to its filter, of filter_shape, from its input and that of its
        output."""
        from ..nn import grad

        where = "conv2d_backward_filter"
        x, w, out, how = self._conv(where, input_shape, filter_shape, output_shape, stride, padding)
        table.apart(where, ("grad_filter", grad_filter), grad_output=grad_output, input=input)
        target = table.reading(where, "grad_filter", grad_filter, prod(w), float32)
        image, g = self._at(where, "input", input, x), self._at(where, "grad_output", grad_output, out)
        self._put(where, grad_filter, grad.conv2d_weight(image, w, g, *how), target)

    def _conv(
        self, where: str, input_shape: Any, filter_shape: Any, output_shape: Any, stride: Any, padding: Any
    ) -> tuple[Shape, Shape, Shape, tuple[Shape, Shape]]:
        """(input, filter and output shape, (stride, padding)); the shapes are those of one convolution."""
        self._device()
        x, w, out = (
            table.extents(where, name, shape, 4)
            for name, shape in (
                ("input_shape", input_shape), ("filter_shape", filter_shape), ("output_shape", output_shape)
            )
        )  # fmt: skip
        steps = table.extents(where, "stride", stride, 2)
        pads = table.extents(where, "padding", padding, 2)
        if not min(steps):
            raise InvalidArgument(f"{where}: stride {steps} has a 0")
        if x[1] != w[1]:
            raise InvalidArgument(f"{where}: input {x} has {x[1]} channels, filter {w} {w[1]}")
        sizes = [x[d] + 2 * pads[d - 2] - w[d] for d in (2, 3)]
        if min(sizes) < 0 or not min(w[2:]):
            raise InvalidArgument(f"{where}: filter {w} does not fit into input {x} with padding {pads}")
        want = (x[0], w[0], *(n // s + 1 for n, s in zip(sizes, steps, strict=True)))
        if out != want:
            raise InvalidArgument(
                f"{where}: output_shape is {want} for these shapes, stride and padding, not {out}"
            )
        return x, w, out, (steps, pads)

    def attention(
        self, q: int, k: int, v: int, output: int, batch: int, heads: int, seq_q: int, seq_kv: int, head_dim: int,
        scale: float, causal: bool = False,
    ) -> None:  # fmt: skip
        """softmax(q @ k.T * scale) @ v for each of batch * heads: q and output (batch, heads, seq_q, head_dim), k and v
        (batch, heads, seq_kv, head_dim). causal: row i sees keys 0 to i (top-left)."""
        from .. import nn

        where = "attention"
        self._device()
        table.u32(where, batch=batch, heads=heads, seq_q=seq_q, seq_kv=seq_kv, head_dim=head_dim)
        if not min(seq_q, seq_kv, head_dim):
            raise InvalidArgument(
                f"{where}: seq_q {seq_q}, seq_kv {seq_kv} and head_dim {head_dim} are at least 1"
            )
        if (
            isinstance(scale, bool)
            or not isinstance(scale, (int, float))
            or not isfinite(scale)
            or scale <= 0
        ):
            raise InvalidArgument(f"{where}: scale is a positive finite number, not {scale!r}")
        table.apart(where, ("output", output), q=q, k=k, v=v)
        rows = table.extents(where, "q", (batch, heads, seq_q, head_dim))
        columns = table.extents(where, "k", (batch, heads, seq_kv, head_dim))
        x, y, z = (
            self._at(where, "q", q, rows),
            self._at(where, "k", k, columns),
            self._at(where, "v", v, columns),
        )
        target = table.reading(where, "output", output, prod(rows), float32)
        if 0 in rows:
            return
        made = nn.scaled_dot_product_attention(x, y, z, None, 0.0, bool(causal), float(scale))
        self._put(where, output, made, target)

    def softmax(self, input: int, output: int, shape: Sequence[int], axis: int) -> None:
        """exp(x - max) / sum along an axis, from 0 on."""
        from .. import nn

        dims, flat = self._along("softmax", input, output, shape, axis)
        if 0 not in dims:
            self._put("softmax", output, nn.softmax(flat, axis), None)
