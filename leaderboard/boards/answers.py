"""The answers above a board: which system wins, whether the rules agree, how sure the first place is."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from django.utils.translation import gettext

from leaderboard.boards.board import Board
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, shortened
from leaderboard.rankings.agreement import Agreement
from leaderboard.rankings.confidence.intervals import measured_caution, possibly_best_text, range_text
from leaderboard.rankings.confidence.significance import neighbour_arrays, neighbour_tests
from leaderboard.rankings.reports import unpack_arrays
from leaderboard.rankings.verdict import Camp
from ranking_engine.stability.separability.pair_tests import CONTRADICTED, SEPARABLE, TOO_FEW, VERDICTS

LEADERS_NAMED = 2
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
    word = "very similar" if middle >= FIRM else "similar" if middle >= MIXED else "not similar"
    on_winner = "On no winner"
    if board.camps:
        n_same, n_rules = board.camps[0].n_rules, sum(camp.n_rules for camp in board.camps)
        on_winner = f"On the winner: {'all' if n_same == n_rules else f'{n_same} of'} {n_rules}"

    def across(tau: float) -> float:
        """The place on a line of 200 units from `low` to 1."""
        return round(200 * (tau - low) / (1 - low), 1)

    return {
        "word": word,
        "on_winner": on_winner,
        # Then the orders compared are shorter than the board: a median of 1 can go with different winners.
        "leaves_out": any(column.status == "ranked" and column.n_ranked < len(board.names) for column in board.columns),
        "n_rules": len(taus),
        "median_text": _signed(middle),
        "median_x": across(middle),
        "least_text": _signed(taus[0][0]),
        "least_name": taus[0][1],
        "greatest_text": _signed(taus[-1][0]),
        "from_text": _signed(low) if low else "0",
        "dots": [{"x": across(tau), "name": name, "text": _signed(tau)} for tau, name in taus],
    }


def certainty_answer(board: Board) -> dict[str, Any]:
    """How sure the first place under the reference rule is: its rank interval, and significant differences."""
    reference, published = board.reference, board.published
    leaders = np.flatnonzero(reference.is_winner).tolist()
    verdict = ""  # whether tests tell the one system that comes first from the next, where there is one such
    if board.separability.is_shown and len(leaders) == 1:
        arrays = unpack_arrays(published.test_arrays, neighbour_arrays(reference.rule))
        tests = neighbour_tests(arrays, reference.rule)
        verdict = leader_verdict([test.verdict for test in tests if test.first == leaders[0]])
    answer = {
        "verdict": verdict,
        "most_often": most_often_first(board),
        "short": board.separability.short_text,
        "possibly_best": possibly_best_text(reference, board.names),
    }
    if not leaders or reference.lower is None or reference.upper is None or reference.lower[leaders[0]] < 1:
        return answer | {"interval": ""}
    names = [shortened(name) for name in reference.winner_names[:LEADERS_NAMED]]
    low = min(int(reference.lower[i]) for i in leaders)
    high = max(int(reference.upper[i]) for i in leaders)
    level = published.study_parameters.get("level", 0.95)
    return answer | {
        "interval": range_text(low, high),
        "low": low,
        "high": high,
        "names": in_words(names, LEADERS_NAMED, len(leaders)),
        "level": f"{localise(100 * level, 'g')} %",
        "caution": measured_caution(published) if published.is_measured else "",
        "meaning": (
            f"if {'the scores were measured' if published.is_measured else 'the same tasks were drawn'} again "
            f"{'on the same tasks' if published.is_measured else 'with replacement'}; "
            f"{'for all systems at once' if published.is_simultaneous else 'for each system separately'}"
        ),
    }


def leader_verdict(verdicts: Sequence[str]) -> str:
    """Whether the first differs from all that share rank 2; empty where there are too few tasks to tell.

    Args:
        verdicts: of the tests of the first against each system on rank 2, of `pair_tests.VERDICTS`.
    """
    n, n_apart = len(verdicts), verdicts.count(VERDICTS[SEPARABLE])
    if VERDICTS[CONTRADICTED] in verdicts:
        behind = "the second" if n == 1 else "a system on rank 2"
        return f"is significantly behind {behind}, against the order of the ranking"
    if not n or VERDICTS[TOO_FEW] in verdicts:
        return ""
    if n == 1:
        return f"{'differs' if n_apart else 'does not differ'} significantly from the second"
    if not n_apart:
        return f"does not differ significantly from any of the {n} systems on rank 2"
    return f"differs significantly from {'all' if n_apart == n else f'{n_apart} of the'} {n} systems on rank 2"


def most_often_first(board: Board) -> str:
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
    n_rules = f"{board.camps[0].n_rules} of {sum(camp.n_rules for camp in board.camps)}"
    return gettext("%(name)s, first alone under %(n_rules)s rules with a winner: rank %(interval)s.") % {
        "name": shortened(name),
        "n_rules": n_rules,
        "interval": interval,
    }


def _signed(value: float) -> str:
    return localise(value, ".2f").replace("-", "\N{MINUS SIGN}")
