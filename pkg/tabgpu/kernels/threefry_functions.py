"""The functions of random words and draws once more, with the blocks of Threefry in the place of Philox's."""

from __future__ import annotations

import re
from functools import cache

from . import _DEFINED, bodies, define, read

FILES = ("random_words", "random_pairs", "random_draws", "random_counts")
_USES = re.compile(r"^// use .*$", re.M)
_FILES = re.compile(rf"\b({'|'.join(FILES)})\b")


@cache
def add() -> None:
    """Puts them into the library: NAME_threefry for each function NAME of FILES."""
    every = [name for stem in FILES for name in _DEFINED.findall(read(f"lib/{stem}"))]
    ours = re.compile(rf"\b({'|'.join(every)})\(")
    for stem in FILES:
        text = ours.sub(r"\1_threefry(", read(f"lib/{stem}"))
        text = text.replace("philox4x32(", "threefry_block(").replace("philox_line(", "threefry_line(")
        text = _USES.sub(
            lambda m: _FILES.sub(r"threefry_\1", m[0]).replace("philox", "philox, threefry"), text
        )
        define(f"threefry_{stem}", _DEFINED.findall(text), text)
    bodies.cache_clear()
