"""The text of the Fourier kernels: butterflies written out, how a line's positions are read and written; the kernel of
powers of two in workgroup memory: codegen_fft_block.py."""

from __future__ import annotations

from math import cos, pi, sin
from struct import pack, unpack

from . import kernels

RADICES = (
    8,
    4,
    2,
    3,
    5,
    7,
    11,
    13,
)  # of the passes from storage to storage, in the order in which they are tried
# How position p of a line is read as a complex number x: (element of src, statements). Cosine transforms of N = P[8].z
# reals are complex ones of elements in another order; sines are cosines from the last element, every second negative.
PLAIN = "plain"  # every position is there, nothing is flipped or scaled
LOADS = {
    PLAIN: ("vec2f", "  x = src[base + p * P[1].w];\n"),
    "complex": ("vec2f", "  if (p < P[2].w) { x = src[base + p * P[1].w]; }\n"),
    "real": ("f32", "  if (p < P[2].w) { x.x = src[base + p * P[1].w]; }\n"),
    "pair": (  # positions 2 p and 2 p + 1 of reals
        "f32",
        "  if (2u * p < P[2].w) { x.x = src[base + 2u * p * P[1].w]; }\n"
        "  if (2u * p + 1u < P[2].w) { x.y = src[base + (2u * p + 1u) * P[1].w]; }\n",
    ),
    "hermitian": (  # the second half is the conjugate of the first, backwards
        "vec2f",
        "  let turned = 2u * p > P[4].w;\n"
        "  let q = select(p, P[4].w - p, turned);\n"
        "  if (q < P[2].w) { x = src[base + q * P[1].w]; }\n"
        "  if (turned) { x.y = -x.y; }\n"
        "  if (q == 0u || 2u * q == P[4].w) { x.y = 0.0f; }\n",
    ),
    "cos1": ("f32", "  x.x = element(base, min(p, P[4].w - p));\n"),
    "cos2": (
        "f32",
        "  let odd = 2u * p >= P[8].z;\n"
        "  x.x = element(base, select(2u * p, 2u * P[8].z - 1u - 2u * p, odd));\n"
        "  if (odd && (P[9].x & 4u) != 0u) { x.x = -x.x; }\n",
    ),
    "cos3": (
        "f32",
        "  x.x = element(base, p);\n"
        "  if (p > 0u) { x.y = element(base, P[8].z - p); }\n"
        "  x = fft_times(x, eighth(2u * p));\n",
    ),
    "cos4": (
        "f32",
        "  x = vec2f(element(base, 2u * p), element(base, P[8].z - 1u - 2u * p));\n"
        "  x = fft_times(x, eighth(4u * p + 1u));\n",
    ),
    "cos4odd": ("f32", "  if (p < P[8].z) { x = element(base, p) * eighth(2u * p); }\n"),
    "sin1": (
        "f32",
        "  if (p > 0u && p <= P[8].z) { x.x = element(base, p - 1u); }\n"
        "  if (p > P[8].z + 1u) { x.x = -element(base, P[4].w - 1u - p); }\n",
    ),
    # Of Bluestein's convolution of P[2].w positions: the filter, and the conjugate of a product with its transform.
    "filter": ("f32", "  let k = min(p, P[2].w - p);\n  if (k < P[4].w) { x = chirp(k) * vec2f(1.0f, -1.0f); }\n"),
    "product": ("vec2f", "  x = fft_times(src[base + p * P[1].w], other[p]) * vec2f(1.0f, -1.0f);\n"),
}  # fmt: skip
STORES = {
    PLAIN: ("vec2f", "  dst[base + p * P[3].z] = x;\n"),
    "complex": ("vec2f", "  if (p < P[3].w) { dst[base + p * P[3].z] = x; }\n"),
    "real": ("f32", "  if (p < P[3].w) { dst[base + p * P[3].z] = x.x; }\n"),
    "pair": (
        "f32",
        "  if (2u * p < P[3].w) { dst[base + 2u * p * P[3].z] = x.x; }\n"
        "  if (2u * p + 1u < P[3].w) { dst[base + (2u * p + 1u) * P[3].z] = x.y; }\n",
    ),
    "cos1": ("f32", "  if (p < P[8].z) { result(base, p, x.x); }\n"),
    "cos2": ("f32", "  result(base, p, fft_times(x, eighth(2u * p)).x);\n"),
    "cos3": (
        "f32",
        "  let odd = 2u * p >= P[8].z;\n"
        "  let y = select(x.x, -x.x, odd && (P[9].x & 4u) != 0u);\n"
        "  result(base, select(2u * p, 2u * P[8].z - 1u - 2u * p, odd), y);\n",
    ),
    "cos4": (
        "f32",
        "  x = fft_times(x, eighth(4u * p));\n"
        "  result(base, 2u * p, x.x);\n"
        "  result(base, P[8].z - 1u - 2u * p, select(-x.y, x.y, (P[9].x & 4u) != 0u));\n",
    ),
    "cos4odd": (
        "f32",
        "  let y = fft_times(x, eighth(2u * p + 1u)).x;\n"
        "  if (p < P[8].z) { result(base, p, select(y, -y, ((P[9].x >> 2u) & p & 1u) != 0u)); }\n",
    ),
    "sin1": ("f32", "  if (p > 0u && p <= P[8].z) { result(base, p - 1u, -x.y); }\n"),
}  # fmt: skip
# Of cosine transforms: an element, counted as a cosine's, a result, and exp(-2 pi i m / 8 N).
_ELEMENT = """fn element(base: u32, k: u32) -> f32 {
  let q = select(k, P[8].z - 1u - k, (P[9].x & 1u) != 0u);
  var x = 0.0f;
  if (q < P[2].w) { x = src[base + q * P[1].w]; }
  return x * select(1.0f, bitcast<f32>(P[8].x), k == 0u ENDS);
}
"""
_RESULT = """fn result(base: u32, k: u32, x: f32) {
  let q = select(k, P[8].z - 1u - k, (P[9].x & 2u) != 0u);
  dst[base + q * P[3].z] = x * select(1.0f, bitcast<f32>(P[8].y), k == 0u ENDS);
}
"""
_EIGHTH = """fn eighth(m: u32) -> vec2f {
  return fft_root(m, 8u * P[8].z, bitcast<f32>(P[8].w) * vec2f(4.0f, 1.0f));
}
"""
# exp(-pi i k^2 / n): a transform of any n is a convolution with its conjugate, times it before and after.
CHIRP = "chirp "  # kinds of reads and writes that begin so have it
_CHIRP = """fn chirp(k: u32) -> vec2f {
  let m = 2u * P[4].w;
  return fft_root(fft_product(k, k, m), m, bitcast<f32>(P[7].z) * vec2f(4.0f, 1.0f));
}
"""
_READ_CHIRP = """
fn load(base: u32, p: u32) -> vec2f {
  if (p >= P[4].w) { return vec2f(); }
  return fft_times(load_plain(base, p), chirp(p));
}"""
_WRITE_CHIRP = """
fn store(base: u32, p: u32, v: vec2f) {
  if (p < P[4].w) { store_plain(base, p, fft_times(vec2f(v.x, -v.y), chirp(p))); }
}"""
_FLIP = "vec2f({0}.x, bitcast<f32>(bitcast<u32>({0}.y) ^ P[6].{1}))"


def line_hooks(text: str, load: str, store: str) -> tuple[str, str]:
    """(a kernel with its reads and writes of the kinds `load` and `store`, access string)."""
    first, last = load.removeprefix(CHIRP), store.removeprefix(CHIRP)
    (source, body), (into, written) = LOADS[first], STORES[last]
    text = kernels.rewrite(text, {"S": source, "T": into})
    names = ["_plain" if kind.startswith(CHIRP) else "" for kind in (load, store)]
    read = f"fn load{names[0]}(base: u32, p: u32) -> vec2f {{\n  var x = vec2f();\n{body}"
    given = "x" if first == PLAIN else _FLIP.format("x", "x")
    read += f"  return {given};\n}}" + _READ_CHIRP * bool(names[0])
    write = f"fn store{names[1]}(base: u32, p: u32, given: vec2f) {{\n"
    if last == PLAIN:
        write += "  let x = given;\n"
    else:
        write += f"  let v = given * bitcast<f32>(P[6].z);\n  var x = {_FLIP.format('v', 'y')};\n"
    write += f"{written}}}" + _WRITE_CHIRP * bool(names[1])
    ends = [" || k + 1u == P[8].z" if kind == "cos1" else "" for kind in (first, last)]
    if "element(" in body:
        read = _ELEMENT.replace(" ENDS", ends[0]) + read
    if "result(" in written:
        write = _RESULT.replace(" ENDS", ends[1]) + write
    both = read + write
    read = _EIGHTH * ("eighth(" in both) + _CHIRP * ("chirp(" in both) + read
    text = kernels.replace_function(kernels.replace_function(text, "load", read), "store", write)
    if load != "product":
        return text, "rw"
    dst = "@group(0) @binding(1) var<storage, read_write> dst"
    other = "@group(0) @binding(1) var<storage, read> other: array<vec2f>;\n"
    return text.replace(dst, other + dst.replace("(1)", "(2)")), "rrw"


def number(x: float) -> str:
    """A float32 constant."""
    return f"{unpack('<f', pack('<f', x))[0]:.9g}f" if abs(x) % 1 else f"{x:.1f}f"


class Lines:
    """Statements of straight-line WGSL, each value with a name of its own."""

    def __init__(self, prefix: str = "t") -> None:
        self.lines: list[str] = []
        self.prefix = prefix

    def let(self, expr: str) -> str:
        """A new name for an expression."""
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"  let {name} = {expr};\n")
        return name

    def text(self) -> str:
        """All statements."""
        return "".join(self.lines)


def turned(out: Lines, x: str, k: int, n: int) -> str:
    """x times exp(-2 pi i k / n)."""
    k %= n
    if not k:
        return x
    if 8 * k % n:
        angle = 2 * pi * k / n
        c, s = number(cos(angle)), number(-sin(angle))
        return out.let(f"{x} * {c} + vec2f(-{x}.y, {x}.x) * {s}")
    half = number(0.5**0.5)
    return out.let(
        (
            f"vec2f({x}.x + {x}.y, {x}.y - {x}.x) * {half}",
            f"vec2f({x}.y, -{x}.x)",
            f"vec2f({x}.y - {x}.x, -{x}.x - {x}.y) * {half}",
            f"-{x}",
            f"vec2f(-{x}.x - {x}.y, {x}.x - {x}.y) * {half}",
            f"vec2f(-{x}.y, {x}.x)",
            f"vec2f({x}.x - {x}.y, {x}.x + {x}.y) * {half}",
        )[8 * k // n - 1]
    )


def butterfly(out: Lines, x: list[str]) -> list[str]:
    """The Fourier transform of named values, in order."""
    n = len(x)
    if n == 1:
        return x
    if n == 2:
        return [out.let(f"{x[0]} + {x[1]}"), out.let(f"{x[0]} - {x[1]}")]
    if not n % 2:
        r = 4 if n == 16 else 2
        m = n // r
        inner = [butterfly(out, x[b::m]) for b in range(m)]
        y = [""] * n
        for k in range(r):
            part = butterfly(out, [turned(out, inner[b][k], b * k, n) for b in range(m)])
            y[k::r] = part
        return y
    half = range(1, n // 2 + 1)
    plus = [out.let(f"{x[j]} + {x[n - j]}") for j in half]
    minus = [out.let(f"{x[j]} - {x[n - j]}") for j in half]
    y = [out.let(" + ".join([x[0], *plus]))] + [""] * (n - 1)
    for k in half:
        angles = [2 * pi * (j * k % n) / n for j in half]
        a = out.let(
            " + ".join([x[0], *(f"{p} * {number(cos(t))}" for p, t in zip(plus, angles, strict=True))])
        )
        b = out.let(" + ".join(f"{m} * {number(sin(t))}" for m, t in zip(minus, angles, strict=True)))
        y[k] = out.let(f"{a} + vec2f({b}.y, -{b}.x)")
        y[n - k] = out.let(f"{a} - vec2f({b}.y, -{b}.x)")
    return y


def powers(out: Lines, w: str, count: int) -> list[str]:
    """w, w^2 .. by as few products one after the other as there can be."""
    found = [w]
    for k in range(2, count + 1):
        found.append(out.let(f"fft_times({found[k // 2 - 1]}, {found[k - k // 2 - 1]})"))
    return found


def stage(key: tuple[str, int, str, str, bool, int]) -> tuple[str, str]:
    """fft_stage.wgsl of (name, radix, load, store, whether it is the first, threads)."""
    name, radix, load, store, first, wg = key
    out = Lines()
    x = [out.let("load(begin, j" + (f" + {k}u * apart)" if k else ")")) for k in range(radix)]
    if not first and radix > 1:
        w = out.let("fft_root(rest, before * R, bitcast<vec2f>(P[7].xy))")
        x[1:] = [
            out.let(f"fft_times({a}, {b})") for a, b in zip(x[1:], powers(out, w, radix - 1), strict=True)
        ]
    for k, y in enumerate(butterfly(out, x)):
        out.lines.append(f"  store(into, place + {k}u * before, {y});\n")
    text = kernels.specialise(name, R=radix, WG=wg)
    return line_hooks(kernels.replace_block(text, "butterfly", out.text()), load, store)


def real(key: tuple[str, bool, str, int]) -> tuple[str, str]:
    """fft_real.wgsl of (name, whether from complex pairs to the result, load, threads)."""
    name, unpacks, load, wg = key
    return line_hooks(kernels.specialise(name, UNPACK=unpacks, WG=wg), load, "complex")


def mixed(key: tuple[str, int, int, str, str]) -> tuple[str, str]:
    """fft_mixed.wgsl of (name, threads, positions a half, load, store)."""
    name, wg, half, load, store = key
    cases = []
    for radix in RADICES:
        out = Lines()
        x = [out.let("stage[read" + (f" + {k}u * apart]" if k else "]")) for k in range(radix)]
        w = powers(out, "w", radix - 1)
        x[1:] = [out.let(f"fft_times({a}, {b})") for a, b in zip(x[1:], w, strict=True)]
        for k, y in enumerate(butterfly(out, x)):
            out.lines.append(f"  stage[into + {k}u * before] = {y};\n")
        cases.append(f"case {radix}u: {{\n{out.text()}}}\n")
    steps = "let w = fft_root(rest, whole, by);\nswitch radix {\n" + "".join(cases) + "default: {}\n}\n"
    text = kernels.specialise(name, WG=wg, HALF=half)
    return line_hooks(kernels.replace_block(text, "steps", steps), load, store)
