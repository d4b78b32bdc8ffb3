"""Badges: the rank of a system, or the winner of a benchmark, in a few words."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.access.audience import Audience
from leaderboard.boards.public.board import PublicBoard, public_board
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.text import as_sentence, in_words
from leaderboard.models import SystemChange
from leaderboard.rankings.published import Column, UnknownChoiceError
from leaderboard.rankings.verdict import headline, lone_system_text
from leaderboard.studies.prospects.stored import stored_prospects
from leaderboard.studies.prospects.text import VERDICT_WORDS, evidence
from ranking_engine.prospects import MAJORITY

NAMED_WINNERS = 2
ORDINALS = {1: gettext_noop("%(number)sst"), 2: gettext_noop("%(number)snd"), 3: gettext_noop("%(number)srd")}


@dataclass(frozen=True)
class Badge:
    """What a badge says."""

    label: str  # on the left
    message: str  # on the right
    sentence: str  # the same in whole sentences
    tone: str = "plain"  # "first" where the system or a winner is first, "quiet" where there is nothing to tell


def not_found_badge() -> Badge:
    """Where there is nothing, or nothing that everyone may know of."""
    return Badge("Plurank", gettext("not found"), gettext("There is nothing public at this URL."), "quiet")


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
            sentence = gettext("The scores of this system were withdrawn.")
            return Badge(benchmark.name, gettext("withdrawn"), sentence, "quiet")
        sentence = gettext("The board with this system is being computed.")
        return Badge(benchmark.name, gettext("computing"), sentence, "quiet")
    where = {
        "system": board.systems[place].name,
        "benchmark": benchmark.name,
        "number": board.published.revision.number,
    }
    if lone := lone_system_text(board.published.facts["n_systems"]):
        return Badge(benchmark.name, gettext("one system so far"), lone, "quiet")
    if of_prospects:
        prospect, reason = None, gettext("this board does not show who can win")
        if benchmark.publication is not None and not audience.is_restricted:
            stored, english = stored_prospects(benchmark.publication)
            reason = in_page_language(english)
            prospect = next((one for one in stored.prospects.systems if one.system == key), None) if stored else None
        if prospect is None:
            message, sentence = gettext("computing"), gettext("Who can win is being computed.")
            if reason:
                message, sentence = gettext("unknown"), as_sentence(reason)
            whole = gettext("%(system)s on %(benchmark)s, revision %(number)s. %(sentence)s")
            return Badge(benchmark.name, message, whole % {**where, "sentence": sentence}, "quiet")
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
    whole = gettext("%(system)s on %(benchmark)s, revision %(number)s: %(sentence)s")
    return Badge(benchmark.name, message, whole % {**where, "sentence": sentence}, tone)


def _column(board: PublicBoard, rule: str) -> Column:
    column = board.column(rule)
    if column is None:
        raise UnknownChoiceError(gettext("There is no such rule on this board."))
    return column


def _under(column: Column, i: int) -> tuple[str, str, str]:
    """(message, the same in a sentence, tone) of one system under one rule."""
    rank, rule = int(column.ranks[i]), {"rule": column.name}
    if rank >= 1 and column.is_ranked:
        message, sentence = gettext("%(rank)s of %(n)s, %(rule)s"), gettext("%(rank)s of %(n)s under %(rule)s.")
        if int((column.ranks == rank).sum()) > 1:
            message = gettext("joint %(rank)s of %(n)s, %(rule)s")
            sentence = gettext("joint %(rank)s of %(n)s under %(rule)s.")
        figures = {**rule, "rank": ordinal(rank), "n": column.n_ranked}
        mark, note = _predicted(column.predicted_of(i))
        tone = "first" if rank == 1 else "plain"
        return f"{mark}{message % figures}", _joined(sentence % figures, note), tone
    if rank == 1:
        sentence = gettext("winner under %(rule)s, which ranks no other system.")
        return gettext("winner, %(rule)s") % rule, sentence % rule, "first"
    reason = as_sentence(in_page_language(column.reason_of(i)))
    if column.is_computing:
        message, sentence = gettext("computing, %(rule)s"), gettext("the ranking under %(rule)s is being computed.")
        reason = ""
    elif column.is_ranked:
        message, sentence = gettext("unranked, %(rule)s"), gettext("unranked under %(rule)s.")
    elif column.elects:
        message, sentence = gettext("not a winner, %(rule)s"), gettext("another system wins under %(rule)s.")
        reason = ""
    else:
        message, sentence = gettext("no ranking, %(rule)s"), gettext("%(rule)s gives no ranking.")
    return message % rule, _joined(sentence % rule, reason), "quiet"


def _predicted(n: int) -> tuple[str, str]:
    """The mark before a rank that rests on `n` predicted scores, and a sentence that says so."""
    sentence = ngettext("%(n)s of its scores is predicted.", "%(n)s of its scores are predicted.", n) % {"n": n}
    return ("≈ ", sentence) if n else ("", "")


def _joined(*sentences: str) -> str:
    """Those that say something, one after another."""
    return " ".join(filter(None, sentences))


def _over_all(board: PublicBoard, i: int) -> tuple[str, str, str]:
    """As `_under`, over all rules."""
    mark, note = _predicted(max((column.predicted_of(i) for column in board.columns), default=0))
    firsts = [column.name for column in board.electing if column.is_winner[i]]
    if firsts:
        rules = _count(len(firsts), len(board.electing), firsts[0])
        message = gettext("%(rank)s under %(rules)s") % {"rank": ordinal(1), "rules": rules}
        sentence = gettext("first, alone or with others, under %(rules)s.")
        return f"{mark}{message}", _joined(sentence % {"rules": in_words(firsts, most=len(firsts))}, note), "first"
    ranked = [column for column in board.columns if column.is_ranked]
    ranks = sorted(int(column.ranks[i]) for column in ranked if column.ranks[i] >= 1)
    if ranks:
        low, high = ordinal(ranks[0]), ordinal(ranks[-1])
        message = gettext("%(low)s to %(high)s under %(rules)s")
        sentence = gettext("%(low)s to %(high)s under %(rules)s.")
        if low == high:
            message, sentence = gettext("%(rank)s under %(rules)s"), gettext("%(rank)s under %(rules)s.")
        figures = {"rank": low, "low": low, "high": high, "rules": _count(len(ranks), len(ranked), ranked[0].name)}
        return f"{mark}{message % figures}", _joined(sentence % figures, note), "plain"
    if any(column.is_computing for column in board.columns):
        return gettext("computing"), gettext("its ranks are being computed."), "quiet"
    return gettext("unranked"), gettext("no rule ranks it."), "quiet"


def _count(n: int, total: int, only: str) -> str:
    """`7 of 14 rules`, `all 14 rules`; the rule's name where there is no other."""
    if total == 1:
        return only
    if n == total:
        return ngettext("all %(n)s rule", "all %(n)s rules", n) % {"n": n}
    return ngettext("%(n)s of %(total)s rule", "%(n)s of %(total)s rules", total) % {"n": n, "total": total}


def benchmark_badge(audience: Audience, rule: str = "") -> Badge:
    """Who wins: under one rule, or over all of them.

    Raises:
        UnknownChoiceError: there is no such rule.
    """
    benchmark = audience.benchmark
    if not audience.sees_others:
        sentence = gettext("The owners hide the ranks of other people’s systems.")
        return Badge(benchmark.name, gettext("ranks not shown"), sentence, "quiet")
    board = public_board(audience)
    if board is None:
        message, sentence = gettext("no scores yet"), gettext("Nothing has been ranked yet.")
        if benchmark.last_revision_number:
            message, sentence = gettext("computing"), gettext("The first board is being computed.")
        return Badge(benchmark.name, message, sentence, "quiet")
    if lone := lone_system_text(board.published.facts["n_systems"]):
        return Badge(benchmark.name, gettext("one system so far"), lone, "quiet")
    if rule:
        column = _column(board, rule)
        named, note, tone = {"rule": column.name}, "", "quiet"
        if column.elects:
            winners = in_words(column.winner_names, total=column.n_winners)
            sentence = gettext("%(winners)s under %(rule)s.") % {**named, "winners": winners}
            mark, note = _winner_mark([column])
            message, tone = f"{mark}{_winners(column.winner_names, column.n_winners)}, {column.name}", "first"
        elif column.is_computing:
            message, sentence = gettext("computing, %(rule)s") % named, gettext("the ranking is being computed.")
        else:
            message, sentence = gettext("no winner, %(rule)s") % named, gettext("%(rule)s has no winner.") % named
            note = as_sentence(in_page_language(column.reason))
    else:
        winner = board.published.facts.get("condorcet_winner")
        camps, n_rules = board.camps, len(board.electing)
        sentence = headline(
            camps,
            winner,
            has_majority=board.published.has_majority,
            n_apart=board.published.n_apart,
            reason=board.published.why_nothing_ranked,
        )
        mark, note = _winner_mark(board.electing)
        if not camps:
            is_to_come = any(column.is_computing for column in board.columns)
            message, tone = gettext("computing") if is_to_come else gettext("no winner"), "quiet"
        elif len(camps) == 1:
            who = _winners(list(camps[0].winners), camps[0].n_winners)
            rules = _count(n_rules, n_rules, camps[0].rules[0])
            message = mark + gettext("%(winners)s under %(rules)s") % {"winners": who, "rules": rules}
            tone = "first"
        else:
            counted = gettext("%(n)s winners under %(n_rules)s rules")
            if any(camp.n_winners > 1 for camp in camps):
                counted = gettext("%(n)s sets of winners under %(n_rules)s rules")
            message, tone = mark + counted % {"n": len(camps), "n_rules": n_rules}, "plain"
    whole = gettext("%(benchmark)s, revision %(number)s: %(sentence)s")
    values = {"benchmark": benchmark.name, "number": board.published.revision.number}
    return Badge(benchmark.name, message, whole % {**values, "sentence": _joined(sentence, note)}, tone)


def _winner_mark(columns: Sequence[Column]) -> tuple[str, str]:
    """The mark before winners of whom one has predicted scores, and a sentence that says so."""
    is_predicted = any(
        column.n_predicted is not None and column.n_predicted[column.is_winner].any() for column in columns
    )
    return ("≈ ", gettext("Some scores of a winner are predicted.")) if is_predicted else ("", "")


def _winners(names: list[str], n_winners: int) -> str:
    return in_words(names) if n_winners <= NAMED_WINNERS else gettext("%(n)s systems jointly") % {"n": n_winners}


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    end = 0 if 10 <= number % 100 <= 20 else number % 10
    text = gettext(ORDINALS[end]) if end in ORDINALS else gettext("%(number)sth")
    return text % {"number": number}
