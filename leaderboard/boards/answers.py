"""The answers above a board: which system wins, whether the rules agree, how sure the first place is."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.boards.board import Board
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import as_sentence, in_words, shortened, signed
from leaderboard.models import Job
from leaderboard.queue.queries import error_line
from leaderboard.rankings.agreement import Agreement
from leaderboard.rankings.confidence.intervals import (
    OTHER_POLICY,
    interval_meaning,
    measured_caution,
    possibly_best_text,
    range_text,
)
from leaderboard.rankings.confidence.significance import neighbour_arrays, neighbour_tests
from leaderboard.rankings.published import Column
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.verdict import Camp
from ranking_engine.stability.separability.pair_tests import CONTRADICTED, SEPARABLE, TOO_FEW, VERDICTS

LEADERS_NAMED = 2
# What the intervals of a board mean, by whether they are measured, and whether they are of all systems at once.
MEANINGS = {
    (False, False): gettext_noop("if the same tasks were drawn again with replacement; for each system separately"),
    (False, True): gettext_noop("if the same tasks were drawn again with replacement; for all systems at once"),
    (True, False): gettext_noop("if the scores were measured again on the same tasks; for each system separately"),
    (True, True): gettext_noop("if the scores were measured again on the same tasks; for all systems at once"),
}
FIRM, MIXED = 0.9, 0.7  # Kendall's tau from which rules are said to agree closely, or mostly


def camp_lines(camps: list[Camp]) -> list[dict[str, Any]]:
    """The camps as bars: each with the rules that form it, as a share of all with a winner."""
    return [
        {
            "text": camp.text,
            "brief": camp.brief,
            "n_rules": camp.n_rules,
            "rules": camp.rules,
            "n_winners": camp.n_winners,
        }
        for camp in camps
    ]


def agreement_answer(agreement_by_rule: Mapping[str, Agreement], board: Board) -> dict[str, Any] | None:
    """How far the rules agree with the reference rule: every rule's Kendall tau, their median, the least of them."""
    names = {column.rule: column.name for column in board.columns}
    taus = sorted(
        (a.kendall_tau, names[rule]) for rule, a in agreement_by_rule.items() if a.kendall_tau == a.kendall_tau
    )
    if not taus:
        return None
    middle, low = median(tau for tau, _ in taus), min(0.0, taus[0][0])
    word = gettext("not similar")
    if middle >= MIXED:
        word = gettext("very similar") if middle >= FIRM else gettext("similar")
    on_winner = gettext("On no winner")
    if board.camps:
        n_same, n_rules = board.camps[0].n_rules, sum(camp.n_rules for camp in board.camps)
        if n_same == n_rules:
            on_winner = gettext("On the winner: all %(n_rules)s") % {"n_rules": n_rules}
        else:
            on_winner = gettext("On the winner: %(n)s of %(n_rules)s") % {"n": n_same, "n_rules": n_rules}

    def across(tau: float) -> float:
        """The place on a line of 200 units from `low` to 1."""
        return round(200 * (tau - low) / (1 - low), 1)

    return {
        "word": word,
        "on_winner": on_winner,
        # Then the orders compared are shorter than the board: a median of 1 can go with different winners.
        "leaves_out": any(column.is_ranked and column.n_ranked < len(board.names) for column in board.columns),
        "n_rules": len(taus),
        "median_text": signed(middle),
        "median_x": across(middle),
        "least_text": signed(taus[0][0]),
        "least_name": taus[0][1],
        "greatest_text": signed(taus[-1][0]),
        "from_text": signed(low) if low else "0",
        "dots": [{"x": across(tau), "name": name, "text": signed(tau)} for tau, name in taus],
    }


def certainty_answer(board: Board) -> dict[str, Any]:
    """How sure the first place under the reference rule is: its rank interval, and significant differences."""
    reference, published = board.reference, board.published
    leaders = np.flatnonzero(reference.is_winner).tolist()
    verdict, is_apart = "", True  # whether tests tell the one system that comes first from the next, if there is one
    if board.separability.is_shown and len(leaders) == 1:
        arrays = unpack_arrays(published.test_arrays, neighbour_arrays(reference.rule))
        tests = neighbour_tests(arrays, reference.rule)
        verdicts = [test.verdict for test in tests if test.first == leaders[0]]
        verdict = leader_verdict(verdicts)
        is_apart = not {VERDICTS[SEPARABLE], VERDICTS[CONTRADICTED]}.isdisjoint(verdicts)
    level = published.study_parameters.get("level", 0.95)
    answer = {
        "verdict": verdict,
        "most_often": _most_often_first(board),
        "short": board.separability.short_text,
        "possibly_best": possibly_best_text(reference, board.names, published.tests, level),
    }
    if not leaders or reference.lower is None or reference.upper is None or reference.lower[leaders[0]] < 1:
        return answer | {"interval": ""}
    names = [shortened(name) for name in reference.winner_names[:LEADERS_NAMED]]
    low = min(int(reference.lower[i]) for i in leaders)
    high = max(int(reference.upper[i]) for i in leaders)
    both = gettext(
        "Both can be true: the first stays first if the same tasks are drawn again, and still its lead on them is too "
        "small or too uneven to rule out chance."
    )
    return answer | {
        "interval": range_text(low, high),
        "low": low,
        "high": high,
        "names": in_words(names, LEADERS_NAMED, len(leaders)),
        "level": f"{localise(100 * level, 'g')} %",
        "caution": measured_caution(published) if published.is_measured else "",
        "meaning": gettext(MEANINGS[published.is_measured, published.is_simultaneous]),
        "both": both if verdict and not is_apart and high == 1 and not published.is_measured else "",
    }


def leader_verdict(verdicts: Sequence[str]) -> str:
    """Whether the first differs from all that share rank 2; empty where there are too few tasks to tell.

    Args:
        verdicts: of the tests of the first against each system on rank 2, of `pair_tests.VERDICTS`.
    """
    n, n_apart = len(verdicts), verdicts.count(VERDICTS[SEPARABLE])
    if VERDICTS[CONTRADICTED] in verdicts:
        if n == 1:
            return gettext("is significantly behind the second, against the order of the ranking")
        return gettext("is significantly behind a system on rank 2, against the order of the ranking")
    if not n or VERDICTS[TOO_FEW] in verdicts:
        return ""
    if n == 1:
        if n_apart:
            return gettext("differs significantly from the second")
        return gettext("does not differ significantly from the second")
    if not n_apart:
        return gettext("does not differ significantly from any of the %(n)s systems on rank 2") % {"n": n}
    if n_apart == n:
        return gettext("differs significantly from all %(n)s systems on rank 2") % {"n": n}
    return gettext("differs significantly from %(n_apart)s of the %(n)s systems on rank 2") % {
        "n_apart": n_apart,
        "n": n,
    }


def _most_often_first(board: Board) -> str:
    """The rank interval of the largest camp's only winner, where that is not the reference rule's first."""
    reference = board.reference
    if not board.camps or reference.lower is None or reference.upper is None or board.camps[0].n_winners != 1:
        return ""
    (name,) = board.camps[0].winners
    if name in reference.winner_names or name not in board.names:
        return ""
    i = board.names.index(name)
    if reference.lower[i] < 1:
        return ""
    interval = range_text(int(reference.lower[i]), int(reference.upper[i]))
    return gettext("%(name)s, first alone under %(n)s of %(n_rules)s rules with a winner: rank %(interval)s.") % {
        "name": shortened(name),
        "n": board.camps[0].n_rules,
        "n_rules": sum(camp.n_rules for camp in board.camps),
        "interval": interval,
    }


def coverage_text(columns: list[Column], n_systems: int) -> str:
    """What a reader must know before comparing columns: which rules leave systems out, how many and why."""
    by_count: dict[int, list[str]] = {}
    are_too_low = set()  # whether a score of 0 or less leaves a system out of both means, or a gap
    for column in columns:
        if column.is_ranked and column.n_ranked < n_systems:
            by_count.setdefault(column.n_ranked, []).append(column.name)
            are_too_low |= {reason.startswith("a score <= 0") for reason in column.reasons}
    parts = [
        ngettext(
            "%(rules)s ranks %(n_ranked)s of %(n_systems)s systems",
            "%(rules)s rank %(n_ranked)s of %(n_systems)s systems",
            len(rules),
        )
        % {"rules": in_words(rules), "n_ranked": n_ranked, "n_systems": n_systems}
        for n_ranked, rules in sorted(by_count.items())
    ]
    if not parts:
        return ""
    if are_too_low == {True}:
        why = gettext("the others have a score of 0 or less, so there is no geometric or harmonic mean")
    elif are_too_low == {False}:
        why = gettext("the others lack scores")
    else:
        why = gettext("the others lack scores or have a score of 0 or less, so there is no geometric or harmonic mean")
    return f"{'; '.join([*parts, why])}."


def intervals_answer(board: Board, job: Job | None) -> dict[str, Any]:
    """What the rank intervals of this view are, or why there are none, or how far they have come."""
    published, summary = board.published, board.published.study
    if summary is not None:
        summary = (published.measured if published.is_measured else None) or summary
        if summary["reason"]:
            return {
                "state": "none",
                "text": gettext("No rank intervals: %(reason)s.") % {"reason": in_page_language(summary["reason"])},
            }
        if not any(column.lower is not None for column in board.columns):
            return {"state": "none", "text": as_sentence(gettext(OTHER_POLICY))}
        return {"state": "there", "text": interval_meaning(published, board.reference)}
    state = job.state if job else "none"
    if job and state == "failed":
        if not job.error:
            return {"state": "none", "text": gettext("The rank intervals of this revision could not be computed.")}
        text = gettext("The rank intervals of this revision could not be computed: %(error)s")
        return {"state": "none", "text": text % {"error": error_line(job.error)}}
    texts = {
        "waiting": gettext("The rank intervals of this revision are queued."),
        "running": gettext("The rank intervals of this revision are being computed:"),
        "superseded": gettext("Rank intervals come with the next revision."),
    }
    percent = round(100 * job.progress) if job and state == "running" else None
    return {"state": state, "text": texts.get(state, ""), "progress_percent": percent}
