"""The notebook of the manual: that it is executed, and that Jupyter's own tools take and run it."""

import doctest
import json
import sys

import pytest

from tests.plurank import notebook
from tests.plurank.test_installed import run, wheel  # noqa: F401 -- a fixture

JUPYTER = """
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(book)
stored = [cell.get("outputs") for cell in book.cells]
NotebookClient(book, timeout=300).execute()
for before, cell in zip(stored, book.cells):
    for old, new in zip(before or [], cell.get("outputs", []), strict=True):
        if old.output_type == "error":
            assert (old.ename, old.evalue) == (new.ename, new.evalue)
        else:
            assert old.get("text") == new.get("text") and old.get("data") == new.get("data"), (old, new)
print(sum(cell.cell_type == "code" for cell in book.cells), "cells")
"""


def test_the_notebook_is_the_manual_with_what_its_cells_give():
    assert notebook.TARGET.read_text() == notebook.written(), "python -m tests.plurank.notebook writes it anew"


def test_every_example_of_the_manual_is_in_a_cell_with_its_answer():
    cells = json.loads(notebook.TARGET.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    examples = doctest.DocTestParser().get_examples(notebook.SOURCE.read_text())
    assert [example.source for example in examples if example.source.rstrip() not in code] == []
    assert sum(bool(cell.get("outputs")) for cell in cells) == sum(bool(example.want) for example in examples)


@pytest.mark.slow  # installs Jupyter's packages
def test_jupyter_executes_it_to_the_same_answers(wheel, tmp_path):  # noqa: F811 -- the fixture
    uv, python = (sys.executable, "-m", "uv"), str(tmp_path / "venv" / "bin" / "python")
    run(*uv, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv"))
    run(*uv, "pip", "install", "--quiet", "--python", python, str(wheel), "nbclient", "ipykernel")
    assert run(python, "-c", JUPYTER, str(notebook.TARGET), folder=tmp_path).endswith(" cells\n")
