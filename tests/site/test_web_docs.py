"""What the documents promise: README's code runs, its page is the one in web/, each difference has its test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def blocks(language: str) -> list[str]:
    """README's code blocks in a language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )


def test_each_difference_has_its_test_and_each_test_its_line() -> None:
    text = (ROOT / "docs/differences.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| what ")]
    named = [re.search(r"`(test_\w+)` \|$", row) for row in rows]
    assert all(named), [row for row, name in zip(rows, named) if not name]
    tree = ast.parse((ROOT / "tests/browser/test_differences.py").read_text())
    tests = [
        n.name
        for n in tree.body
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and "test_" in n.name
    ]
    assert [name[1] for name in named if name] == tests


def test_the_readme_cell_runs_and_prints_what_it_says(command, tmp_path) -> None:
    cell = blocks("python")[0]
    install, lines = cell.split("\n", 1)
    assert install.startswith("%pip install")  # JupyterLite's; the tab of this test has the wheel already
    (tmp_path / "cell.py").write_text(lines)
    done = command("run", "cell.py")
    assert done.returncode == 0, done.stderr
    expected = re.findall(r"# prints (.+)$", lines, re.MULTILINE)
    assert expected and done.stdout.splitlines()[-len(expected) :] == expected
    assert len(lines.splitlines()) <= 10


def test_the_readme_loop_runs_and_is_profiled(command, tmp_path) -> None:
    (tmp_path / "loop.py").write_text(blocks("python")[1])
    done = command("run", "loop.py")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^tanh_\S+ +100 ", done.stdout, re.MULTILINE), done.stdout  # the kernel's launches
    assert ", 0 pipelines compiled" in done.stdout.replace(";", ",")  # warmup did that


def test_the_readme_page_is_the_plain_example() -> None:
    assert blocks("html")[0] == (ROOT / "web/examples/plain/index.html").read_text()


def test_the_readme_workflow_runs_what_the_consumer_test_runs() -> None:
    consumer = (ROOT / "tests/site/test_consumer.py").read_text()
    assert '"test", "--with", ".", "--junitxml", "out.xml"' in consumer
    assert "- run: tabgpu test --with . --junitxml out.xml\n" in blocks("yaml")[0]


def test_the_links_of_the_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)", document.read_text()):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"
