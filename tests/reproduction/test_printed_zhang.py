"""What is typed of Zhang and Hardt 2024 is what the paper's text prints, and nothing that it prints is left out."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from reproduction.printed import places
from reproduction.tables import published
from tests.reference import reference_folder

TYPED = published("zhang_2024_printed")
PLACES = {place.where: place for place in places() if place.paper == "zhang_2024"}


@pytest.fixture(scope="module")
def text():
    path = reference_folder() / "papers" / "zhang-hardt-2024-tradeoffs.txt"
    return path.read_text(encoding="utf-8").partition("\nReferences\n")


@pytest.fixture(scope="module")
def body(text):
    return text[0]


@pytest.fixture(scope="module")
def appendices(text):
    return text[2].partition("\nAppendix A ")[2]


def part(body, begin, end):
    """Return the lines between two headings."""
    return body.partition(f"\n{begin}")[2].partition(f"\n{end}")[0]


def test_table_1_is_typed_as_it_is_printed(body):
    printed: dict[str, dict[str, list[str]]] = {}
    kind = ""
    for line in part(body, "Type | Benchmark | No. of Tasks | No. of Models |", "5 Experiments").splitlines():
        cells = [cell.strip() for cell in line.strip(" |").split("|")]
        if len(cells) == 4 and cells[0].isalpha():
            kind = cells.pop(0).lower()
        if len(cells) == 3:
            printed.setdefault(kind, {})[cells[0]] = cells[1:]
    assert printed == TYPED["table_1"]
    assert PLACES["table 1"].numbers == sum(2 * len(sizes) for sizes in printed.values())


def test_the_numbers_of_benchmarks_are_typed_as_they_are_printed(body):
    words = re.search(r"in (\w+) cardinal benchmarks and (\w+) ordinal benchmarks from", part(body, "1.1 ", "2 "))
    assert list(words.groups()) == [TYPED["counts"]["cardinal"], TYPED["counts"]["ordinal"]]


def test_the_numbers_of_section_5_are_typed_as_they_are_printed(body):
    results = part(body, "5 Experiments", "6 Experiments").partition("Experiment results")[2]
    correlations = re.search(r"Pearson correlation of (\S+) and (\S+) for top and bottom figures", results)
    of_range = re.search(r"MRC for all non-baseline benchmarks ranges from (\S+) to (\S+),", results)
    of_open_llm = re.search(r"OpenLLM maintains a of (\S+) and MRC of (\S+) even at ,", results)
    assert list(correlations.groups()) == TYPED["correlation"]["cardinal"]
    assert list(of_range.groups()) == TYPED["preserved"]["at_10_percent"]
    assert list(of_open_llm.groups()) == TYPED["preserved"]["open_llm"]
    typed = [*TYPED["correlation"]["cardinal"], *TYPED["preserved"]["at_10_percent"], *TYPED["preserved"]["open_llm"]]
    assert Counter(re.findall(r"\d+\.\d+", results)) == Counter(typed)
    lost = results.replace("10% of the data ()", "").count("()")  # that one is a setting
    assert (PLACES["section 5"].compared, PLACES["section 5"].numbers) == (len(typed), len(typed) + lost)


def test_the_numbers_of_section_6_are_typed_as_they_are_printed(body):
    results = part(body, "6 Experiments", "7 Conclusion").partition("Experiment results")[2]
    correlations = re.search(r"Pearson correlation is (\S+) and (\S+) for both figures", results)
    name, change, tau = re.search(
        r"the (HEIM\S+) benchmark, where the MRC reaches .*? (\S+) and reaches (\S+)\.", results
    ).groups()
    over_half = re.search(r"over half of these benchmarks exhibit an MRC of at least (\S+),", results)
    assert list(correlations.groups()) == TYPED["correlation"]["ordinal"]
    assert TYPED["sensitivity"] == {name.replace("aesthetic-", "aesthetics-"): [tau, change]}
    assert over_half[1] == TYPED["over_half"]["max_rank_change"]
    typed = [*TYPED["correlation"]["ordinal"], tau, change, over_half[1]]
    assert Counter(re.findall(r"\d+\.\d+", results)) == Counter(typed)
    assert PLACES["section 6"].numbers == len(typed)


def test_the_win_rates_of_the_example_in_section_3_are_lost_in_the_text(body):
    lost = re.findall(r"winning rates are((?: ,)+) so we have \.", body)
    assert sum(commas.count(",") for commas in lost) == PLACES["section 3"].numbers == 7
    assert len(lost) == 2


def test_appendix_a_repeats_the_sizes_of_table_1(appendices):
    details = appendices.partition("Appendix B ")[0]
    items = {re.match(r"(?:The )?([A-Za-z-]+)", item)[1]: item for item in re.split(r"\n-\n•\n", details)[1:]}
    table = {**TYPED["table_1"]["cardinal"], **TYPED["table_1"]["ordinal"]}
    sizes = {name: sizes for name, sizes in table.items() if name not in ("ImageNet", "Random", "Constant")}
    families = {name: name.partition("-")[0] if name.startswith("HE") else name for name in sizes}
    assert set(items) == set(families.values())
    for name, (n_tasks, n_models) in sizes.items():
        item = items[families[name]]
        assert n_models in re.findall(r"\d+", item), name
        assert f"{name} ({n_tasks} tasks)" in item or n_tasks in re.findall(r"\d+", item), name
    assert all(
        f"{name} ({sizes[name][0]} tasks)" in items[family] for name, family in families.items() if name != family
    )


def test_every_table_and_figure_of_the_text_has_a_place(body, appendices):
    groups = re.findall(r"\b(Table|Figure)s? (\d+(?:(?:, | and )\d+)*)", body + appendices)
    mentioned = {f"{kind.lower()} {number}" for kind, numbers in groups for number in re.findall(r"\d+", numbers)}
    assert mentioned == {where for where in PLACES if where.startswith(("table", "figure"))}
