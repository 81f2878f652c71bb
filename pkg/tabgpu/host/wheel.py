"""Makes the wheel that the tab installs, from the source tree or from the installed package's own files."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from pathlib import Path

from tabgpu.host.slim import slim

PACKAGE = Path(__file__).resolve().parents[1]
NAME = "tabgpu"
SKIP = {"host", "__pycache__"}


def source_tree() -> Path | None:
    """The project's folder when this package runs from its source tree."""
    root = PACKAGE.parents[1]
    return root if (root / "js_bridge").is_dir() and (root / "pyproject.toml").is_file() else None


def version() -> str:
    """The version of the source tree's pyproject.toml when there is one, otherwise of the installed distribution."""
    tree = source_tree()
    if tree is not None:
        import tomllib

        return str(tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    from importlib.metadata import version as installed

    return installed(NAME)


def wheel_name() -> str:
    return f"{NAME}-{version()}-py3-none-any.whl"


def package_files() -> dict[str, bytes]:
    """Archive name -> content of all that the tab needs: the package without the host's, with bridge.js beside it."""
    files = {}
    for file in sorted(PACKAGE.rglob("*")):
        parts = file.relative_to(PACKAGE).parts
        native = parts[0].startswith(("native_", "bridge_native"))
        if file.is_file() and not native and not SKIP.intersection(parts) and file.suffix != ".pyc":
            files["/".join((NAME, *parts))] = file.read_bytes()
    tree = source_tree()  # an installed package has its bridge.js inside
    bridge = tree / "js_bridge" / "bridge.js" if tree else None
    if bridge is not None and bridge.is_file():
        files[f"{NAME}/bridge.js"] = bridge.read_bytes()
    return slim(files)


def pack_wheel(name: str, version: str, files: dict[str, bytes], metadata: str) -> bytes:
    """A pure wheel with these files; the same files give the same bytes."""
    info = f"{name}-{version}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: tabgpu\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    return pack_zip(files)


def pack_zip(files: dict[str, bytes]) -> bytes:
    """A zip archive with fixed dates, so that equal content is equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, date_time=(2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return buffer.getvalue()


def tab_wheel() -> bytes:
    """The bytes of tabgpu's wheel for the tab."""
    metadata = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\nRequires-Python: >=3.11\n"
    metadata += "Requires-Dist: numpy\n"
    return pack_wheel(NAME, version(), package_files(), metadata)
