"""What a draft would change, in one sentence."""

from collections.abc import Sequence
from typing import Protocol

from django.utils.translation import gettext, ngettext

from leaderboard.common.text import in_words


class Effect(Protocol):
    """What a draft would change under one rule, as far as the first place goes."""

    @property
    def winner_before(self) -> str:
        """Who is first now; empty where no one is."""

    @property
    def winner_after(self) -> str:
        """Who would be first."""


def left_out_sentence(names: Sequence[str]) -> str:
    """Which rules of the board a preview does not compare; empty where it compares all."""
    if not names:
        return ""
    return gettext("Not compared, because they take too long for a preview: %(names)s.") % {"names": in_words(names)}


def winners_sentence(effects: Sequence[Effect]) -> str:
    """Under how many of the rules that have a winner, now or then, another would be first; empty where none has one."""
    with_winner = [effect for effect in effects if effect.winner_before or effect.winner_after]
    if not with_winner:
        return ""
    n_changed = sum(effect.winner_before != effect.winner_after for effect in with_winner)
    if not n_changed:
        return ngettext(
            "The first place would not change under the %(n_rules)s rule with a winner.",
            "The first place would not change under any of the %(n_rules)s rules with a winner.",
            len(with_winner),
        ) % {"n_rules": len(with_winner)}
    return gettext("The first place would change under %(n)s of %(n_rules)s rules with a winner.") % {
        "n": n_changed,
        "n_rules": len(with_winner),
    }


def ranks_sentence(name: str, ranks: Sequence[int | None], n_leaving_out: int = 0) -> str:
    """Where a system would be over the rules, in one to four sentences.

    Args:
        name: the system's.
        ranks: one entry a rule, None where it is unranked.
        n_leaving_out: rules that would rank others and not this one.
    """
    known = [rank for rank in ranks if rank]
    if not known:
        return gettext("No rule would rank %(system)s.") % {"system": name}
    values = {"system": name, "best": min(known), "worst": max(known), "n": len(known)}
    if values["best"] == values["worst"]:
        text = ngettext(
            "%(system)s would have rank %(best)s under the %(n)s rule that ranks it.",
            "%(system)s would have rank %(best)s under all %(n)s rules that rank it.",
            len(known),
        )
    else:
        text = gettext("%(system)s would have rank %(best)s to %(worst)s under the %(n)s rules that rank it.")
    sentences = [text % values]
    n_first = known.count(1)
    if 0 < n_first < len(known):
        sentences.append(gettext("It would be first under %(n)s of them.") % {"n": n_first})
    if n_leaving_out:
        unranked = ngettext(
            "%(n)s rule would rank other systems and leave it unranked.",
            "%(n)s rules would rank other systems and leave it unranked.",
            n_leaving_out,
        )
        sentences.append(unranked % {"n": n_leaving_out})
    if n_without := len(ranks) - len(known) - n_leaving_out:
        without = ngettext("%(n)s rule would rank no system.", "%(n)s rules would rank no system.", n_without)
        sentences.append(without % {"n": n_without})
    return " ".join(sentences)
