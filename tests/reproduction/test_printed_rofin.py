"""What is typed of Vote'n'Rank is what the paper prints, place by place, and nothing is left out.

The paper's text has formulas twice, once mangled and once as LaTeX; a number in a formula within a sentence stands
there three times in a row: 30 is `303030`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from reproduction.printed import places
from reproduction.rofin.boards import PRINTED
from tests.reference import reference_folder

RULES = ("mean", "geometric_mean", "optimality_gap", "copeland", "minimax", "plurality", "dowdall", "borda")
COLUMNS = {
    3: RULES,
    9: RULES,
    10: ("copeland", "minimax"),
    11: RULES,
    5: ("mean", "basic", "weighted", "two_step", "performance", "efficiency", "fairness"),
}
PICTURE = "[Uncaptioned image]"
ARROWED = re.compile(r"\{\}_\{\\(updownarrow|uparrow|downarrow) (\d+)\}\^\{(-?[\d.]+)\}")
SIGNS = {"updownarrow": 0, "uparrow": 1, "downarrow": -1}
TYPED = {
    "figure 1": "figure_1",
    "section 3": "section_3",
    "section 3.1": "section_3_1",
    "section 3.2": "section_3_2",
    "appendix A.1": "appendix_a1",
    "appendix B": "appendix_b",
    **{f"table {n}": f"table_{n}" for n in (1, 2, 3, 5, 8, 9, 10, 11)},
}
OF_NO_NUMBERS = {"winners"}  # keys of what is typed and is no number


@pytest.fixture(scope="module")
def lines() -> list[str]:
    path = reference_folder() / "papers" / "rofin-2023-votenrank.txt"
    return [" ".join(line.split()) for line in path.read_text(encoding="utf-8").splitlines()]  # no-break spaces too


@pytest.fixture(scope="module")
def text(lines) -> str:
    return "\n".join(lines)


def lines_of_table(lines: list[str], number: int, first: str) -> list[str]:
    """Return the lines from the last one above the caption that begins with `first` to the caption."""
    end = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    start = max(i for i, line in enumerate(lines[:end]) if line.startswith(first))
    return [line for line in lines[start:end] if line]


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers of what is typed."""
    if isinstance(value, dict):
        for key, of in value.items():
            if key not in OF_NO_NUMBERS:
                yield from leaves(of)
    elif isinstance(value, list):
        for of in value:
            yield from leaves(of)
    else:
        yield value


def letters(line: str) -> list[str]:
    return re.findall(r"m_\{([A-D])\}", line)


@pytest.mark.parametrize("number", COLUMNS)
def test_scores_and_arrows_of_a_table_are_typed_as_printed(lines, number):
    rows = [line.split(PICTURE) for line in lines_of_table(lines, number, "Rank ")[1:]]
    assert [row[0].strip() for row in rows] == [str(rank) for rank in range(1, len(rows) + 1)]
    scores: dict[str, list[str]] = {column: [] for column in COLUMNS[number]}
    changes: dict[str, list[int]] = {column: [] for column in COLUMNS[number] if column != "mean"}
    for row in rows:
        for column, cell in zip(COLUMNS[number], row[1:], strict=True):
            if column == "mean":
                scores[column].append(cell.strip())
            else:
                kind, size, score = ARROWED.search(cell).groups()
                scores[column].append(score)
                changes[column].append(SIGNS[kind] * int(size))
    assert PRINTED[f"table_{number}"] == {"scores": scores, "changes": changes}


def test_table_1_is_typed_as_printed(lines):
    head, *rows = [line.split() for line in lines_of_table(lines, 1, "Benchmark ")]
    rules = ("geometric_mean", "optimality_gap", "copeland", "minimax", "plurality", "dowdall", "borda")
    assert head[-5:] == ["Copeland", "Minimax", "Plurality", "Dowdall", "Borda"]
    benchmarks = [row[0] for row in rows if row[0].endswith("GLUE")]
    labels = [row[-8] for row in rows]
    assert benchmarks == ["GLUE", "SGLUE"]
    assert labels == ["top-111", "top-333", "top-555", "top-777", "least-555", "least-777", "τ𝜏\\tau"] * 2
    for name, part in (("glue", rows[:7]), ("superglue", rows[7:])):
        columns = zip(*(row[-7:] for row in part), strict=True)
        expected = {
            rule: {"top": list(column[:4]), "least": list(column[4:6]), "tau": column[6]}
            for rule, column in zip(rules, columns, strict=True)
        }
        assert PRINTED["table_1"][name] == expected


def test_table_2_is_typed_as_printed(lines):
    rows = lines_of_table(lines, 2, "Method GLUE SGLUE")[2:]
    numbers = [re.findall(r"(\d+) ([\d.]+) ±plus-or-minus\\pm([\d.]+)", row) for row in rows]
    assert [row.split()[0] for row in rows[3:]] == [rule.capitalize() for rule in RULES[3:]]
    assert [of_row[0] for of_row in numbers] == [tuple(PRINTED["table_2"]["glue"][rule]) for rule in RULES]
    assert [of_row[1] for of_row in numbers] == [tuple(PRINTED["table_2"]["superglue"][rule]) for rule in RULES]
    assert set(PRINTED["table_2"]["glue"]) == set(PRINTED["table_2"]["superglue"]) == set(RULES)


def test_table_4_has_as_many_pictures_as_typed(lines):
    block = "\n".join(lines_of_table(lines, 4, "Method GLUE SGLUE VALUE")[1:])
    names = re.findall(r"^(?!\[|✗|/).+$", block, re.MULTILINE)
    parts = re.split(r"^(?!\[|✗|/).+$", block, flags=re.MULTILINE)[1:]
    counts = [[part.count(PICTURE) for part in row.rsplit("/", 1)] for row in parts]
    rules = [*RULES[:3], *(name.lower() for name in names[3:])]
    assert dict(zip(rules, counts, strict=True)) == PRINTED["table_4"]
    assert list(PRINTED["table_4"]) == rules


@pytest.mark.parametrize("number", [6, 7])
def test_the_orders_of_the_toy_are_typed_as_printed(lines, number):
    rows = [letters(line) for line in lines_of_table(lines, number, "Rank ")[1:]]
    assert PRINTED["toy"][f"table_{number}"] == ["".join(task) for task in zip(*rows, strict=True)]


def test_the_scores_of_appendix_a_1_are_typed_as_printed(text):
    appendix = text[text.index("\nA.1 Examples") : text.index("\nA.2 Properties")]
    typed = PRINTED["appendix_a1"]
    plurality = re.search(r"assigns the score of (\d+) to (.*?) and scores of (\d+) to (.*?)\n", appendix).groups()
    points = {
        letter: number[: len(number) // 3]
        for number, names in zip(plurality[::2], plurality[1::2], strict=True)
        for letter in letters(names)
    }
    assert [points[letter] for letter in "ABCD"] == typed["plurality"]
    assert re.findall(r"(?<!S_\{)m_\{([A-D])\}=(\d+)", appendix) == list(zip("ABCD", typed["borda"], strict=True))
    rounds = [(letter, n) for name, ns in typed["baldwin"].items() for letter, n in zip(name, ns, strict=True)]
    sums = [*zip("ABCD", typed["dowdall"], strict=True), *zip("ABCD", typed["threshold"], strict=True), *rounds]
    assert re.findall(r"S_\{m_\{([A-D])\}\}=(\d+(?:\.\d+)?(?:\+\d/\d)?)", appendix) == sums
    assert re.findall(r"[^a-z]u\(m_\{([A-D])\}\)=(-?\d+)", appendix) == list(
        zip("ABCD", typed["copeland"], strict=True)
    )
    assert re.findall(r"rank\(m_\{([A-D])\}\)=(-?\d+)", appendix) == list(zip("ABCD", typed["minimax"], strict=True))


def test_the_winners_of_the_toy_are_those_that_the_appendix_names(text):
    appendix = text[text.index("\nA.1 Examples") : text.index("\nA.2 Properties")]
    sentences = {
        "borda": r"The system ([^.]*) has the highest score and is chosen",
        "dowdall": r"There is a tie between the systems ([^.]*), and both",
        "threshold": r"The system ([^.]*) is the winner\. If there is a tie",
        "baldwin": r"and the system ([^.]*) is declared the winner",
        "condorcet": r"The system ([^.]*) is the Condorcet winner",
        "copeland": r"The system ([^.]*) is the winner as it has the highest u",
        "minimax": r"Here, the system ([^.]*) has the highest rank",
    }
    said = {rule: "".join(letters(re.search(pattern, appendix)[1])) for rule, pattern in sentences.items()}
    assert said == PRINTED["appendix_a1"]["winners"]


def test_the_row_sum_of_table_8_is_typed_as_printed(lines):
    *cells, last = lines_of_table(lines, 8, "Plurality")
    names = [name.lower().replace("minmax", "minimax") for name in cells[:7]]
    assert last.split()[0] == "Sum"
    assert dict(zip(names, last.split()[1:], strict=True)) == PRINTED["table_8"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"GLUE \(General.*\|M\|=(\d+)\.", [PRINTED["section_3"]["systems"]["glue"]]),
        (r"SGLUE \(Wang.*\|M\|=(\d+)\.", [PRINTED["section_3"]["systems"]["superglue"]]),
        (r"VALUE \(Video.*\|M\|=(\d+)\.", [PRINTED["section_3"]["systems"]["value_missing"]]),
        (
            r"selected by (\d+)/(\d+)/(\d+) \(on GLUE/SGLUE/VALUE\) procedures",
            list(PRINTED["section_3_1"]["other_winners"].values()),
        ),
        (r"rank has risen by up to (\d+) positions on GLUE", [PRINTED["section_3_1"]["rise_of_humans"]]),
        (r"observed only up to (\d+) times on SGLUE", [PRINTED["section_3_1"]["changes_on_superglue"]]),
        (r"consistent with one another on the top-(\d+) systems", [PRINTED["section_3_1"]["same_means"]]),
        (
            r"on the top-(\d+) and top-(\d+) ranks on GLUE and SGLUE, respectively",
            list(PRINTED["section_3_1"]["same_borda"].values()),
        ),
        (r"presented for only (\d+) out of (\d+) tasks", PRINTED["section_3_1"]["tasks_of_humans"]),
        (
            r"There are (\d+)/(\d+), (\d+)/(\d+), and (\d+)/(\d+) prospective/non-prospective",
            [n for pair in PRINTED["section_3_2"]["prospective"].values() for n in pair],
        ),
        (r"exact match scores .* have equal weights of ([\d.]+),", [PRINTED["section_3_2"]["weight"]]),
        (r"given only up to (\d+) evaluated alternatives", [PRINTED["appendix_b"]["systems"]]),
        (r"values of the least-(\d+) systems are also equal", [PRINTED["appendix_b"]["least_minimax"]]),
        (r"missing scores on (\d+) out of (\d+) tasks", PRINTED["appendix_b"]["tasks_of_humans"]),
        (r"there are (\d+) tied alternatives in the Minimax and Dowdall", PRINTED["appendix_b"]["tied"][:1]),
        (r"consistent in conclusions on the top-(\d+) systems", [PRINTED["appendix_b"]["same_top"]]),
    ],
)
def test_a_number_of_a_sentence_is_typed_as_printed(text, pattern, expected):
    numbers = re.search(pattern, text).groups()
    assert list(numbers) == [(number * 3).rstrip(".") for number in expected]


def test_the_text_says_how_many_tasks_value_has_and_which_three_systems_lead(text):
    assert f"covers {PRINTED['section_3']['tasks']['value_missing']} video-and-language datasets" in text
    assert PRINTED["appendix_b"]["tied"] == PRINTED["appendix_b"]["tied"][:1] * 2
    assert "The weighted Borda ranks DistilBERT, ALBERT, and BERT as the top-333 systems." in text
    assert "Borda prefers ALBERT first, followed by BERT and DistilBERT." in text
    models = {"DistilBERT": "distilbert-base-uncased", "ALBERT": "albert-base-v2", "BERT": "bert-base-uncased"}
    assert PRINTED["section_3_4"] == {
        "weighted": [models[name] for name in ("DistilBERT", "ALBERT", "BERT")],
        "two_step": [models[name] for name in ("ALBERT", "BERT", "DistilBERT")],
    }


def test_the_weights_of_figure_1_are_typed_as_printed():
    path = reference_folder() / "papers" / "rofin-2023-short.txt"
    voters = re.findall(r"^(1/\d) voter$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert voters == PRINTED["figure_1"]["weights"]


def test_every_caption_of_the_paper_has_a_place(lines):
    captions = [re.match(r"(Table|Figure) (\d+):", line) for line in lines]
    named = {f"{caption[1].lower()} {caption[2]}" for caption in captions if caption}
    of_paper = {place.where for place in places() if place.paper == "rofin_2023"}
    assert len(named) == 14
    assert named <= of_paper


def test_a_place_has_as_many_numbers_as_are_typed():
    of_paper = {place.where: place.numbers for place in places() if place.paper == "rofin_2023"}
    assert {where: n for where, n in of_paper.items() if n} == {
        where: sum(1 for _ in leaves(PRINTED[table])) for where, table in TYPED.items()
    }


def test_the_printed_columns_of_table_5_do_not_add_up_to_its_basic_column():
    scores = {column: [float(text) for text in texts] for column, texts in PRINTED["table_5"]["scores"].items()}
    parts = [sum(scores[column]) for column in ("performance", "efficiency", "fairness")]
    assert parts == [206, 840, 84]
    assert sum(parts) == 1130
    assert sum(scores["basic"]) == 1056.5
