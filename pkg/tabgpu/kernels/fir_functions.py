"""The texts of fir.wgsl and upfirdn.wgsl by kind of number: 64 products written out, and complex multiplication."""

from __future__ import annotations

from . import replace_block, replace_function, specialise

ALIAS = {"f": "f32", "i": "i32", "u": "u32", "c": "vec2f"}
R = 8  # results of a thread of fir
_COMPLEX = "fn mul(a: T, b: T) -> T { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }"


def text(key: tuple[str, str, int]) -> tuple[str, str]:
    """(WGSL, access) of ("fir" or "upfirdn", kind, threads of a workgroup)."""
    name, kind, threads = key
    code = specialise(name, T=ALIAS[kind], WG=threads)
    if kind == "c":
        code = replace_function(code, "mul", _COMPLEX)
    if name == "fir":
        code = replace_block(code, "fast", _fast())
        code = replace_block(code, "edge", "".join(_edge(k) for k in range(R)))
        code = replace_block(code, "store", "".join(_store(k) for k in range(R)))
    return code, "rrw"


def _fast() -> str:
    lines = [f"      let x{k} = src[at + {k}u * inner];" for k in range(2 * R - 1)]
    for i in range(R):
        lines.append(f"      let h{i} = taps[s + {i}u];")
        lines += [f"      a{k} += mul(h{i}, x{k + R - 1 - i});" for k in range(R)]
    return "\n".join(lines) + "\n"


def _edge(k: int) -> str:
    inside = f"p >= -{k} && p + {k} < i32(n)"
    return f"        if ({inside}) {{ a{k} += mul(tap, src[row + u32(p + {k}) * inner]); }}\n"


def _store(k: int) -> str:
    return f"  if (j + {k}u < m) {{ dst[to + {k}u * inner] = a{k}; }}\n"
