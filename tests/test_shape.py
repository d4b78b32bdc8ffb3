"""The code keeps the shape that `python -m tests.shape` measures."""

import ast
import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests import shape

# The most that there may be of each; what is not named may not be at all. Lower a figure when you have mended some.
LIMITS = {"class name used twice": 10, "helper called once": 250}


@pytest.fixture(scope="module")
def findings():
    return shape.findings()


@pytest.mark.parametrize(
    "subject",
    [
        "long module", "full folder", "circle of imports", "wide template line", "class name used twice",
        "helper called once", "helper without its underscore", "vague name",
    ],
)  # fmt: skip
def test_there_is_no_more_of_it_than_was_agreed(findings, subject):
    some = [f"{finding.path}:{finding.line}: {finding.text}" for finding in findings if finding.subject == subject]
    assert len(some) <= LIMITS.get(subject, 0), "\n".join(some)


def test_every_subject_has_its_limit(findings):
    assert {finding.subject for finding in findings} <= LIMITS.keys()


def test_a_helper_that_is_called_once_is_one_and_no_other_is():
    source = """
def _once(): ...
def _twice(): ...
def _passed(): ...
def public(): ...
_once()
_twice(), _twice()
sorted([], key=_passed)
public()
"""
    helpers = list(shape._called_once(Path("module.py"), ast.parse(source)))
    assert [(finding.text, finding.line) for finding in helpers] == [("_once", 2)]


def test_a_function_that_no_other_file_names_is_private_to_its_module(tmp_path, monkeypatch):
    monkeypatch.setattr(shape, "ROOT", tmp_path)
    (tmp_path / "leaderboard").mkdir()
    one = """
__all__ = ["exported"]
def helper(): ...
def used(): ...
def exported(): ...
@hook
def registered(): ...
"""
    for name, source in {"one.py": one, "two.py": "from one import used"}.items():
        (tmp_path / "leaderboard" / name).write_text(source)
    texts = [finding.text for finding in shape.findings() if finding.subject == "helper without its underscore"]
    assert texts == ["helper"]


def test_participles_that_name_nothing_are_seen_but_in_the_fields_of_an_answer():
    source = """
class EntrySerializer:
    found = 1
def told(asked):
    shown = found = asked
    self.found = 2
"""
    texts = Counter(finding.text for finding in shape._vague_names(Path("module.py"), ast.parse(source)))
    assert texts == {"told": 1, "asked": 1, "shown": 1, "found": 1}


def test_they_are_looked_for_in_tests_and_experiments_too(tmp_path, monkeypatch):
    monkeypatch.setattr(shape, "ROOT", tmp_path)
    for folder in ("leaderboard", "performance", "reproduction", "tests/jobs"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "module.py").write_text("found = 1\n")
    folders = [str(finding.path.parent.relative_to(tmp_path)) for finding in shape.findings()]
    assert sorted(folders) == ["leaderboard", "performance", "reproduction", "tests/jobs"]


def test_classes_of_one_name_are_seen_in_two_modules_and_not_commands():
    trees = {shape.ROOT / name: ast.parse("class Row: ...\nclass Command: ...") for name in ("one.py", "two.py")}
    assert [finding.text for finding in shape._same_class_names(trees)] == ["Row, also in two.py"]


def test_lines_of_another_commit_are_counted_without_migrations_and_apart_from_tests():
    files = {
        "leaderboard/boards/page.py": "a\nb\n", "manage.py": "a\n", "leaderboard/migrations/0001.py": "a\n",
        "docs/x.md": "a\n", "tests/test_page.py": "a\nb\nc\n",
    }  # fmt: skip
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    assert shape.lines_in(packed.getvalue()) == ([2, 1], [3])
