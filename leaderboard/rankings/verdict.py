"""Who wins under which rules: the camps, and the sentence above a board."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.names import cut_apart
from leaderboard.common.text import in_words, shortened

MOST_IN_COLUMN = 30  # letters of a winner's name in a narrow column
WINNERS_NAMED = 3  # more joint winners than these are counted in the sentence, and named further down
CAMPS_NAMED = 3  # the sentence tells of so many camps
RULES_NAMED = 2  # of a camp of more rules, the sentence counts them


@dataclass(frozen=True)
class Camp:
    """The rules that have the same winners."""

    rules: tuple[str, ...]  # their names
    winners: tuple[str, ...]  # the winners' names, or the first of them
    n_winners: int

    @property
    def n_rules(self) -> int:
        """How many rules are of this camp."""
        return len(self.rules)

    @property
    def text(self) -> str:
        """Their winners."""
        if self.n_winners > WINNERS_NAMED:
            return gettext("%(n)s systems jointly") % {"n": self.n_winners}
        return in_words([shortened(name) for name in self.winners])

    @property
    def brief(self) -> str:
        """Their winners for a narrow column: a long name without its middle, for its end tells versions apart."""
        if self.n_winners > WINNERS_NAMED:
            return self.text
        return in_words([name for winner in self.winners for name in cut_apart([winner], MOST_IN_COLUMN)])


def camps_of(winners: Sequence[tuple[str, Sequence[str], int]]) -> list[Camp]:
    """The camps, the largest first.

    Args:
        winners: (name of a rule, names of its first winners, number of its winners) of every rule that has one.
    """
    rules: dict[tuple[tuple[str, ...], int], list[str]] = {}
    for rule, names, n_winners in winners:
        rules.setdefault((tuple(sorted(names)), n_winners), []).append(rule)
    camps = [Camp(tuple(named), elected, n_winners) for (elected, n_winners), named in rules.items()]
    return sorted(camps, key=lambda camp: (-camp.n_rules, camp.text))


def lone_system_text(n_systems: int | None) -> str:
    """What is said in place of a verdict where a board has one system, which every rule puts first; else nothing."""
    return gettext("One system so far: there is nothing to compare yet.") if n_systems == 1 else ""


def headline(
    camps: Sequence[Camp],
    condorcet_winner: str | None,
    *,
    n_systems: int | None = None,
    has_majority: bool = True,
    n_apart: int = 0,
    reason: str = "",
) -> str:
    """Who wins under which rules, in a sentence.

    Args:
        camps: the largest first.
        condorcet_winner: its name, or None where no system beats every other.
        n_systems: how many are on the board; None where they are two or more.
        has_majority: whether the aggregation compares two systems at all; two steps rank groups of tasks instead.
        n_apart: how many pairs of systems share no task that votes.
        reason: why no rule ranks anyone, as it is stored (`PublishedBoard.why_nothing_ranked`); empty where one does.
    """
    if lone := lone_system_text(n_systems):
        return lone
    if not camps and reason:
        return gettext("No rule has a winner: %(reason)s.") % {"reason": in_page_language(reason)}
    if not camps:
        return gettext("No rule has a winner.")
    # A single camp more is named as quickly as it is counted.
    named = camps if len(camps) <= CAMPS_NAMED + 1 else camps[:CAMPS_NAMED]
    is_named = any(camp.winners == (condorcet_winner,) for camp in named)
    n_rules, joint = sum(camp.n_rules for camp in camps), joint_winners(camps)
    if len(camps) == 1:
        rules = gettext("both rules")
        if n_rules != 2:
            rules = gettext("all %(n)s rules that have a winner") % {"n": n_rules}
        parts = [_camp(camps[0], condorcet_winner, rules=camps[0].rules[0] if n_rules == 1 else rules)]
    else:
        parts = [_camp(camp, condorcet_winner, of=0 if k else n_rules, joint=joint) for k, camp in enumerate(named)]
        others = camps[len(named) :]
        if rest := [rule for camp in others for rule in camp.rules]:
            rules = in_words(rest)
            if len(rest) > RULES_NAMED:
                rules = gettext("the other %(n)s rules") % {"n": len(rest)}
            if any(camp.n_winners > 1 or camp.winners[0] in joint for camp in others):
                parts.append(gettext("%(rules)s have other winners, or joint ones") % {"rules": rules})
            else:
                parts.append(gettext("other systems win under %(rules)s") % {"rules": rules})
    return _sentence(parts, condorcet_winner, is_named=is_named, has_majority=has_majority, n_apart=n_apart)


def short_headline(
    camps: Sequence[Camp], condorcet_winner: str | None, *, has_majority: bool = True, n_apart: int = 0
) -> str:
    """The headline with the largest camp alone, for a page that lists the camps beneath it; with all that are as large.

    Args:
        camps: the largest first.
        condorcet_winner: its name, or None where no system beats every other.
        has_majority, n_apart: as for `headline`.
    """
    if len(camps) < 2:
        return headline(camps, condorcet_winner, has_majority=has_majority, n_apart=n_apart)
    n_rules, joint = sum(camp.n_rules for camp in camps), joint_winners(camps)
    largest = [camp for camp in camps if camp.n_rules == camps[0].n_rules]
    named = largest if len(largest) <= CAMPS_NAMED + 1 else largest[:CAMPS_NAMED]
    parts = [_camp(camp, condorcet_winner, of=0 if k else n_rules, joint=joint) for k, camp in enumerate(named)]
    if rest := len(largest) - len(named):
        parts.append(gettext("%(n)s other sets of winners are as frequent") % {"n": rest})
    is_named = any(camp.winners == (condorcet_winner,) for camp in named)
    return _sentence(parts, condorcet_winner, is_named=is_named, has_majority=has_majority, n_apart=n_apart)


def apart_text(n_pairs: int) -> str:
    """That so many pairs of systems cannot be compared; empty where all can. The end of a sentence, or of its part."""
    text = ngettext("%(n)s pair cannot be compared", "%(n)s pairs cannot be compared", n_pairs)
    return text % {"n": f"{n_pairs:,}"} if n_pairs else ""


def joint_winners(camps: Sequence[Camp]) -> frozenset[str]:
    """Names of the systems that win, or may win, together with others under some rule.

    Args:
        camps: all of a board. Where one does not name all of its winners, any system may be among them.
    """
    is_cut = any(camp.n_winners > len(camp.winners) for camp in camps)
    return frozenset(name for camp in camps if camp.n_winners > 1 or is_cut for name in camp.winners)


def _sentence(
    parts: list[str], condorcet_winner: str | None, *, is_named: bool, has_majority: bool, n_apart: int
) -> str:
    """The sentence about the camps, and about the Condorcet winner if they do not include it."""
    if not has_majority:
        parts = [*parts, gettext("two-step aggregation has no Condorcet winner")]
    elif condorcet_winner is None:
        parts = [*parts, gettext("no system beats every other head to head (no Condorcet winner)")]
        parts += [text] if (text := apart_text(n_apart)) else []
    elif not is_named:
        beats_all = gettext("%(name)s beats every other system head to head (Condorcet winner)")
        parts = [*parts, beats_all % {"name": shortened(condorcet_winner)}]
    return f"{'; '.join(parts)}."


def _camp(
    camp: Camp,
    condorcet_winner: str | None,
    *,
    of: int = 0,
    rules: str = "",
    joint: frozenset[str] = frozenset(),
) -> str:
    """`Human wins under Copeland and Minimax`; `ERNIE wins under 9 of 14 rules with a winner` where `of` counts them.

    Args:
        camp: the rules with the same winners.
        condorcet_winner: its name, or None where no system beats every other.
        of: how many rules have a winner; 0 where the sentence has said so before.
        rules: these rules in words; from the camp if empty.
        joint: systems that also win together with others; of these it says `wins alone`.
    """
    if not rules and camp.n_rules <= RULES_NAMED:
        rules = in_words(camp.rules)
    elif not rules:
        rules = str(camp.n_rules)
        if of:
            rules = gettext("%(n)s of %(of)s rules with a winner") % {"n": camp.n_rules, "of": of}
    is_alone = camp.n_winners == 1 and camp.winners[0] in joint
    if camp.n_winners > WINNERS_NAMED:
        return gettext("%(n)s systems win jointly under %(rules)s") % {"n": camp.n_winners, "rules": rules}
    if camp.n_winners > 1:
        sentence = gettext("%(names)s win jointly under %(rules)s")
    elif condorcet_winner is not None and camp.winners == (condorcet_winner,):
        sentence = (
            gettext("%(names)s wins alone under %(rules)s and beats every other system head to head (Condorcet winner)")
            if is_alone
            else gettext("%(names)s wins under %(rules)s and beats every other system head to head (Condorcet winner)")
        )
    else:
        sentence = (
            gettext("%(names)s wins alone under %(rules)s") if is_alone else gettext("%(names)s wins under %(rules)s")
        )
    return sentence % {"names": camp.text, "rules": rules}
