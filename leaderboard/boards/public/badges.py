"""Badges: the rank of a system, or the winner of a benchmark, in a few words."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.boards.public.board import PublicBoard, public_board
from leaderboard.common.text import as_sentence, in_words
from leaderboard.models import SystemChange
from leaderboard.rankings.published import COMPUTING, Column, UnknownChoiceError
from leaderboard.rankings.verdict import headline
from leaderboard.studies.prospects.stored import stored_prospects
from leaderboard.studies.prospects.text import VERDICT_WORDS, evidence
from ranking_engine.prospects import MAJORITY

NAMED_WINNERS = 2


@dataclass(frozen=True)
class Badge:
    """What a badge says."""

    label: str  # on the left
    message: str  # on the right
    sentence: str  # the same in whole sentences
    tone: str = "plain"  # "first" where the system or a winner is first, "quiet" where there is nothing to tell


NOT_FOUND = Badge("Plurank", "not found", "There is nothing public at this address.", "quiet")


def system_badge(audience: Audience, key: str, rule: str = "", *, of_prospects: bool = False) -> Badge:
    """The rank of a system: under one rule, or over all of them; or whether it can win under some weights.

    Args:
        audience: someone who is not signed in.
        key: the system's.
        rule: whose rank is told; all rules where empty.
        of_prospects: tell whether it can become the Condorcet winner in place of a rank.

    Raises:
        Http404: there is no such system here that everyone may know of.
        UnknownChoiceError: there is no such rule.
    """
    benchmark = audience.benchmark
    board = public_board(audience) if audience.sees_others else None
    place = next((i for i, system in enumerate(board.systems) if system.key == key), None) if board else None
    if board is None or place is None:
        # Not yet on the board, or no more: its last change tells.
        changes = SystemChange.objects.filter(system__benchmark=benchmark, system__key=key)
        last = changes.order_by("-revision__number").values_list("kind", flat=True).first()
        if last is None or not (audience.sees_others and audience.sees_names):
            raise Http404(gettext("No system of this name is on the published board."))
        if last == SystemChange.Kind.LEFT:
            return Badge(benchmark.name, "withdrawn", "The scores of this system were withdrawn.", "quiet")
        return Badge(benchmark.name, "computing", "The board with this system is being computed.", "quiet")
    name, number = board.systems[place].name, board.published.revision.number
    where = f"{name} on {benchmark.name}, revision {number}"
    if of_prospects:
        prospect, reason = None, "this board does not show who can win"
        if benchmark.publication is not None and not audience.is_restricted:
            stored, reason = stored_prospects(benchmark.publication)
            prospect = next((one for one in stored.prospects.systems if one.system == key), None) if stored else None
        if prospect is None:
            sentence = f"{reason[:1].upper()}{reason[1:]}." if reason else "Who can win is being computed."
            return Badge(benchmark.name, "unknown" if reason else "computing", f"{where}. {sentence}", "quiet")
        verdict = str(VERDICT_WORDS[prospect.verdict])
        names = {system.key: system.name for system in board.systems}
        message, sentence = (
            verdict.lower(),
            evidence(prospect, names, rule=stored.prospects.rule if stored else MAJORITY),
        )
        tone = "first" if prospect.is_prospective else "plain"
    elif rule:
        column = _column(board, rule)
        message, sentence, tone = _under(column, place)
    else:
        message, sentence, tone = _over_all(board, place)
    return Badge(benchmark.name, message, f"{where}: {sentence}", tone)


def _column(board: PublicBoard, rule: str) -> Column:
    column = board.column(rule)
    if column is None:
        raise UnknownChoiceError(gettext("There is no such rule on this board."))
    return column


def _under(column: Column, i: int) -> tuple[str, str, str]:
    """(message, the same in a sentence, tone) of one system under one rule."""
    rank, name = int(column.ranks[i]), column.name
    if rank >= 1 and column.status == "ranked":
        tied = "joint " if int((column.ranks == rank).sum()) > 1 else ""
        mark, note = _predicted(column.predicted_of(i))
        message = f"{mark}{tied}{ordinal(rank)} of {column.n_ranked}, {name}"
        tone = "first" if rank == 1 else "plain"
        return message, f"{tied}{ordinal(rank)} of {column.n_ranked} under {name}.{note}", tone
    if rank == 1:
        return f"winner, {name}", f"winner under {name}, which ranks no other system.", "first"
    reason = as_sentence(column.reason_of(i))
    if column.status == COMPUTING:
        return f"computing, {name}", f"the ranking under {name} is being computed.", "quiet"
    if column.status == "ranked":
        return f"unranked, {name}", f"unranked under {name}. {reason}".strip(), "quiet"
    if column.elects:
        return f"not a winner, {name}", f"another system wins under {name}.", "quiet"
    return f"no ranking, {name}", f"{name} gives no ranking. {reason}".strip(), "quiet"


def _predicted(n: int) -> tuple[str, str]:
    """The mark before a rank that rests on `n` predicted scores, and a sentence behind it."""
    return ("≈ ", f" {n} of its scores {'is' if n == 1 else 'are'} predicted.") if n else ("", "")


def _over_all(board: PublicBoard, i: int) -> tuple[str, str, str]:
    """As `_under`, over all rules."""
    mark, note = _predicted(max((column.predicted_of(i) for column in board.columns), default=0))
    firsts = [column.name for column in board.electing if int(column.ranks[i]) == 1]
    n_electing = len(board.electing)
    if firsts:
        message = f"{mark}1st under {_count(len(firsts), n_electing, firsts[0])}"
        return message, f"first, alone or with others, under {in_words(firsts, most=len(firsts))}.{note}", "first"
    ranked = [column for column in board.columns if column.status == "ranked"]
    ranks = sorted(int(column.ranks[i]) for column in ranked if column.ranks[i] >= 1)
    if ranks:
        low, high = ordinal(ranks[0]), ordinal(ranks[-1])
        under = _count(len(ranks), len(ranked), ranked[0].name)
        message = f"{low} under {under}" if low == high else f"{low} to {high} under {under}"
        return f"{mark}{message}", f"{message}.{note}", "plain"
    if any(column.status == COMPUTING for column in board.columns):
        return "computing", "its ranks are being computed.", "quiet"
    return "unranked", "no rule ranks it.", "quiet"


def _count(n: int, total: int, only: str) -> str:
    """`7 of 14 rules`, `all 14 rules`; the rule's name where there is no other."""
    if total == 1:
        return only
    return f"all {total} rules" if n == total else f"{n} of {total} rules"


def benchmark_badge(audience: Audience, rule: str = "") -> Badge:
    """Who wins: under one rule, or over all of them.

    Raises:
        UnknownChoiceError: there is no such rule.
    """
    benchmark = audience.benchmark
    if not audience.sees_others:
        return Badge(benchmark.name, "ranks not shown", "The owners hide the ranks of other people’s systems.", "quiet")
    board = public_board(audience)
    if board is None:
        if benchmark.last_revision_number:
            return Badge(benchmark.name, "computing", "The first board is being computed.", "quiet")
        return Badge(benchmark.name, "no scores yet", "Nothing has been ranked yet.", "quiet")
    where = f"{benchmark.name}, revision {board.published.revision.number}"
    if rule:
        column = _column(board, rule)
        if column.elects:
            who = _winners(column.winner_names, column.n_winners)
            winners = in_words(column.winner_names, total=column.n_winners)
            mark, note = _winner_mark([column])
            sentence = f"{where}: {winners} under {column.name}.{note}"
            return Badge(benchmark.name, f"{mark}{who}, {column.name}", sentence, "first")
        message, sentence = f"no winner, {column.name}", f"{column.name} has no winner. {as_sentence(column.reason)}"
        if column.status == COMPUTING:
            message, sentence = f"computing, {column.name}", "the ranking is being computed."
        return Badge(benchmark.name, message, f"{where}: {sentence}".strip(), "quiet")
    camps, n_rules = board.camps, len(board.electing)
    winner = board.published.facts.get("condorcet_winner")
    mark, note = _winner_mark(board.electing)
    sentence = f"{where}: {headline(camps, winner, has_majority=board.published.has_majority)}{note}"
    if not camps:
        is_to_come = any(column.status == COMPUTING for column in board.columns)
        return Badge(benchmark.name, "computing" if is_to_come else "no winner", sentence, "quiet")
    if len(camps) == 1:
        who = _winners(list(camps[0].winners), camps[0].n_winners)
        who = f"{mark}{who} under {_count(n_rules, n_rules, camps[0].rules[0])}"
        return Badge(benchmark.name, who, sentence, "first")
    return Badge(benchmark.name, f"{mark}{len(camps)} winners under {n_rules} rules", sentence, "plain")


def _winner_mark(columns: Sequence[Column]) -> tuple[str, str]:
    """The mark before winners of whom one has predicted scores, and a sentence behind them."""
    is_predicted = any(
        column.n_predicted is not None and column.n_predicted[column.is_winner].any() for column in columns
    )
    return ("≈ ", " Some scores of a winner are predicted.") if is_predicted else ("", "")


def _winners(names: list[str], n_winners: int) -> str:
    return in_words(names) if n_winners <= NAMED_WINNERS else f"{n_winners} systems jointly"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    end = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"
