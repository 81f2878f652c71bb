"""Every row of the checklists (docs/checklists.toml) has a test that names its id, and its names are there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tabgpu as tg

DOCS = Path(__file__).resolve().parents[2] / "docs"
COUNTS = {"oxicuda": ("OX", 42), "hanzo": ("HZ", 86), "tenferro": ("TF", 60)}
OPERATIONS = 200  # of runmat's provider, whose names are the ids
PLACES = {"GPU", "host", "metadata", "none"}
HOST = {"RM-set_rng_state", "RM-fspecial"}  # some words of the host's own parameters


@pytest.fixture(scope="module")
def checklists() -> ModuleType:
    spec = importlib.util.spec_from_file_location("checklists", DOCS / "checklists.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["checklists"] = module
    spec.loader.exec_module(module)
    return module


def test_no_row_is_missing(checklists: ModuleType) -> None:
    lists = checklists.lists()
    operations = lists.pop("runmat")
    assert len({item.id for item in operations}) == len(operations) == OPERATIONS
    assert all(checklists.ID.fullmatch(item.id) and item.id[:3] == "RM-" for item in operations)
    for name, items in lists.items():
        prefix, count = COUNTS[name]
        assert [item.id for item in items] == [f"{prefix}-{k:02}" for k in range(1, count + 1)]


def test_every_row_has_a_test(checklists: ModuleType) -> None:
    tests = checklists.tests_by_id()
    wanted = {item.id for items in checklists.lists().values() for item in items}
    assert not set(tests) - wanted, "ids that are in no checklist"
    assert sorted(wanted - set(tests)) == []


def test_where_rows_run(checklists: ModuleType) -> None:
    """None on the host but what is made of host parameters; what is not there says what replaces it."""
    for item in checklists.lists()["runmat"]:
        assert item.where in PLACES, item.id
        assert (item.where == "host") == (item.id in HOST), item.id
        assert item.where != "none" or item.remark, item.id


def test_the_names_are_there(checklists: ModuleType) -> None:
    for items in checklists.lists().values():
        for item in items:
            assert item.names and "fallback" not in item.remark, item.id
            for name in item.names.split():
                found = tg
                for part in name.split("."):
                    assert hasattr(found, part), f"{item.id}: tg.{name}"
                    found = getattr(found, part)
