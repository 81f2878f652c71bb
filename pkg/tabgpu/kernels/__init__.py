"""Hand-written WGSL: reads the .wgsl files, pulls in what they `// use`, rewrites their const and alias lines."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_LINE = re.compile(r"^(const|alias) (\w+) = (.*?);", re.M)
_ENABLE = re.compile(r"^(?:enable \w+|diagnostic\(\w+, [\w.]+\));$", re.M)
_USE = re.compile(r"^// use ([\w ,]+)$", re.M)
_EXPLAINS = re.compile(r"^ *//(?! use )(?! *\w+: (?:begin|end)\b)[^\n]*\n", re.M)  # as host/slim.py has it
_DEFINED = re.compile(r"^fn (\w+)\(", re.M)
_BODY = re.compile(r"^fn (\w+)\([^\n]*(?:\}$|\{\n(?:.*\n)*?^\})", re.M)
_CALLED = re.compile(r"\b(\w+)\(")


@cache
def packed() -> dict[str, str]:
    """The kernels by name, as a wheel has them in one file (host/slim.py); none in a source tree."""
    file = resources.files(__package__) / "packed.txt"
    if not file.is_file():
        return {}
    parts = re.split(r"^//// (.*)\n", file.read_text("utf-8"), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def read(name: str) -> str:
    """The text of kernels/NAME.wgsl, less the lines that only explain."""
    found = packed().get(name)
    if found is not None:
        return found
    return _EXPLAINS.sub("", (resources.files(__package__) / f"{name}.wgsl").read_text("utf-8"))


def names(folder: str = "") -> list[str]:
    """The kernels of a folder ("" or "lib/"), sorted."""
    here = resources.files(__package__) / folder
    files = (
        [e.name.removesuffix(".wgsl") for e in here.iterdir() if e.name.endswith(".wgsl")]
        if here.is_dir()
        else []
    )
    files += [n.removeprefix(folder) for n in packed() if n.rpartition("/")[0] + "/" * ("/" in n) == folder]
    return sorted(files)


@cache
def homes() -> dict[str, str]:
    """Function name -> the lib file that defines it."""
    found: dict[str, str] = {}
    for stem in names("lib/"):
        for function in _DEFINED.findall(read(f"lib/{stem}")):
            if function in found:
                raise ValueError(f"kernels: {function} is defined in lib/{found[function]} and lib/{stem}")
            found[function] = stem
    return found


def define(stem: str, functions: list[str], text: str) -> None:
    """Adds a file to the library while the program runs (a user's WGSL): whatever calls its functions brings it
    along."""
    homes().update(dict.fromkeys(functions, stem))
    packed()[f"lib/{stem}"] = text


def _add_threefry(text: str) -> None:
    if "_threefry(" in text:
        from .threefry_functions import add

        add()


def called(text: str) -> list[str]:
    """The lib files that define functions which a WGSL text calls, sorted."""
    _add_threefry(text)
    index = homes()
    return sorted({index[name] for name in _CALLED.findall(text) if name in index})


def library(files: list[str]) -> str:
    """The lib files and all they use, each once, users after what they use."""
    done: dict[str, str] = {}

    def visit(file: str) -> None:
        if file in done:
            return
        done[file] = ""
        text = read(f"lib/{file}")
        for name in uses(text):
            visit(name)
        done[file] = done.pop(file) + text

    for file in files:
        visit(file)
    return "\n".join(done.values())


@cache
def bodies() -> dict[str, str]:
    """Function name -> its text, for all of the library."""
    texts = [read(f"lib/{stem}") for stem in sorted(set(homes().values()))]
    return {m.group(1): m.group(0) for text in texts for m in _BODY.finditer(text)}


def weight(expr: str) -> int:
    """What compiling an expression costs, in additions: compilers inline every call, and their time grows with more
    than the size of the result. A fit to SwiftShader's times."""
    todo = _CALLED.findall(expr)
    if not todo:
        return 1
    _add_threefry(expr)
    known, seen = bodies(), set[str]()
    while todo:
        name = todo.pop()
        if name in known and name not in seen:
            seen.add(name)
            todo += _CALLED.findall(known[name])
    return 1 + round((sum(len(known[name]) for name in seen) / 910) ** 2)


def uses(text: str) -> list[str]:
    """The names in a text's `// use` lines."""
    return [name for line in _USE.findall(text) for name in re.split(r"[ ,]+", line.strip()) if name]


def rewrite(text: str, params: dict[str, object]) -> str:
    """The text with its own top-level `const NAME = ..;` and `alias NAME = ..;` lines changed; ValueError on others."""
    left = dict(params)

    def line(match: re.Match[str]) -> str:
        kind, name, old = match.groups()
        if name not in left:
            return match.group(0)
        value = left.pop(name)
        if isinstance(value, bool):
            new = "true" if value else "false"
        elif isinstance(value, int):
            new = f"{value}u" if old.endswith("u") else str(value)
        else:
            new = str(value)
        return f"{kind} {name} = {new};"

    out = _LINE.sub(line, text)
    if left:
        raise ValueError(f"kernels: no const or alias line for {', '.join(left)}")
    return out


def enabled(text: str) -> str:
    """The text with its `enable` and `diagnostic` lines in front, where WGSL wants them."""
    lines = dict.fromkeys(_ENABLE.findall(text))
    return "".join(f"{line}\n" for line in lines) + _ENABLE.sub("", text) if lines else text


def specialise(name: str, **params: object) -> str:
    """kernels/NAME.wgsl with its tunables set and its library in front: a whole module."""
    text = rewrite(read(name), params)
    return enabled(library(uses(text)) + "\n" + text)


def replace_function(text: str, name: str, body: str) -> str:
    """The text with the top-level function `name` replaced by another text (a hook)."""
    found = re.search(rf"^fn {name}\(.*?^\}}|^fn {name}\(.*\}}$", text, re.M | re.S)
    one_line = re.search(rf"^fn {name}\([^\n]*\}}$", text, re.M)
    found = one_line or found
    if not found:
        raise ValueError(f"kernels: no hook fn {name}")
    return text[: found.start()] + body + text[found.end() :]


def replace_block(text: str, name: str, body: str) -> str:
    """The text with what stands between the lines `// NAME: begin` and `// NAME: end` replaced."""
    found = re.search(rf"^ *// {name}: begin.*?\n(.*?)^ *// {name}: end", text, re.M | re.S)
    if not found:
        raise ValueError(f"kernels: no block {name}")
    return text[: found.start(1)] + body + text[found.end(1) :]
