"""A user's WGSL inside our texts: checked, names that could meet renamed, every line findable in an error.

Lines of a user's stand between `//@ LABEL` and `//@`; what was changed in a line is behind it, after `//=`. The bridges
read these marks when a compiler complains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from . import kernels
from .codegen import (
    SCALAR_TYPE,
    VECTOR_TYPE,
    address,
    bindings,
    element_type,
    load_one,
    locator,
    parameters,
    store_four,
    walking,
    with_library,
    word,
)
from .dtypes import DType

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for "
        "if let loop override requires return struct switch true var while",
    )
)
_BREAK = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")  # what ends a line of WGSL
_COMMENT = re.compile("//[^\n\v\f\r\x85\u2028\u2029]*|/\\*")
_NESTED = re.compile(r"/\*|\*/")
_DECLARED = re.compile(
    r"^[ \t]*(?:@[\w() ,]+\s+)*(?:fn|struct|alias|const|override|var\s*<\s*\w+\s*>)\s+(\w+)", re.M
)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_numbers = count(1)
_units: dict[tuple[object, ...], str] = {}  # what a unit is made of -> its stem


def lines_of(text: str) -> list[str]:
    """A text as the lines that WGSL counts."""
    return _BREAK.split(text)


def bare(text: str) -> str:
    """The text with blanks for comments (which may be nested), every other character at its place."""
    parts: list[str] = []
    at = 0
    while (found := _COMMENT.search(text, at)) is not None:
        end, depth = found.end(), int(found[0] == "/*")
        while depth:
            mark = _NESTED.search(text, end)
            if mark is None:  # not closed: `balanced` says so
                return "".join([*parts, text[at:]])
            end, depth = mark.end(), depth + (1 if mark[0] == "/*" else -1)
        parts += [text[at : found.start()], re.sub(r"[^\n]", " ", text[found.start() : end])]
        at = end
    return "".join([*parts, text[at:]])


def identifier(name: str, what: str, where: str, words: bool = False) -> str:
    """The name; ValueError unless WGSL takes it as one. words: what stands in no text may be a word of WGSL."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.A) or name.startswith("__"):
        raise ValueError(f"{where}: {what} {name!r} is no WGSL identifier")
    if not words and (name == "_" or name in KEYWORDS):
        raise ValueError(f"{where}: {what} {name!r} is a word of WGSL itself")
    return name


def balanced(text: str, where: str) -> None:
    """ValueError where a bracket or comment has no partner: a text put between others must not end them."""
    open_: list[tuple[str, int]] = []
    for number, line in enumerate(bare("\n".join(lines_of(text))).split("\n"), 1):
        if "/*" in line:
            raise ValueError(f"{where}, line {number}: '/*' is not closed")
        for c in line:
            if c in "([{":
                open_.append((c, number))
            elif c in ")]}" and (not open_ or open_.pop()[0] != _CLOSES[c]):
                raise ValueError(f"{where}, line {number}: {c!r} closes nothing")
    if open_:
        raise ValueError(f"{where}, line {open_[-1][1]}: {open_[-1][0]!r} is not closed")


def uses(text: str, name: str) -> bool:
    """Whether a text mentions a name (not as a member)."""
    return re.search(rf"(?<![\w.]){name}\b", bare(text)) is not None


def renamed(text: str, names: dict[str, str]) -> str:
    """The text with other names for some of its own."""
    if not names:
        return text
    pattern = rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})\b"
    return re.sub(pattern, lambda m: names[m[0]], text)


def marked(label: str, was: str, now: str) -> str:
    """Lines of a user's as they go into a module; a label has no line break."""
    out = [f"//@ {label}"]
    for old, new in zip(lines_of(was), lines_of(now), strict=True):
        out.append(f" {new}" + (f"  //= {old.strip()}" if new != old else ""))
    return "\n".join([*out, "//@"])


def place(code: str, number: int) -> tuple[str, int, str]:
    """(label, line, text) of the user's line that a module's line is; label "" where it is none."""
    lines = code.split("\n")
    text = lines[number - 1] if 0 < number <= len(lines) else ""
    for k in range(min(number, len(lines)) - 1, -1, -1):
        if lines[k].startswith("//@"):
            label = lines[k][4:]
            return label, number - 1 - k if label else number, text.rpartition("//= ")[2].strip()
    return "", number, text.strip()


class Body(NamedTuple):
    """What an elementwise unit is made of. ins and outs: (name, WGSL type); raws: (name, value's WGSL type); types:
    what placeholders stand for. expression: the operation is a value of the one out's type, not statements."""

    label: str
    ins: tuple[tuple[str, str], ...]
    outs: tuple[tuple[str, str], ...]
    operation: str
    preamble: str
    types: tuple[tuple[str, str], ...]
    raws: tuple[tuple[str, str], ...] = ()
    expression: bool = False


def unit(body: Body) -> str:
    """The stem of a file of the library that computes a body, made once: fn STEM(ins.., [i, n]) gives the out or a
    struct of outs, fn STEM_K the K-th of several."""
    stem = _units.get(body)
    if stem is not None:
        return stem
    stem = _units[body] = f"user_{next(_numbers)}"
    own = {name: f"{stem}_{name}" for name in _DECLARED.findall(bare("\n".join(lines_of(body.preamble))))}
    names = {**own, **dict(body.types)}
    operation = raw_access(body.operation, [name for name, _ in body.raws], stem)
    head = ", ".join(f"{name}: {kind}" for name, kind in (*body.ins, ("i", "u32"), ("n", "u32")))
    many = len(body.outs) > 1
    result = f"{stem}_out" if many else body.outs[0][1]
    text = ""
    if many:
        text += f"struct {result} {{ {', '.join(f'{name}: {kind}' for name, kind in body.outs)} }}\n"
    if body.preamble:
        text += marked(f"{body.label} (preamble)", body.preamble, renamed(body.preamble, names)) + "\n"
    lines = marked(body.label, body.operation, renamed(operation, names))
    text += f"fn {stem}({head}) -> {result} {{\n"
    if body.expression:
        text += f"return (\n{lines}\n);\n}}\n"
    else:
        text += "".join(f"var {name}: {kind};\n" for name, kind in body.outs)
        made = f"{stem}_made" if many else body.outs[0][0]
        text += f"{lines}\n"
        if many:
            text += f"var {made}: {result};\n" + "".join(
                f"{made}.{name} = {name};\n" for name, _ in body.outs
            )
        text += f"return {made};\n}}\n"
    functions = [stem]
    if many:
        given = ", ".join(name for name, _ in (*body.ins, ("i", ""), ("n", "")))
        for k, (name, kind) in enumerate(body.outs):
            text += f"fn {stem}_{k}({head}) -> {kind} {{ return {stem}({given}).{name}; }}\n"
            functions.append(f"{stem}_{k}")
    _define(stem, functions, text)
    return stem


def combining(
    label: str, kind: str, expression: str, preamble: str, types: tuple[tuple[str, str], ...]
) -> str:
    """The stem of a file with fn STEM(a, b), an expression of two values of a WGSL type; bools go as u32."""
    key = ("combining", label, kind, expression, preamble, types)
    stem = _units.get(key)
    if stem is not None:
        return stem
    stem = _units[key] = f"user_{next(_numbers)}"
    own = {name: f"{stem}_{name}" for name in _DECLARED.findall(bare("\n".join(lines_of(preamble))))}
    names = {**own, **dict(types)}
    text = marked(f"{label} (preamble)", preamble, renamed(preamble, names)) + "\n" if preamble else ""
    inner, outer = (stem, "") if kind != "bool" else (f"{stem}_of", "u32")
    lines = marked(f"{label} (reduce)", expression, renamed(expression, names))
    text += f"fn {inner}(a: {kind}, b: {kind}) -> {kind} {{\nreturn (\n{lines}\n);\n}}\n"
    if outer:
        text += f"fn {stem}(a: u32, b: u32) -> u32 {{ return select(0u, 1u, {inner}(a != 0u, b != 0u)); }}\n"
    _define(stem, [stem], text)
    return stem


def _define(stem: str, functions: list[str], text: str) -> None:
    """Puts a file into the library, with what it calls of the library itself."""
    needs = [name for name in kernels.called(text) if name != stem]
    kernels.define(stem, functions, (f"// use {', '.join(needs)}\n" if needs else "") + text)


def text_of(stem: str) -> str:
    """A whole module with a unit and nothing that calls it."""
    return kernels.library([stem]) + "\n@compute @workgroup_size(1)\nfn main() {}\n"


def raw_access(text: str, names: Iterable[str], stem: str) -> str:
    """`x[index]` of raw arguments as calls of our reading functions, `x.size` as one of their sizes."""
    for name in names:
        text = re.sub(
            rf"(?<![\w.]){name}[ \t]*\.[ \t]*size\b(?:[ \t]*\([ \t]*\))?", f"{stem}_size_{name}()", text
        )
        found = re.compile(rf"(?<![\w.]){name}[ \t]*\[")
        while (match := found.search(bare(text))) is not None:
            end = _closing(bare(text), match.end())
            inner = text[match.end() : end]
            text = f"{text[: match.start()]}{stem}_at_{name}(u32({inner})){text[end + 1 :]}"
    return text


def _closing(text: str, at: int) -> int:
    """Where the bracket closes that was opened before `at`; brackets are known to be balanced."""
    depth = 1
    while True:
        depth += (text[at] == "[") - (text[at] == "]")
        if not depth:
            return at
        at += 1


class Whole(NamedTuple):
    """An elementwise kernel of a user's with a launch of its own. ins: (how, dtype), how "a" a strided array, "s" a
    scalar; raws: (name, dtype) of whole arrays."""

    stem: str
    ins: tuple[tuple[str, DType], ...]
    raws: tuple[tuple[str, DType], ...]
    outs: tuple[tuple[str, DType], ...]
    rank: int
    workgroup: int


FIRST = 2  # word of the space's sizes


def whole(sig: Whole) -> tuple[str, str]:
    """(WGSL, access string): b0.. strided arrays, then raw ones, w0.. outs. Words: 0 first element, 1 end, sizes;
    of each array offset and strides; of each raw one its size; n; scalars (complex ones take two)."""
    rank, at = sig.rank, FIRST + sig.rank
    functions = locator("locate", rank, FIRST)
    lines = [f"let p{j} = locate(i + {j}u);" for j in range(4)]
    arguments: list[list[str]] = [[], [], [], []]
    b = 0
    scalars = []
    for k, (how, dtype) in enumerate(sig.ins):
        if how == "s":
            scalars.append((k, dtype))
            for some in arguments:
                some.append(f"s{k}")
            continue
        for j, some in enumerate(arguments):
            lines.append(f"let d{k}_{j} = {address(f'p{j}', rank, word(at), at + 1)};")
            lines.append(f"let a{k}_{j} = {load_one(b, dtype, f'd{k}_{j}')};")
            some.append(f"a{k}_{j}")
        at += 1 + rank
        b += 1
    for name, dtype in sig.raws:
        value = load_one(b, dtype, "k")
        functions += f"fn {sig.stem}_at_{name}(k: u32) -> {SCALAR_TYPE[dtype.kind]} {{ return {value}; }}\n"
        functions += f"fn {sig.stem}_size_{name}() -> u32 {{ return {word(at)}; }}\n"
        at += 1
        b += 1
    n, at = word(at), at + 1
    for k, dtype in scalars:
        lines.append(f"let s{k} = {_scalar(at, dtype)};")
        at += dtype.words
    for j, some in enumerate(arguments):
        lines.append(f"let r{j} = {sig.stem}({', '.join([*some, f'i + {j}u', n])});")
    many = len(sig.outs) > 1
    for m, (name, dtype) in enumerate(sig.outs):
        ones = [f"r{j}.{name}" if many else f"r{j}" for j in range(4)]
        ones = [f"{dtype.fit}({one})" if dtype.fit else one for one in ones]
        lines.append(f"let o{m} = {VECTOR_TYPE[dtype.kind]}({', '.join(ones)});")
        lines += store_four(f"w{m}", dtype, f"o{m}", "i")
    sorts = [(f"b{k}", "u32") for k in range(b)]
    sorts += [(f"w{m}", element_type(dtype)) for m, (_, dtype) in enumerate(sig.outs)]
    body = walking(sig.workgroup, 1, "\n  ".join(lines))
    code = bindings(sorts) + parameters(at) + functions + body
    return with_library(code), "r" * b + "w" * len(sig.outs)


def _scalar(at: int, dtype: DType) -> str:
    bits = word(at)
    if dtype.kind == "c":
        return f"bitcast<vec2f>(vec2u({bits}, {word(at + 1)}))"
    return {"u": bits, "b": f"({bits} != 0u)"}.get(
        dtype.kind
    ) or f"bitcast<{SCALAR_TYPE[dtype.kind]}>({bits})"
