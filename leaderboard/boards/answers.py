"""What stands above a board: who is elected, whether the rules agree, how sure it is."""

from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np

from leaderboard.boards.board import Board
from leaderboard.common.text import in_words, shortened
from leaderboard.rankings.agreement import Agreement
from leaderboard.rankings.confidence.intervals import possibly_best_text, range_text
from leaderboard.rankings.verdict import Camp

LEADERS_NAMED = 2
MOSTLY = 0.75  # the share of the rules from which they are said to agree mostly on the winner
FIRM, MIXED = 0.9, 0.7  # Kendall's tau from which rules are said to agree closely, or in the main


def camp_lines(camps: list[Camp]) -> list[dict[str, Any]]:
    """The camps as bars: each with the rules that form it, as a share of all that elect."""
    return [
        {"text": camp.text, "n_rules": camp.n_rules, "rules": camp.rules, "n_winners": camp.n_winners} for camp in camps
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
    word = "closely" if middle >= FIRM else "in the main" if middle >= MIXED else "hardly"
    on_winner = "On no winner"
    if board.camps:
        # How many of the rules that elect elect the same.
        share = board.camps[0].n_rules / sum(camp.n_rules for camp in board.camps)
        part = "All" if share == 1 else "Mostly" if share >= MOSTLY else "By a majority" if share > 0.5 else "Not"
        on_winner = f"{part} on the winner"

    def across(tau: float) -> float:
        """The place on a line of 200 units from `low` to 1."""
        return round(200 * (tau - low) / (1 - low), 1)

    return {
        "word": word,
        "on_winner": on_winner,
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
    """How sure the first place under the reference rule is: its rank interval, and what can be told apart."""
    reference, published = board.reference, board.published
    leaders = np.flatnonzero(reference.is_winner).tolist()
    verdict = ""  # whether tests tell the one system that comes first from the next, where there is one such
    if board.separability.is_shown and len(leaders) == 1:
        _, last = board.separability.ranks_of(leaders[0]) or (1, 1)
        ranks = "rank 2" if last == 2 else f"ranks 2–{last}"
        verdict = "can be told apart from the second" if last == 1 else f"cannot be told apart from {ranks}"
    answer = {
        "verdict": verdict,
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
        "level": f"{100 * level:g} %",
        "meaning": (
            "if the same tasks were drawn anew with replacement; all systems’ intervals at once"
            if published.is_simultaneous
            else "if the same tasks were drawn anew with replacement; each system’s interval by itself"
        ),
    }


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
