"""How KERNEL Ops become launches: one module here for each hand-written algorithm, with its .wgsl files in kernels/.

A module NAME has `lower(op, facts) -> list[Launch]`; op.fn is "NAME" or "NAME.VARIANT", op.extra its parameters.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from .. import kernels
from ..dtypes import DType
from ..errors import LimitError
from ..graph import SCALAR, Op, nbytes_of
from ..launch import Kernel, Launch
from ..layout import Shape
from ..region import U32, Facts, grid, kernel_for


@cache
def _module(name: str) -> Any:
    return import_module(f".{name}", __name__)


def lower(op: Op, facts: Facts) -> list[Launch]:
    """The launches of one KERNEL Op; LimitError if a buffer does not fit a binding."""
    made: list[Launch] = _module(op.fn.partition(".")[0]).lower(op, facts)
    for launch in made:
        for other in () if launch.windows else (*launch.reads, *launch.writes):
            if nbytes_of(other) + 16 > facts.binding:
                raise LimitError(
                    f"{op.fn}: {launch.kernel.label} binds {nbytes_of(other):,} bytes whole, the device's storage "
                    f"binding limit is {facts.binding:,}; work on slices"
                )
    return made


def temporary(shape: Shape, dtype: DType) -> Op:
    """Memory between two launches of one KERNEL Op; it dies with the launches."""
    return Op(SCALAR, None, (), (), shape, dtype)


def kernel(name: str, access: str, label: str = "", **params: object) -> Kernel:
    """kernels/NAME.wgsl with its const and alias lines set, made once. access: r or w for each binding of group 0."""
    key = (name, access, *sorted(params.items()))
    return kernel_for(key, lambda _: (kernels.specialise(name, **params), access), label or name, 0)


def launch(
    made: Kernel, reads: tuple[Op, ...], writes: tuple[Op, ...], groups: int, words: list[int], facts: Facts
) -> Launch:
    """A Launch of `groups` workgroups, folded into three dimensions as `g.x + ng.x * (g.y + ng.y * g.z)`."""
    return Launch(made, reads, writes, grid(groups, facts.groups), [w & U32 for w in words])
