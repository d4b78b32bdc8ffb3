"""Every demonstration board opens and is right: its figures again, from the files, by definition and without numpy."""

import csv
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from django.db import transaction
from django.urls import reverse

from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.benchmarks.folders import import_folder
from leaderboard.models import Score
from leaderboard.rankings.published import published_board
from leaderboard.rankings.scores import systems_at
from tests.leaderboard.benchmarks.test_folder_exports import again, hash_of

FOLDERS = sorted(path for path in FOLDER.iterdir() if path.is_dir())


def read(folder: Path) -> tuple[dict[str, list[float | None]], list[Fraction]]:
    """Oriented scores by system, None where missing, and what each task counts: straight from the two files."""
    tasks = {task["name"]: task for task in tomllib.loads((folder / "benchmark.toml").read_text())["task"]}
    header, *rows = csv.reader((folder / "scores.csv").read_text(encoding="utf-8").splitlines())
    groups: dict[str, Fraction] = {}
    for name in header[1:]:
        if group := tasks[name].get("group"):
            groups[group] = groups.get(group, Fraction(0)) + Fraction(str(tasks[name].get("weight", 1)))
    signs = [-1 if tasks[name].get("direction") == "lower" else 1 for name in header[1:]]
    # Balanced: a task counts its share of its group, and each group counts 1, as no file states another weight.
    weights = [
        Fraction(str(tasks[name].get("weight", 1))) / groups.get(tasks[name].get("group"), Fraction(1))
        for name in header[1:]
    ]
    scores = {
        row[0].strip(): [sign * float(cell) if cell else None for sign, cell in zip(signs, row[1:], strict=True)]
        for row in rows
    }
    return scores, weights


def copeland_ranks(scores: dict[str, list[float | None]], weights: list[Fraction]) -> dict[str, int | None]:
    """Systems beaten minus systems that beat it, on the tasks that both have; ranks 1, 2, 2, 4."""
    points: dict[str, int | None] = {}
    for name, mine in scores.items():
        if all(value is None for value in mine):
            points[name] = None
            continue
        points[name] = 0
        for other, theirs in scores.items():
            pairs = [(a, b, w) for a, b, w in zip(mine, theirs, weights, strict=True) if None not in {a, b}]
            margin = sum(w * ((a > b) - (a < b)) for a, b, w in pairs)
            points[name] += 0 if other == name else (margin > 0) - (margin < 0)
    return ranks_of(points)


def borda_ranks(scores: dict[str, list[float | None]], weights: list[Fraction]) -> dict[str, int | None]:
    """n minus the worst position of the tie block, weighted; systems with a gap are unranked."""
    whole = {name: row for name, row in scores.items() if None not in row}
    points: dict[str, Fraction | None] = dict.fromkeys(scores)
    for name, mine in whole.items():
        below = [sum(1 for row in whole.values() if row[t] < mine[t]) for t in range(len(weights))]
        points[name] = sum((w * n for w, n in zip(weights, below, strict=True)), Fraction(0))
    return ranks_of(points)


def ranks_of(points: dict) -> dict[str, int | None]:
    values = [value for value in points.values() if value is not None]
    return {
        name: None if value is None else 1 + sum(1 for other in values if other > value)
        for name, value in points.items()
    }


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def folder(request):
    return request.param


@pytest.fixture(scope="module")
def imported(folder, make_once):
    """The benchmark of a folder, and of no other."""
    with transaction.atomic():
        yield import_folder(folder, owner=make_once.user("owner"))
        transaction.set_rollback(True)


def test_it_comes_back_from_its_own_export_with_the_same_hash(imported, make, tmp_path):
    second = again(imported, tmp_path / "out", make.user())
    assert hash_of(second) == hash_of(imported)
    about = ("name", "default_rule", "aggregation", "gamma", "missing_policy")
    assert [getattr(second, field) for field in about] == [getattr(imported, field) for field in about]


def test_a_demonstration_board_opens_and_is_right(folder, imported, make, client):
    benchmark = make.publish(imported)
    scores, weights = read(folder)
    board = published_board(benchmark.publication)
    names = [system.name for system in systems_at(benchmark.publication.revision)]
    columns = {column.rule: column for column in board.columns}
    for rule, expected in (("copeland", copeland_ranks), ("borda", borda_ranks)):
        stored = [None if rank < 1 else rank for rank in columns[rule].ranks.tolist()]
        assert dict(zip(names, stored, strict=True)) == expected(scores, weights), rule
    cells = [value for row in scores.values() for value in row]
    assert Score.objects.count() == len(cells)
    assert Score.objects.filter(value=None, missing_reason="not_reported").count() == cells.count(None)
    response = client.get(reverse("board", args=[folder.name]))
    assert response.status_code == 200
    assert response.context["board"].n_missing == cells.count(None)


def test_the_demonstration_holds_what_the_readme_promises():
    assert {"glue", "superglue", "bigbench-hard", "mteb", "mmlu", "open-llm", "vtab", "bigcode"} <= {
        folder.name for folder in FOLDERS
    }
    assert sum(folder.name.startswith("helm-") for folder in FOLDERS) == 10
    assert sum(folder.name.startswith("heim-") for folder in FOLDERS) == 10
