"""Every place of a paper that the repository cites is there, and is about what it is cited for.

`places.toml` lists the places. That they are in the papers is tested where the papers' texts are.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ranking_engine import RULES
from ranking_engine.stability.catalogue import STUDIES
from reproduction.catalogue import PAPERS
from tests.reference import REPOSITORY, reference_folder

PLACES: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "places.toml").read_text(encoding="utf-8"))
TEXTS = {
    "rofin": "rofin-2023-votenrank.txt",
    "zhang": "zhang-hardt-2024-tradeoffs.txt",
    "colombo": "colombo-2022-best-systems.txt",
    "pavao": "pavao-2021-judging.txt",
}
TITLES = {
    "Vote'n'Rank": "rofin",
    "Diversity and stability": "zhang",
    "What are the best systems?": "colombo",
    "Judging competitions and benchmarks": "pavao",
}

KINDS = {
    "section": "section", "table": "table", "figure": "figure", "algorithm": "algorithm", "theorem": "theorem",
    "appendix": "appendix", "appendice": "appendix", "eq.": "eq.", "eqs.": "eq.", "equation": "eq.",
}  # fmt: skip
NUMBER = r"(?:[A-Z](?:\.\d+)*|\d+(?:\.\d+)*)\b"
PLACE = re.compile(
    rf"\b(section|table|figure|algorithm|theorem|appendi(?:x|ce)|eqs?\.|equation)s? "
    rf"({NUMBER}(?:(?:, | and | to ){NUMBER})*)",
    re.IGNORECASE,
)
NAME = re.compile(r"\b(Rofin|Zhang and Hardt|Colombo|Pavao)(?: et al\.)?,? \(?20\d\d\)?")
END = re.compile(r"""[;|]|["'][,)]|\.(?= +[A-Z`*])""")
FARTHEST = 200  # characters between a paper's name and the place
JOINT = re.compile(r"""["']?\s*\n\s*(?:# ?|f?["'])?""")

# What a study or a rule cites is about this.
OF_STUDY = {
    "diversity": "Diversity in|Dispersion",
    "cardinal_sensitivity": "Sensitivity in|sensitivity for cardinal",
    "ordinal_sensitivity": "Sensitivity in|sensitivity for cardinal and ordinal",
    "judge_bootstrap": "Empirical criteria|Experimental results",
    "missing_scores": "Missing Scores",
    "system_additions": "Re-interpreting|irrelevant alternatives",
    "task_subsets": "addition/removal|Results on Diversity",
    "corrupted_tasks": "Synthetic|Robustness",
}
OF_RULE = {
    **dict.fromkeys(("plurality", "borda", "dowdall"), "^Scoring rules"),
    **dict.fromkeys(("threshold", "baldwin"), "^Iterative scoring rules"),
    **dict.fromkeys(("condorcet", "copeland", "minimax"), "^Majority-relation based rules"),
    **dict.fromkeys(("geometric_mean", "optimality_gap"), "^Re-interpreting Benchmarks"),
    "harmonic_mean": "^Introduction",  # "other Pythagorean means"
    "worst_task": "^Background",  # "the utility of the worst agent"
    **dict.fromkeys(("median", "average_rank", "win_rate", "relative_difference"), "^Ranking functions"),
}


def places_in(text: str) -> Iterator[str]:
    """Yield `section 3.2` and `section 3.3` for "sections 3.2 and 3.3"."""
    for kind, numbers in PLACE.findall(text):
        for number in re.findall(NUMBER, numbers):
            yield f"{KINDS[kind.lower()]} {number}"


def citations(text: str) -> Iterator[tuple[str, str]]:
    """Yield the paper and the place of every citation that names both, by year."""
    for paragraph in re.split(r"\n\s*\n", text):
        line = JOINT.sub(" ", paragraph)
        names = list(NAME.finditer(line))
        for name, following in itertools.zip_longest(names, names[1:]):
            rest = line[name.end() : following.start() if following else None][:FARTHEST]
            for place in places_in(END.split(rest, maxsplit=1)[0]):
                yield name[1].lower().split()[0], place


def sources() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every file that may cite."""
    left_out = {REPOSITORY / "docs" / "papers.md", Path(__file__)}  # the page is written from the sections' titles
    for folder in (
        "",
        "docs",
        "jobs",
        "leaderboard",
        "performance",
        "ranking_engine",
        "reproduction",
        "templates",
        "tests",
    ):
        pattern = "**/*" if folder else "*"
        for path in sorted((REPOSITORY / folder).glob(pattern)):
            if path.suffix in (".py", ".md", ".html", ".toml") and path not in left_out:
                yield str(path.relative_to(REPOSITORY)), path.read_text(encoding="utf-8")


def cited() -> list[tuple[str, str, str]]:
    """Return what cites, the paper and the place."""
    places = [(path, paper, place) for path, text in sources() for paper, place in citations(text)]
    for path, text in sources():
        if of_paper := re.match(rf"reproduction/({'|'.join(PLACES)})\b|reproduction/({'|'.join(PLACES)})_", path):
            places += [(path, of_paper[1] or of_paper[2], place) for place in places_in(JOINT.sub(" ", text))]
    titled = [(paper, section) for paper in PAPERS if paper.title in TITLES for section in paper.sections]
    return places + [
        (f"the title of {section.key}", TITLES[paper.title], place)
        for paper, section in titled
        for place in places_in(section.title)
    ]


CITED = cited()


def test_citations_are_found_wherever_they_are_written():
    text = (
        '"""Zhang and Hardt 2024, Inherent Trade-Offs between Diversity and Stability, section\n4.1 (it is 1 - W); '
        "Colombo et al. 2022, eq. 3. In section 9 nobody is cited.\n\n"
        "    source=\"Aleskerov et al. 2010; Rofin et al. 2023, Vote'n'Rank, sections 2.2.2 and 3.1\",\n"
        '    x="section 8"'
        "\n\n# Pavao et al. 2021, section 2.3\n# and table 2: criteria. Colombo et al. 2022 (figures 7, 18 and 23)"
    )
    assert list(citations(text)) == [
        ("zhang", "section 4.1"), ("colombo", "eq. 3"), ("rofin", "section 2.2.2"), ("rofin", "section 3.1"),
        ("pavao", "section 2.3"), ("pavao", "table 2"), ("colombo", "figure 7"), ("colombo", "figure 18"),
        ("colombo", "figure 23"),
    ]  # fmt: skip
    assert {paper for _, paper, _ in CITED} == set(PLACES)
    assert len(CITED) > 80


@pytest.mark.parametrize("paper", PLACES)
def test_every_place_that_is_cited_is_listed(paper):
    unlisted = [
        f"{what} cites {place} of {TEXTS[paper]}, which places.toml does not list. Look it up there: correct the "
        "citation, or list the place with words of its heading or caption."
        for what, cited_paper, place in CITED
        if cited_paper == paper and place not in PLACES[paper]
    ]
    assert unlisted == []


def passages(text: str, place: str) -> list[str]:
    """Return the heading or the caption of a place; where the text has none, the paragraphs that speak of it."""
    kind, number = place.split(" ")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = re.escape(number)
    if kind in ("section", "appendix"):
        heading = rf"appendix {named} " if number.isalpha() else rf"{named}\.? "
        return [line[start.end() :] for line in lines if (start := re.match(heading, line, re.IGNORECASE))]
    if kind == "eq.":
        at = [i for i, line in enumerate(lines) if re.match(rf"\({named}\)( \||$)", line)]
        return [" ".join(lines[max(0, i - 2) : i]) for i in at]
    captions = [line for line in lines if re.match(rf"{kind} {named}(:| \()", line, re.IGNORECASE)]
    mentions = re.compile(rf"\b{kind}s? (?:\d+(?:, | and | or ))*{named}\b(?!\.\d)", re.IGNORECASE)
    return captions or [line for line in lines if mentions.search(line)]


@pytest.mark.parametrize(("paper", "place"), [(paper, place) for paper in PLACES for place in PLACES[paper]])
def test_every_listed_place_is_in_its_paper_and_has_these_words(paper, place):
    text = (reference_folder() / "papers" / TEXTS[paper]).read_text(encoding="utf-8")
    words, texts = PLACES[paper][place], passages(text, place)
    assert any(words.lower() in passage.lower() for passage in texts), f"{place} has not {words!r}: {texts}"


@pytest.mark.parametrize(
    ("cites", "about"),
    [
        *(pytest.param(study, OF_STUDY.get(study.key), id=study.key) for study in STUDIES.values()),
        *(pytest.param(rule, OF_RULE.get(rule.key), id=rule.key) for rule in RULES.values()),
    ],
)
def test_a_study_and_a_rule_cite_a_place_about_them(cites, about):
    headings = {place: PLACES[paper].get(place, "") for paper, place in citations(cites.source)}
    assert bool(headings) == bool(about), (
        f"{cites.key} cites {', '.join(headings) or 'no place'}: say in OF_STUDY or OF_RULE what its places are about"
    )
    assert {place: words for place, words in headings.items() if not re.search(about, words)} == {}
