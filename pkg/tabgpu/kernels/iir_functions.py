"""The lines of iir.wgsl and iir_carry.wgsl that depend on the number of states: each state is a variable of its own."""

from __future__ import annotations

from typing import NamedTuple

from . import replace_block, specialise

ORDERS = (1, 2)
"""States of direct forms: what has more comes as sections."""
SECTIONS = (1, 2, 3, 4, 6, 8, 12)
"""Second-order sections of one launch; others are filled up with sections that do nothing."""


class Form(NamedTuple):
    """A variant: `number` states of a direct form, or sections."""

    sections: bool
    number: int
    ends: bool
    threads: int


def states(form: Form) -> int:
    """Numbers that a filter remembers."""
    return form.number * (2 if form.sections else 1)


def text(form: Form) -> tuple[str, str]:
    """(WGSL, access) of a variant of iir."""
    many = states(form)
    coefficients = 5 * form.number if form.sections else 2 * form.number + 1
    code = specialise("iir", WG=form.threads, ENDS=form.ends, PV=3 + -(-coefficients // 4))
    begin = [f"  var s{k} = 0.0f;" for k in range(many)]
    reads = [f"    if ({k}u < states) {{ s{k} = carry[home + {k}u * across]; }}" for k in range(many)]
    begin += ["  if (P[2].y != 0u) {", *reads, "  }"]
    begin += [f"  let c{k} = c({k}u);" for k in range(coefficients)]
    code = replace_block(code, "state", "\n".join(begin) + "\n")
    step = _sections if form.sections else _direct
    four = [line for k in range(4) for line in step(form.number, k)]
    one = step(form.number, 0)
    if not form.ends:
        four += [f"dst[at + {k}u * hop] = y{k};" if k else "dst[at] = y0;" for k in range(4)]
        one += ["dst[at] = y0;"]
    code = replace_block(code, "four", "".join(f"    {line}\n" for line in four))
    code = replace_block(code, "one", "".join(f"    {line}\n" for line in one))
    place = "home" if form.ends else "P[2].w + home"
    leave = [f"    if ({k}u < states) {{ dst[{place} + {k}u * across] = s{k}; }}" for k in range(many)]
    if form.ends:
        leave = ["  {", *leave, "  }"]
    else:  # the last chunk's, as (outer, states, inner)
        leave = [
            line.replace(f"{place} + {k}u * across", f"last + {k}u * inner") for k, line in enumerate(leave)
        ]
        leave = [
            "  if (P[2].z != 0u && chunk == P[0].z - 1u) {",
            "    let last = P[2].w + outer * states * inner + column;",
            *leave,
            "  }",
        ]
    return replace_block(code, "leave", "\n".join(leave) + "\n"), "rrw"


def _direct(order: int, k: int) -> list[str]:
    """One sample of a transposed direct form II: coefficients b0 .. bn, a1 .. an."""
    lines = [f"let y{k} = c0 * x{k} + s0;"]
    for i in range(order):
        more = f" + s{i + 1}" if i + 1 < order else ""
        lines.append(f"s{i} = c{i + 1} * x{k} - c{order + 1 + i} * y{k}{more};")
    return lines


def _sections(number: int, k: int) -> list[str]:
    """One sample through second-order sections: b0 b1 b2 a1 a2 each."""
    lines, x = [], f"x{k}"
    for i in range(number):
        y = f"y{k}" if i == number - 1 else f"w{k}_{i}"
        a = 5 * i
        lines += [
            f"let {y} = c{a} * {x} + s{2 * i};",
            f"s{2 * i} = c{a + 1} * {x} - c{a + 3} * {y} + s{2 * i + 1};",
            f"s{2 * i + 1} = c{a + 2} * {x} - c{a + 4} * {y};",
        ]
        x = y
    return lines


def carry_text(key: tuple[str, int, bool, int]) -> tuple[str, str]:
    """(WGSL, access) of ("iir_carry", states, whether up, threads of a workgroup)."""
    _, many, up, threads = key
    quads = -(-many // 4)
    code = specialise("iir_carry", WG=threads, UP=up, PV=2 + many * quads)
    names = [f"v{k // 4}.{'xyzw'[k % 4]}" for k in range(many)]
    begin = [f"  var v{k} = vec4f();" for k in range(quads)]
    reads = [
        f"    if ({k}u < states) {{ {name} = carry[home + {k}u * between]; }}" for k, name in enumerate(names)
    ]
    begin += ["  if (P[1].y != 0u) {", *reads, "  }"]
    code = replace_block(code, "state", "\n".join(begin) + "\n")
    step = []
    if not up:
        step += [f"    if ({k}u < states) {{ dst[at + {k}u * across] = {n}; }}" for k, n in enumerate(names)]
    for k in range(many):
        terms = " + ".join(f"dot(row({k * quads + q}u), v{q})" for q in range(quads))
        step.append(f"    var n{k} = {terms};")
        step.append(f"    if ({k}u < states) {{ n{k} += left[at + {k}u * across]; }}")
    step += [f"    {name} = n{k};" for k, name in enumerate(names)]
    code = replace_block(code, "step", "\n".join(step) + "\n")
    leave = ""
    if up:
        leave = "".join(
            f"  if ({k}u < states) {{ dst[home + {k}u * between] = {n}; }}\n" for k, n in enumerate(names)
        )
    return replace_block(code, "leave", leave), "rrw"
