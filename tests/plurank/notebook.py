"""Writes docs/python.ipynb, the manual as an executed notebook: `python -m tests.plurank.notebook`.

The cells are those of docs/python.md, run one after the other in one process; what a cell gives is stored as a notebook
shows it. A test compares the file with what the cells give now.
"""

import ast
import contextlib
import doctest
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
SOURCE, TARGET = DOCS / "python.md", DOCS / "python.ipynb"
FENCED = re.compile(r"^```python\n(?=>>> )(.*?)^```\n", re.MULTILINE | re.DOTALL)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def written() -> str:
    """The notebook, executed."""
    names: dict[str, Any] = {}
    cells = [executed(cell, names, number) for number, cell in enumerate(cells_of(SOURCE.read_text(encoding="utf-8")))]
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def cells_of(page: str) -> Iterator[dict[str, Any]]:
    """Texts, and examples without their prompts and answers: an example that answers ends its cell."""
    *parts, tail = FENCED.split(page)
    for text, code in zip(parts[::2], parts[1::2], strict=True):
        if text.strip():
            yield {"cell_type": "markdown", "source": text.strip()}
        lines = ""
        for example in doctest.DocTestParser().get_examples(code):
            lines += example.source
            if example.want:
                yield {"cell_type": "code", "source": lines.rstrip()}
                lines = ""
        if lines:
            yield {"cell_type": "code", "source": lines.rstrip()}
    yield {"cell_type": "markdown", "source": tail.strip()}


def executed(cell: dict[str, Any], names: dict[str, Any], number: int) -> dict[str, Any]:
    """The cell with what it gives: what it prints, the value of its last line, or the error it is there to show."""
    common = {"id": f"cell-{number}", "metadata": {}}
    if cell["cell_type"] == "markdown":
        return {**cell, **common, "source": lines_of(cell["source"])}
    tree = ast.parse(cell["source"])
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value, outputs = io.StringIO(), None, []
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(tree, "cell", "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        except ValueError as error:
            common["metadata"] = {"tags": ["raises-exception"]}
            text = f"{type(error).__name__}: {error}"
            outputs = [
                {"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": [text]}
            ]
    if printed.getvalue():
        outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": lines_of(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines_of(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines_of(value._repr_html_())
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return {**cell, **common, "source": lines_of(cell["source"]), "execution_count": None, "outputs": outputs}


def lines_of(text: str) -> list[str]:
    """A text as notebooks store it."""
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
