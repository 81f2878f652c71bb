"""The maker of the Pyodide distribution and the resolver of --with: sources, hashes, and what they refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tabgpu.host import deps, dist, pins, wheel
from tabgpu.host.errors import HostError
from tabgpu.host.server import TabServer


def unreachable(*args: object, **kwargs: object) -> None:
    raise AssertionError(f"nothing may be downloaded here: {args}")


@pytest.fixture
def npm(tmp_path: Path, pyodide: Path) -> Path:
    """The files of the npm package, as another distribution has them."""
    folder = tmp_path / "npm"
    folder.mkdir()
    for name in pins.RELEASES[pins.PYODIDE].core:
        shutil.copy(pyodide / ("published-lock.json" if name == "pyodide-lock.json" else name), folder / name)
    return folder


@pytest.fixture
def cdn(tmp_path: Path, pyodide: Path, monkeypatch):
    """A CDN with the wheels of this tree's distribution; nothing else can be reached."""
    folder = tmp_path / "cdn"
    folder.mkdir()
    for file in pyodide.glob("*.whl"):
        shutil.copy(file, folder)
    server = TabServer()
    server.folders = [("/", folder)]
    server.start()
    monkeypatch.setattr(pins.Release, "cdn", property(lambda _: server.url + "/"))
    monkeypatch.setattr(dist, "pip_download", unreachable)
    yield folder
    server.stop()


def test_compiled_wheels_come_from_the_cdn_and_a_second_call_does_nothing(
    tmp_path, npm, cdn, monkeypatch
) -> None:
    out = tmp_path / "out"
    dist.ensure(out, ["numpy", "micropip"], npm=npm, note=print)
    lock = json.loads((out / "pyodide-lock.json").read_bytes())["packages"]
    assert set(lock) == {"numpy", "micropip", "packaging"} or set(lock) == {"numpy", "micropip"}
    for entry in lock.values():
        assert dist.sha256((out / entry["file_name"]).read_bytes()) == entry["sha256"]
    monkeypatch.setattr(dist, "_Maker", unreachable)
    dist.ensure(out, ["numpy"], npm=npm, note=print)


def test_a_file_that_went_missing_is_fetched_again(tmp_path, npm, cdn) -> None:
    out = tmp_path / "out"
    dist.ensure(out, ["numpy"], npm=npm, note=print)
    numpy = next(out.glob("numpy-*.whl"))
    numpy.unlink()
    dist.ensure(out, ["numpy"], npm=npm, note=print)
    assert numpy.is_file()


def test_packages_are_added_to_those_that_are_there(tmp_path, npm, cdn) -> None:
    out = tmp_path / "out"
    dist.ensure(out, ["numpy"], npm=npm, note=print)
    dist.ensure(out, ["micropip"], npm=npm, note=print)
    assert {"numpy", "micropip"} <= set(json.loads((out / "pyodide-lock.json").read_bytes())["packages"])


def test_a_wheel_of_another_source_is_kept_when_others_are_added(tmp_path, npm, cdn) -> None:
    """PyPI's wheels have other hashes than those that Pyodide repacked; they are not fetched for each addition."""
    out = tmp_path / "out"
    dist.ensure(out, ["micropip"], npm=npm, note=print)
    lock = json.loads((out / "pyodide-lock.json").read_bytes())
    entry = lock["packages"]["micropip"]
    wheel_file = out / entry["file_name"]
    wheel_file.write_bytes(wheel_file.read_bytes() + b"\0")
    entry["sha256"] = dist.sha256(wheel_file.read_bytes())
    (out / "pyodide-lock.json").write_text(json.dumps(lock))
    said: list[str] = []
    dist.ensure(out, ["numpy"], npm=npm, note=said.append)
    assert not [line for line in said if "micropip" in line]
    assert (
        json.loads((out / "pyodide-lock.json").read_bytes())["packages"]["micropip"]["sha256"]
        == entry["sha256"]
    )


def test_a_wheel_with_another_hash_is_never_used(tmp_path, npm, cdn, monkeypatch) -> None:
    next(cdn.glob("numpy-*.whl")).write_bytes(b"not numpy")
    monkeypatch.setattr(
        dist._Maker, "_get_bundle", lambda self: {f.name: f.read_bytes() for f in cdn.iterdir()}
    )
    with pytest.raises(HostError, match="numpy 2.4.3 is compiled"):
        dist.ensure(tmp_path / "out", ["numpy"], npm=npm, note=print)
    assert not list((tmp_path / "out").glob("numpy-*"))


def test_a_changed_pyodide_is_refused(tmp_path, npm) -> None:
    (npm / "pyodide.mjs").write_text("changed")
    with pytest.raises(HostError, match="pyodide.mjs: sha256 is .* refusing"):
        dist.ensure(tmp_path / "out", ["numpy"], npm=npm, note=print)


def test_an_unknown_package_is_named(tmp_path, npm) -> None:
    with pytest.raises(HostError, match="no-such-thing is not a package of Pyodide"):
        dist.ensure(tmp_path / "out", ["No.Such_Thing"], npm=npm, note=print)


def make_wheel(folder: Path, name: str, version: str, *requires: str) -> Path:
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {r}\n" for r in requires)
    file = folder / f"{name}-{version}-py3-none-any.whl"
    file.write_bytes(wheel.pack_wheel(name, version, {f"{name}.py": b""}, metadata))
    return file


@pytest.fixture
def index(tmp_path: Path, monkeypatch):
    """A stand-in for PyPI: `index(NAME, VERSION, *requires)` publishes a pure wheel."""
    folder = tmp_path / "index"
    folder.mkdir()
    found: list[tuple[str, str]] = []

    def from_pypi(text: str) -> tuple[str, bytes]:
        need = Requirement(text)
        fitting = [(n, v) for n, v in found if n == need.name and need.specifier.contains(v)]
        if not fitting:
            raise HostError(f"pip could not download {text}")
        name, version = max(fitting)
        file = folder / f"{name}-{version}-py3-none-any.whl"
        return file.name, file.read_bytes()

    def publish(name: str, version: str, *requires: str) -> None:
        make_wheel(folder, name, version, *requires)
        found.append((name, version))

    monkeypatch.setattr(deps, "from_pypi", from_pypi)
    return publish


def resolve(item: Path, pyodide: Path) -> tuple[list[str], list[str]]:
    names, wheels = deps.resolve([str(item)], pyodide, lambda name: None)
    return sorted(names), sorted(wheels)


def test_requirements_come_from_the_lock_the_index_and_never_twice(tmp_path, pyodide, index) -> None:
    index("deep", "1.0")
    index("deep", "2.0", "numpy<1")
    index("pure", "1.5", "deep<2", "numpy")
    item = make_wheel(
        tmp_path, "mine", "1.0", "pure", "tabgpu", "pywin32; sys_platform=='win32'", 'x; extra=="dev"'
    )
    names, wheels = resolve(item, pyodide)
    assert names == ["numpy"]
    assert wheels == ["deep-1.0-py3-none-any.whl", "mine-1.0-py3-none-any.whl", "pure-1.5-py3-none-any.whl"]


def test_a_later_requirement_narrows_an_earlier_choice(tmp_path, pyodide, index) -> None:
    index("deep", "1.0")
    index("deep", "2.0")
    index("pure", "1.0", "deep<2")
    for order in (("deep", "pure"), ("pure", "deep")):
        names, wheels = resolve(make_wheel(tmp_path, "mine", "1.0", *order), pyodide)
        assert (names, wheels[0]) == ([], "deep-1.0-py3-none-any.whl")


def test_a_newer_pure_release_replaces_the_one_of_the_lock(tmp_path, pyodide, index) -> None:
    index("packaging", "99.0")
    names, wheels = resolve(make_wheel(tmp_path, "mine", "1.0", "packaging>=90"), pyodide)
    assert (names, wheels[-1]) == ([], "packaging-99.0-py3-none-any.whl")


def test_what_does_not_fit_names_both_sides(tmp_path, pyodide, index) -> None:
    with pytest.raises(
        HostError, match=r"mine-1.0.* requires tabgpu>=99, but tabgpu .* is given by this tabgpu"
    ):
        resolve(make_wheel(tmp_path, "mine", "1.0", "tabgpu>=99"), pyodide)
    with pytest.raises(HostError, match=r"numpy>=99[\s\S]*needed by mine-1.0"):
        resolve(make_wheel(tmp_path, "mine", "1.0", "numpy>=99"), pyodide)


def test_a_compiled_wheel_is_refused(tmp_path, pyodide) -> None:
    file = tmp_path / "mine-1.0-cp311-cp311-linux_x86_64.whl"
    file.write_bytes(b"")
    with pytest.raises(HostError, match="compiled wheel for another system"):
        deps.resolve([str(file)], pyodide, lambda name: None)
