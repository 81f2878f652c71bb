"""Markdown to passages: what to search. Headings say where a passage stands; tables and links become plain words."""

from __future__ import annotations

import re
from typing import NamedTuple

SHORTEST = 40  # characters


class Passage(NamedTuple):
    source: str
    heading: str
    text: str


def split(markdown: str, source: str) -> list[Passage]:
    """Paragraphs, list items and rows of tables with at least SHORTEST characters, in order."""
    heading, made, lines, code = "", [], [], False

    def end() -> None:
        text = plain(" ".join(lines))
        lines.clear()
        if len(text) >= SHORTEST:
            made.append(Passage(source, heading, text))

    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            end()
            code = not code
        elif code:
            continue
        elif found := re.match(r"#+\s+(.*)", line):
            end()
            heading = plain(found[1])
        elif re.match(r"\s*\|", line):
            end()
            if not re.fullmatch(r"[\s|:-]+", line):
                lines.append(line.strip().strip("|").replace("|", ": ", 1).replace("|", ", "))
                end()
        elif re.match(r"\s*([-*]|\d+\.)\s", line):
            end()
            lines.append(re.sub(r"^\s*([-*]|\d+\.)\s+", "", line))
        elif line.strip():
            lines.append(line.strip())
        else:
            end()
    end()
    return made


def plain(text: str) -> str:
    """Text without Markdown's marks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("`", "").replace("**", "")).strip()
