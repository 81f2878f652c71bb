"""The marked block of stencil.wgsl: a row of the kernel times four rows of a tile, in quads of columns."""

from __future__ import annotations

SHIFTED = ("{u}", "vec4f({u}.yzw, {v}.x)", "vec4f({u}.zw, {v}.xy)", "vec4f({u}.w, {v}.xyz)")


def rows(quads: int) -> str:
    """Up to 4 * quads columns, of which `wide` are there. A tap that is not there adds nothing, not even 0 * NaN."""
    out = []
    for t in range(4):
        out += [f"let q{t}_0 = tile[r{t}];", f"let q{t}_1 = tile[r{t} + HALF];"]
    for c in range(quads):
        out.append(f"if (wide > {4 * c}u) {{")
        out.append(f"let w = weights[wk + {c}u];")
        for t in range(4):
            at = f"{c // 2 + 1}u" if c % 2 == 0 else f"{c // 2 + 1}u + HALF"
            out.append(f"let q{t}_{c + 2} = tile[r{t} + {at}];")
        whole = [_taps(c, j) for j in range(4)]
        out.append(f"if (wide >= {4 * c + 4}u) {{ {' '.join(whole)} }} else {{ {whole[0]}")
        out.append(f"if (wide > {4 * c + 1}u) {{ {whole[1]} }}")
        out.append(f"if (wide > {4 * c + 2}u) {{ {whole[2]} }} }}")
    out.append("}" + " }" * (quads - 1))
    return "\n".join(out) + "\n"


def _taps(c: int, j: int) -> str:
    """Tap 4 * c + j: each accumulator's own eight results."""
    made = []
    for t in range(4):
        for name, k in (("a", 0), ("b", 1)):
            seen = SHIFTED[j].format(u=f"q{t}_{c + k}", v=f"q{t}_{c + k + 1}")
            made.append(f"{name}{t} = fma(vec4f(w.{'xyzw'[j]}), {seen}, {name}{t});")
    return " ".join(made)
