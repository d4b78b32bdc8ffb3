"""Rofin et al. 2023, Vote'n'Rank: numbers in the text of section 3, section 3.1 and appendix B."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ranking_engine import Ranking, rank
from reproduction.boards import board
from reproduction.rofin.agreement import additions
from reproduction.rofin.boards import ALL_BOARDS, BOARDS, NOTEBOOKS, PRINTED, SOURCES, TITLES, paper_board, ranked
from reproduction.tables import AGREES, DIFFERS, Progress, Result, Row, Section, compared, listed

Own = Mapping[str, Mapping[str, Ranking]]  # rankings by board and rule

EIGHT_RULES = ("plurality", "borda", "dowdall", "threshold", "baldwin", "copeland", "minimax", "condorcet")
WITHOUT_DOWDALL = (
    "under Dowdall we find none; the paper's table 11 prints six different Dowdall scores, and three times 0.00 under "
    "Plurality"
)
MISSING = "the board has 6 of 11 results of Human, as section 3.1 says; appendix B says that 6 are missing"


def passages(progress: Progress) -> Result:
    """Compare the numbers that the text gives as sizes and results."""
    own = {name: ranked(name) for name in TITLES}
    return Result([*sizes(), *section_3_1(own, progress), *appendix_b(own)])


def sizes() -> list[Row]:
    """Compare how many systems and tasks there are (section 3)."""
    printed = PRINTED["section_3"]
    rows = [
        compared(f"Section 3, {TITLES[name]}: systems", paper_board(name).n_systems, printed=text)
        for name, text in printed["systems"].items()
    ]
    n_tasks = board(BOARDS["value"]).n_tasks
    return [*rows, compared("Section 3, VALUE: tasks", n_tasks, printed=printed["tasks"]["value_missing"])]


def section_3_1(own: Own, progress: Progress) -> list[Row]:
    """Compare the results of section 3.1."""
    printed = PRINTED["section_3_1"]
    rows = [
        compared(
            f"Section 3.1, {_whole(name)}: procedures with another winner than the mean", n_others(name), printed=text
        )
        for name, text in printed["other_winners"].items()
    ]
    glue = own["glue"]
    humans = paper_board("glue").system_names.index("GLUE Human Baselines")
    rise = max(_last_place(glue["mean"], humans) - _last_place(ranking, humans) for ranking in glue.values())
    rows.append(
        compared("Section 3.1, GLUE: places that Human rises, at most", rise, printed=printed["rise_of_humans"])
    )
    changes = additions("superglue", "votenrank", progress)
    most = max(changes[rule]["any_change"] for rule in ("copeland", "minimax", "plurality"))
    what = "Section 3.1, SuperGLUE: changes by newcomers under Copeland, Minimax and Plurality, at most"
    rows.append(compared(what, most, printed=printed["changes_on_superglue"]))
    rows.append(_shared_means(own, printed["same_means"]))
    for name, text in printed["same_borda"].items():
        n = first_places_shared(own[name]["borda"], own[name]["mean"], own[name]["geometric_mean"])
        rows.append(compared(f"Section 3.1, {TITLES[name]}: first places by Borda and both means", n, printed=text))
    has_result, n_tasks = _tasks_of_humans()
    what = "Section 3.1, VALUE: tasks with a result of Human, and all"
    return [*rows, listed(what, [has_result, n_tasks], printed=printed["tasks_of_humans"])]


def _whole(name: str) -> str:
    return TITLES.get(f"{name}_missing", TITLES[name])


def n_others(name: str) -> int:
    """Return how many of the eight rules elect others than the mean, VALUE with its missing scores where they can."""
    matrix = paper_board(name)
    usual = [matrix.system_names[i] for i in rank(matrix, "mean").winners]
    return sum(_elected(name, rule) != usual for rule in EIGHT_RULES)


def _elected(name: str, rule: str) -> list[str]:
    takes_missing = rule in NOTEBOOKS.get(f"{name}_missing", {}).get("winners", {})
    matrix = paper_board(f"{name}_missing" if takes_missing else name)
    return [matrix.system_names[i] for i in rank(matrix, rule).winners]


def _last_place(ranking: Ranking, system: int) -> int:
    """Return the last of the places that a system has or shares."""
    return int((ranking.ranks <= ranking.ranks[system]).sum())


def _shared_means(own: Own, text: str) -> Row:
    """Compare over how many first places the two means are the same on GLUE and SuperGLUE, at least."""
    counts = {
        name: first_places_shared(own[name]["mean"], own[name]["geometric_mean"]) for name in ("glue", "superglue")
    }
    is_so = min(counts.values()) >= int(text)
    ours = "; ".join(f"{TITLES[name]}: {n}" for name, n in counts.items())
    what = "Section 3.1: first places by both means, at least"
    return Row(what, text, "", ours, AGREES if is_so else DIFFERS, "", 1, int(is_so))


def first_places_shared(*rankings: Ranking) -> int:
    """Return how many first places are given to the same systems in the same order, without ties."""
    orders = [np.argsort(-ranking.scores, kind="stable").tolist() for ranking in rankings]
    n = 0
    for systems in zip(*orders, strict=True):
        is_tied = any((ranking.ranks == ranking.ranks[systems[0]]).sum() > 1 for ranking in rankings)
        if is_tied or len(set(systems)) > 1:
            break
        n += 1
    return n


def _tasks_of_humans() -> tuple[int, int]:
    """Return on how many tasks of VALUE Human has a result, and how many there are."""
    matrix = board(BOARDS["value"])
    return int(np.isfinite(matrix.values[matrix.system_names.index("Human")]).sum()), matrix.n_tasks


def appendix_b(own: Own) -> list[Row]:
    """Compare the results of appendix B, which are about VALUE."""
    printed = PRINTED["appendix_b"]
    has_result, n_tasks = _tasks_of_humans()
    minimax = own["value_missing"]["minimax"]
    n_last = int((minimax.ranks == minimax.ranks.max()).sum())
    without = own["value"]
    same_top = min(_first_shared_or_tied(without["mean"], ranking) for ranking in without.values())
    is_so = same_top >= int(printed["same_top"])
    return [
        compared("Appendix B, VALUE: systems", paper_board("value_missing").n_systems, printed=printed["systems"]),
        compared("Appendix B, VALUE: last systems of one Minimax score", n_last, printed=printed["least_minimax"]),
        listed(
            "Appendix B, VALUE: tasks without a result of Human, and all",
            [n_tasks - has_result, n_tasks],
            printed=printed["tasks_of_humans"],
            because=MISSING,
        ),
        listed(
            "Appendix B, VALUE without Human: tied alternatives under Minimax and Dowdall",
            [without["minimax"].n_tied, without["dowdall"].n_tied],
            printed=printed["tied"],
            because=WITHOUT_DOWDALL,
        ),
        Row(
            "Appendix B, VALUE without Human: first places that all rules share, at least, ties either way",
            printed["same_top"], "", str(same_top), AGREES if is_so else DIFFERS, "", 1, int(is_so),
        ),
    ]  # fmt: skip


def _first_shared_or_tied(reference: Ranking, ranking: Ranking) -> int:
    """Return over how many first places a ranking has the order of another, where a tie is no other order."""
    places = np.argsort(-reference.scores, kind="stable").tolist()
    n = 0
    for place, system in enumerate(places):
        is_there = (ranking.ranks < ranking.ranks[system]).sum() <= place < _last_place(ranking, system)
        if not is_there:
            break
        n += 1
    return n


SECTIONS = (
    Section(
        "rofin-text",
        "Sections 3 and 3.1 and appendix B: numbers in the text",
        ALL_BOARDS,
        passages,
        (SOURCES["rankings"],),
    ),
)
