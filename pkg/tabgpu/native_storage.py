"""Small texts that outlive the process, on the native host: files in the user's cache folder. In a tab: IndexedDB."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "TABGPU_CACHE"


def folder() -> Path | None:
    """Where they are kept: TABGPU_CACHE, or the user's cache folder; None (TABGPU_CACHE=off, no home) for nowhere."""
    told = os.environ.get(VARIABLE, "")
    if told:
        return None if told.lower() == "off" else Path(told)
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return base / "tabgpu"


def recall(key: str) -> str:
    """The text under a key; empty if there is none, or it cannot be read."""
    at = folder()
    if at is None:
        return ""
    try:
        return (at / f"{key}.json").read_text("utf-8")
    except (OSError, ValueError):
        return ""


def keep(key: str, text: str) -> bool:
    """Puts a text under a key, or nothing if it is empty; whether that worked."""
    at = folder()
    if at is None:
        return False
    file = at / f"{key}.json"
    try:
        if not text:
            file.unlink(missing_ok=True)
            return True
        at.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f"{key}.{os.getpid()}.part")
        fresh.write_text(text, "utf-8")
        fresh.replace(file)
    except OSError:
        return False
    return True
