"""What pool.wgsl makes of a window: its State and how taps go into it, for each function of a pool."""

from __future__ import annotations

_SUM = """struct State {{ row: f32, total: f32 }}
fn begin() -> State {{ return State(0.0f, 0.0f); }}
fn take(s: State, v: V, place: u32) -> State {{ return State(s.row + {term}, s.total); }}
fn turn(s: State) -> State {{ return State(0.0f, s.total + s.row); }}
fn join(a: State, b: State) -> State {{ return State(0.0f, a.total + b.total); }}
fn finish(s: State, count: f32, center: u32) -> V {{
  {last}
}}
"""
# A mean, times P[1].w; nothing is lost where the two are one number.
_MEAN = """let all = bitcast<f32>(P[1].w);
  let m = select(div_f32(s.total, max(count, 1.0f)) * all, s.total, count == all);
  return {root};"""
_POWER = "bitcast<f32>(P[2].x)"


def _mean(term: str, root: str) -> str:
    return _SUM.format(term=term, last=_MEAN.format(root=root))


# The greatest key wins, of equal ones the first; NaN has the greatest and of NaNs the last wins (as PyTorch).
_MAX = """struct State {{ top: u32, best: V{field} }}
fn begin() -> State {{ return State(0u, {none}{unset}); }}
fn take(s: State, v: V, place: u32) -> State {{
  let k = {key};
  if ({better}) {{ return State(k, v{taken}); }}
  return s;
}}
fn turn(s: State) -> State {{ return s; }}
fn join(a: State, b: State) -> State {{
  let k = b.top;
  let place = {theirs};
  let s = a;
  if ({better}) {{ return b; }}
  return a;
}}
fn finish(s: State, count: f32, center: u32) -> V {{ return s.best; }}
"""
_KEY = {
    "f": "rank_max_f32({v})",
    "i": "(bitcast<u32>({v}) ^ 0x80000000u)",
    "u": "{v}",
}
# Through a uniform's bits, so that no compiler sees an infinity.
_NONE = {"f": "bitcast<f32>(P[2].x)", "i": "bitcast<i32>(P[2].x)", "u": "P[2].x"}


def _max(kind: str, places: bool) -> str:
    nan = "k == 0xff000002u" if kind == "f" else "false"
    tie = f"select((place < s.place), (place > s.place), {nan})"
    return _MAX.format(
        field=", place: u32" if places else "",
        none=_NONE[kind],
        unset=", 0xffffffffu" if places else "",
        key=_KEY[kind].format(v="v"),
        better=f"k > s.top || (k == s.top && {tie})" if places else "k > s.top",
        taken=", place" if places else "",
        theirs="b.place" if places else "0u",
    )


def text(name: str, kind: str) -> str:
    """The functions for elements of a kind (f, i or u)."""
    if name in ("max", "argmax"):
        return _max(kind, name == "argmax")
    return {
        "avg": _mean("v", "m"),
        "lp1": _mean("v", "m"),
        "lp2": _mean("v * v", "sqrt_f32(m)"),
        "lp": _mean(f"pow_f32(v, {_POWER})", "pow_f32(m, bitcast<f32>(P[2].y))"),
        "lpabs": _mean(f"pow_f32(absolute_f32(v), {_POWER})", "pow_f32(m, bitcast<f32>(P[2].y))"),
        "lrn": _SUM.format(
            term="v * v",
            last=f"return load(center) * pow_f32(fma(bitcast<f32>(P[2].z), s.total, bitcast<f32>(P[2].y)), {_POWER});",
        ),
    }[name]


NAMES = ("max", "argmax", "avg", "lp1", "lp2", "lp", "lpabs", "lrn")
