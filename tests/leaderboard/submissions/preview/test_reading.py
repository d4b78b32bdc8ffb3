"""The draft of a benchmark shows its table as it was read."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaderboard.benchmarks.drafts import make_benchmark_draft
from leaderboard.submissions.preview.reading import reading_of
from ranking_engine.files.tables import read_table
from tests.markup import compact
from tests.signing_in import signed_in


@pytest.mark.parametrize(
    ("text", "sentences", "rows"),
    [
        (
            'system,Reading,Maths\nAlpha,81.2,62.5\nBeta,"1,234.5",n/a\nGamma,-,N/A\n',
            [
                "Columns are separated by commas.",
                "The decimal mark is a point.",
                "Marks between groups of digits are left out: “1,234.5” is the score 1234.5.",
                "Read as missing scores: “n/a” (1 cell), “-” (1 cell) and “N/A” (1 cell).",
            ],
            [("Alpha", ["81.2", "62.5"]), ("Beta", ["1234.5", ""]), ("Gamma", ["", ""])],
        ),
        (
            "system;A;B\nx;1,5;n/a\ny;2;n/a\n",
            [
                "Columns are separated by semicolons.",
                "The decimal mark is a comma.",
                "Read as missing scores: “n/a” (2 cells).",
            ],
            [("x", ["1.5", ""]), ("y", ["2", ""])],
        ),
        (
            'system,A\nx,"1,5 %"\ny,"2 %"\n',
            [
                "Columns are separated by commas.",
                "The decimal mark is a comma.",
                "Percent signs are left out: 61 % is the score 61.",
            ],
            [("x", ["1.5"]), ("y", ["2"])],
        ),
        (
            "system\tA\nx\t1 234\ny\t\n",
            [
                "Columns are separated by tabs.",
                "The decimal mark is a point.",
                "Marks between groups of digits are left out: “1 234” is the score 1234.",
            ],
            [("x", ["1234"]), ("y", [""])],
        ),
    ],
)  # fmt: skip
def test_a_table_says_how_its_cells_were_read(text, sentences, rows):
    reading = reading_of(read_table(text.encode()))
    assert reading.sentences == sentences
    assert [(row.name, row.texts) for row in reading.rows] == rows


def test_of_a_large_table_the_first_systems_and_tasks_are_shown(make):
    header = ",".join(["system", *(f"T{t}" for t in range(23))])
    rows = [",".join([f"S{i}", *("1" for _ in range(23))]) for i in range(51)]
    table = "\n".join([header, *rows]).encode()
    reading = reading_of(read_table(table))
    assert (len(reading.rows), len(reading.task_names), {len(row.texts) for row in reading.rows}) == (50, 20, {20})
    assert (reading.n_more_systems, reading.n_more_tasks) == (1, 3)
    owner = make.user()
    draft = make_benchmark_draft(owner, name="Large", table=table)
    page = compact(signed_in(owner).get(reverse("new_draft", args=[draft.uuid])))
    assert "1 more system is not shown here." in page
    assert "3 more tasks are not shown here." in page


def test_the_page_shows_the_scores_of_the_table(make):
    owner = make.user()
    table = b'system,Reading,Maths\nAlpha,81.2,62.5\nBeta,"1,234.5",n/a\n'
    draft = make_benchmark_draft(owner, name="Thousand", table=table)
    page = compact(signed_in(owner).get(reverse("new_draft", args=[draft.uuid])))
    assert "Read as missing scores: “n/a” (1 cell)." in page
    (row,) = re.findall(r'<tr><th scope="row">Beta</th>(.*?)</tr>', page)
    assert re.sub("<[^>]*>", "|", row).split("|")[1:3] == ["1234.5", ""]
    assert "missing" in row


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"file": SimpleUploadedFile("bad.csv", b"system,Maths\nA,abc\n")}, "bad.csv"),
        ({"text": "system,Maths\nA,abc\n"}, "the table"),
    ],
)
def test_an_error_names_the_file_as_its_sender_does(make, fields, name):
    page = compact(signed_in(make.user()).post(reverse("new"), {"name": "Bad", **fields}))
    assert f"{name}, line 2, column 2 (Maths): &#x27;abc&#x27; is not a number" in page
    assert "scores.csv, line" not in page
