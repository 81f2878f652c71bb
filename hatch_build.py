"""The build step of the wheel: its files as host/slim.py makes them smaller. Editable installs have the tree itself."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Slim(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the wheel's files in place; pyproject.toml itself selects py.typed only."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        spec = importlib.util.spec_from_file_location("slim", root / "pkg/tabgpu/host/slim.py")
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        package = root / "pkg"
        found = [package / "tabgpu_command.py", *sorted((package / "tabgpu").rglob("*"))]
        files = {
            f.relative_to(package).as_posix(): f.read_bytes()
            for f in found
            if f.is_file() and "__pycache__" not in f.parts and f.name != "py.typed"
        }
        files["tabgpu/bridge.js"] = (root / "js_bridge" / "bridge.js").read_bytes()
        self.folder = tempfile.TemporaryDirectory()
        for name, data in made.slim(files).items():
            path = Path(self.folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            build_data["force_include"][str(path)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
