"""Kernels of polynomials: horner.wgsl, long_division.wgsl, from_roots.wgsl, aberth.wgsl."""

from __future__ import annotations

from .. import kernels
from ..graph import Op
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import launch

ROUNDS = 50_000  # of loops that one thread of a launch makes on Mesa's CPU driver, which ends them at 65,535
LONG = 2_000_000  # of loops that one workgroup of a launch makes elsewhere
ITERATIONS = 120  # of aberth
ABERTH = 512  # roots that it takes

_COMPLEX = {
    "horner": {"step": "fn step(a: T, x: T, c: T) -> T { return multiply_c64(a, x) + c; }"},
    "long_division": {
        "quotient": "fn quotient(a: T, b: T) -> T { return divide_c64(a, b); }",
        "less": "fn less(a: T, q: T, b: T) -> T { return a - multiply_c64(q, b); }",
    },
    "from_roots": {
        "one": "fn one() -> T { return vec2f(1.0f, 0.0f); }",
        "less": "fn less(a: T, r: T, b: T) -> T { return a - multiply_c64(r, b); }",
    },
}  # of complex64: functions that take the place of float32's


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "polynomials.NAME"; op.extra its parameters."""
    return list(globals()[f"_{op.fn.partition('.')[2]}"](op, facts))


def _kernel(name: str, access: str, kind: str, wg: int) -> Kernel:
    return kernel_for((name, kind, wg, access), _text, f"{name}_{kind}", wg)


def _text(key: tuple[str, str, int, str]) -> tuple[str, str]:
    name, kind, wg, access = key
    if kind == "f":
        return kernels.specialise(name, WG=wg), access
    text = kernels.rewrite(kernels.read(name), {"WG": wg, "T": "vec2f"})
    for function, body in _COMPLEX[name].items():
        text = kernels.replace_function(text, function, body)
    return kernels.library([*kernels.uses(text), "complex"]) + "\n" + text, access


def _horner(op: Op, facts: Facts) -> list[Launch]:
    """args: coefficients (k, m) and points; extra (k, m, nx, descending, paired)."""
    k, m, nx, descending, paired = op.extra
    made = _kernel("horner", "rrw", op.dtype.kind, facts.workgroup)
    words = [k, m, nx, op.size, descending, paired, 0, 0]
    return [launch(made, op.args, (op,), -(-op.size // facts.workgroup), words, facts)]


def _pieces(steps: int, each: int, facts: Facts) -> list[tuple[int, int]]:
    """Ranges of steps, each of which is one launch; `each`: loop rounds of one thread in a step."""
    most = max(1, (ROUNDS if facts.software else LONG) // max(1, each))
    return [(k, min(k + most, steps)) for k in range(0, steps, most)]


def _divide(op: Op, facts: Facts) -> list[Launch]:
    """args: numerator and divisor; extra (n, v). Result: quotient, then remainder."""
    n, v = op.extra
    wg = facts.workgroup
    made = _kernel("long_division", "rrw", op.dtype.kind, wg)
    pieces = _pieces(n - v + 1, 1 + -(-v // wg), facts)
    return [
        launch(made, op.args, (op,), 1, [n, v, first, last, first == 0, 0, 0, 0], facts)
        for first, last in pieces
    ]


def _from_roots(op: Op, facts: Facts) -> list[Launch]:
    """args: the roots. Result: one number more."""
    n = op.size - 1
    wg = facts.workgroup
    made = _kernel("from_roots", "rw", op.dtype.kind, wg)
    pieces = _pieces(n, 1 + -(-n // wg), facts)
    return [launch(made, op.args, (op,), 1, [n, first, last, 0], facts) for first, last in pieces]


def _aberth(op: Op, facts: Facts) -> list[Launch]:
    """args: complex coefficients; extra: whether they are real. Result: complex roots."""
    n = op.size
    made = kernel_for(("aberth",), lambda _: (kernels.specialise("aberth"), "rw"), "aberth", 64)
    pieces = _pieces(ITERATIONS, 2 * (n + 1) * -(-n // 64), facts)
    last = len(pieces) - 1
    return [
        launch(made, op.args, (op,), 1, [n, k == 0, b - a, int(op.extra) if k == last else 0], facts)
        for k, (a, b) in enumerate(pieces)
    ]
