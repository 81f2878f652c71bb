"""A whole WGSL module of a user's: what it declares, and its text as our pipelines want it.

Our pipelines bind storage at group 0, what is read first, and 32-bit words as a uniform at group 1; the entry is
`main`. Only the numbers of bindings and the entry's name change in the text, never its lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .codegen_custom import balanced, bare, lines_of, marked

_BINDING = re.compile(
    r"((?:@(?:group|binding)\s*\(\s*\w+\s*\)\s*){2})var\s*<\s*(storage|uniform)\s*(?:,\s*(\w+)\s*)?>\s*(\w+)\s*:\s*([^;]+);"
)
_ATTRIBUTES = r"((?:@\w+\s*(?:\([^)]*\))?\s*)*)"
_ALIAS = re.compile(r"^\s*alias\s+(\w+)\s*=\s*([^;]+);", re.M)
_CONST = re.compile(r"\b(?:const|override)\s+(\w+)\s*(?::\s*\w+\s*)?=\s*(\d+)[ui]?\s*;")
_VECTOR = re.compile(r"vec([234])(?:([fiuh])|<(\w+)>)$")
_SHORT = {"f32": "f", "i32": "i", "u32": "u", "f16": "h"}


class Storage(NamedTuple):
    """A storage binding: its name, whether it is written, and what its elements are: a letter f i u h, how many of them
    make one, or "" for a structure."""

    name: str
    written: bool
    declared: str
    kind: str
    lanes: int


class Module(NamedTuple):
    """storage: reads first, as they are bound. order: the position of each binding in the user's order. scalars: (name,
    kinds) of each member of the uniform; words: where they go, -1 for padding, else the scalar's number and component.
    enables: what the text wants of the device."""

    code: str
    storage: tuple[Storage, ...]
    order: tuple[int, ...]
    scalars: tuple[tuple[str, str], ...]
    words: tuple[tuple[int, int], ...]
    block: tuple[int, ...]
    enables: tuple[str, ...]


def module(source: str, entry: str) -> Module:
    """What a text declares; ValueError (with the line, where there is one) for what our pipelines cannot take."""
    text = "\n".join(lines_of(source))
    balanced(text, entry)
    plain = bare(text)
    aliases = {name: value.strip() for name, value in _ALIAS.findall(plain)}
    found = []
    uniforms = []
    for match in _BINDING.finditer(plain):
        attributes, space, access, name, declared = match.groups()
        numbers = dict(re.findall(r"@(group|binding)\s*\(\s*(\w+?)[ui]?\s*\)", attributes))
        line = plain.count("\n", 0, match.start()) + 1
        if set(numbers) != {"group", "binding"} or not all(n.isdigit() for n in numbers.values()):
            raise ValueError(f"{entry}, line {line}: {name} needs @group(number) and @binding(number)")
        at = int(numbers["group"]), int(numbers["binding"])
        declared = " ".join(declared.split())
        if space == "uniform":
            uniforms.append((at, match, name, declared))
            continue
        if access not in (None, "read", "read_write"):
            raise ValueError(f"{entry}, line {line}: {name} is {access}; it can be read or read_write")
        kind, lanes = _element(declared, aliases)
        found.append((at, match, Storage(name, access == "read_write", declared, kind, lanes)))
    places = [at for at, *_ in (*found, *uniforms)]
    if len(set(places)) != len(places):
        raise ValueError(f"{entry}: two variables have the same @group and @binding")
    if len(uniforms) > 1:
        names = " and ".join(name for *_, name, _ in uniforms)
        raise ValueError(f"{entry}: one uniform variable holds all scalars; there are {names}")
    left = len(re.findall(r"\bvar\s*<\s*(?:storage|uniform)\b", plain)) - len(places)
    if left or re.search(r":\s*(?:texture_|sampler)", plain):
        raise ValueError(
            f"{entry}: variables are storage or uniform buffers with @group(..) @binding(..) in front"
        )
    found.sort(key=lambda one: one[0])
    bound = sorted(range(len(found)), key=lambda k: found[k][2].written)
    if not any(one.written for *_, one in found):
        raise ValueError(f"{entry}: no binding is read_write: the kernel gives nothing")
    edits = [(found[k][1], 0, place) for place, k in enumerate(bound)]
    edits += [(match, 1, 0) for _, match, *_ in uniforms]
    scalars, words = _uniform(uniforms[0][2], uniforms[0][3], plain, aliases, entry) if uniforms else ((), ())
    block = _block(plain, entry)
    for match, group, binding in sorted(edits, key=lambda e: -e[0].start()):
        start, end = match.span(1)
        breaks = "\n" * text.count("\n", start, end)
        text = f"{text[:start]}@group({group}) @binding({binding}) {breaks}{text[end:]}"
    if entry != "main":
        text = re.sub(r"\bmain\b", "main_", text)
        text = re.sub(rf"(?<![\w.]){entry}\b", "main", text)
    enables = re.findall(r"^\s*enable\s+([\w, ]+);", plain, re.M)
    return Module(
        marked(entry, source, text) + "\n", tuple(found[k][2] for k in bound), tuple(bound), scalars, words, block,
        tuple(name.strip() for one in enables for name in one.split(",")),
    )  # fmt: skip


def _element(declared: str, aliases: dict[str, str]) -> tuple[str, int]:
    """(letter, lanes) of what a binding holds; "" for structures and matrices."""
    inner = aliases.get(declared, declared).replace(" ", "")
    found = re.fullmatch(r"array<(.+?)(?:,\w+)?>", inner)
    inner = found[1] if found else inner
    inner = aliases.get(inner, inner).replace(" ", "")
    found = re.fullmatch(r"atomic<(\w+)>", inner)
    inner = found[1] if found else inner
    if inner in _SHORT:
        return _SHORT[inner], 1
    vector = _VECTOR.match(inner)
    if vector is None:
        return "", 1
    return vector[2] or _SHORT.get(aliases.get(vector[3], vector[3]), ""), int(vector[1])


def _uniform(
    name: str, declared: str, plain: str, aliases: dict[str, str], entry: str
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[int, int], ...]]:
    """(scalars, words) of the uniform: a 32-bit number, a vector of them, or a structure of both."""
    declared = aliases.get(declared, declared)
    found = re.search(rf"\bstruct\s+{re.escape(declared)}\s*\{{([^}}]*)\}}", plain)
    members = [(name, declared)]
    if found is not None:
        if "@" in found[1]:
            raise ValueError(f"{entry}: struct {declared}: members with attributes are not for scalars")
        members = []
        for one in re.split(r"[,;](?![^<]*>)", found[1]):
            if one.strip():
                member, _, kind = one.partition(":")
                members.append((member.strip(), kind.strip()))
    scalars: list[tuple[str, str]] = []
    words: list[tuple[int, int]] = []
    for member, kind in members:
        letter, lanes = _element(kind, aliases)
        if letter not in ("f", "i", "u") or kind.replace(" ", "").startswith(("array", "atomic")):
            raise ValueError(
                f"{entry}: {member}: {kind} in a uniform; scalars are f32, i32, u32 and vectors of them"
            )
        align = {1: 1, 2: 2, 3: 4, 4: 4}[lanes]
        words += [(-1, 0)] * (-len(words) % align)
        words += [(len(scalars), c) for c in range(lanes)]
        scalars.append((member, letter * lanes))
    if len(words) > 1024:
        raise ValueError(f"{entry}: {len(words)} words of scalars; there is room for 1,024")
    return tuple(scalars), tuple(words)


def _block(plain: str, entry: str) -> tuple[int, ...]:
    """The workgroup size of the entry; 0 for what is not a plain number."""
    found = re.search(rf"{_ATTRIBUTES}\bfn\s+{entry}\s*\(", plain)
    if found is None or "@compute" not in found[1]:
        others = re.findall(r"@compute\b[^{}]*?\bfn\s+(\w+)", plain)
        raise ValueError(
            f"{entry}: there is no `@compute fn {entry}`; the text has {', '.join(others) or 'none'}"
        )
    size = re.search(r"@workgroup_size\s*\(([^)]*)\)", found[1])
    if size is None:
        raise ValueError(f"{entry}: @workgroup_size is missing")
    known = dict(_CONST.findall(plain))
    numbers = []
    for one in (part.strip() for part in size[1].split(",") if part.strip()):
        number = re.fullmatch(r"(\d+)[ui]?", known.get(one, one))
        numbers.append(int(number[1]) if number else 0)
    return (*numbers, 1, 1)[:3]
