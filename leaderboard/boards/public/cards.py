"""Cards: the text of the picture next to a link to a board, and the drawn pictures, cached for a while."""

from dataclasses import dataclass

from django.utils import translation
from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import Audience
from leaderboard.boards.public.board import public_board
from leaderboard.common.cache import BoundedCache
from leaderboard.common.charts.card import DRAWING, Card, draw_card, is_drawable
from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import rule_name
from leaderboard.common.language.numbers import PROGRAMS, localise
from leaderboard.common.text import in_words, shortened
from leaderboard.models import Benchmark
from leaderboard.rankings.configuration import own_rule
from leaderboard.rankings.verdict import headline, lone_system_text
from ranking_engine import __version__ as engine_version

SHOWN_CAMPS = 3
CARD_CACHE_BYTES = 8 * 2**20  # a card takes about 20 kB
_cards: BoundedCache[bytes] = BoundedCache(CARD_CACHE_BYTES)


@dataclass(frozen=True)
class BoardCard:
    """A card, and what stands for its picture: the same engine and texts are the same picture.

    Nothing but what the card says goes into `state`: it reaches readers as an ETag, and hidden scores could be
    guessed from a hash of them.
    """

    card: Card
    state: str

    def png(self) -> bytes:
        """The picture."""
        return _cards.get_or_make(self.state, lambda: draw_card(self.card), len)


def board_card(audience: Audience) -> BoardCard:
    """What the card of a benchmark says to `audience`, someone who is not signed in.

    In the language of the site, or in English where that has letters that cannot be drawn.
    """
    card = _card(audience)
    if translation.get_language() != PROGRAMS:
        is_drawn = is_drawable(card.label + card.verdict + card.facts)
        if translation.get_language_bidi() or not is_drawn:
            with translation.override(PROGRAMS):
                card = _card(audience)
    said = [card.name, card.label, card.winner, card.verdict, card.shares, card.facts, card.camp]
    return BoardCard(card, content_hash([DRAWING, engine_version, said]))


def _card(audience: Audience) -> Card:
    """The card in the language that is in force."""
    benchmark = audience.benchmark
    board = public_board(audience) if audience.sees_others else None
    if board is not None:
        facts, camps = board.published.facts, board.camps
        own = own_rule(benchmark, board.published.rules)
        default, rule = board.column(own), rule_name(own)
        keys = {system.name: system.key for system in board.systems}
        spoken = {name: name if is_drawable(name) else key for name, key in keys.items()}
        winner_names = default.winner_names if default and default.elects else []
        names = [shortened(spoken.get(name, gettext("a system"))) for name in winner_names]
        shares = [camp.n_rules for camp in camps]
        verdict = headline(
            camps,
            facts.get("condorcet_winner"),
            n_systems=facts["n_systems"],
            has_majority=board.published.has_majority,
            n_apart=board.published.n_apart,
            reason=board.published.why_nothing_ranked,
        )
        for name, drawable in spoken.items():
            verdict = verdict.replace(shortened(name), drawable) if name != drawable else verdict
        label = gettext("First under %(rule)s") if names else gettext("No winner under %(rule)s")
        n_systems, n_tasks = facts["n_systems"], facts["n_tasks"]
        if lone_system_text(n_systems):
            label, names, shares = gettext("A benchmark on Plurank"), [], []
        return Card(
            name=_name(benchmark),
            label=label % {"rule": rule},
            winner=in_words(names, most=2, total=default.n_winners) if default and names else "",
            verdict=verdict,
            shares=(*shares[:SHOWN_CAMPS], sum(shares[SHOWN_CAMPS:])),
            facts=gettext("%(systems)s × %(tasks)s, revision %(number)s")
            % {
                "systems": ngettext("%(n)s system", "%(n)s systems", n_systems) % {"n": localise(n_systems, ",")},
                "tasks": ngettext("%(n)s task", "%(n)s tasks", n_tasks) % {"n": localise(n_tasks, ",")},
                "number": board.published.revision.number,
            },
            camp=next(
                (k for k, camp in enumerate(camps[:SHOWN_CAMPS]) if default and default.name in camp.rules), None
            ),
        )
    verdict = gettext("No scores yet. The board appears with the first ones.")
    if not audience.sees_others:
        verdict = gettext("Its owners hide the ranks of other people’s systems.")
    elif benchmark.last_revision_number:
        verdict = gettext("The first board is being computed.")
    return Card(_name(benchmark), gettext("A benchmark on Plurank"), "", verdict, (), "")


def _name(benchmark: Benchmark) -> str:
    return benchmark.name if is_drawable(benchmark.name) else benchmark.key
