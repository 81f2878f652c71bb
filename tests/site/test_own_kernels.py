"""docs/own_kernels.md: its code runs in the tab and prints what its comments say."""

from __future__ import annotations

import re

from conftest import ROOT


def test_the_code_of_own_kernels_runs(command, tmp_path) -> None:
    text = (ROOT / "docs" / "own_kernels.md").read_text("utf-8")
    script = "".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    (tmp_path / "own.py").write_text(script)
    done = command("run", "own.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"# prints (.+)$", script, re.MULTILINE)
