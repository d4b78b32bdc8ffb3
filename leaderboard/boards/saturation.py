"""How many systems of a board are above its baselines: how far a benchmark is solved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext, ngettext

from leaderboard.common.text import in_words
from leaderboard.models import Baseline
from leaderboard.models.systems import MEASURES
from leaderboard.rankings.published import Column
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.systems import About


@dataclass(frozen=True)
class BaselineStanding:
    """One baseline, and the systems above it. Other baselines are not counted among these.

    Attributes:
        system: its key.
        name: its name.
        kind: one of `Baseline`, and none of them `none`.
        rank: under the reference rule; None where that does not rank it.
        n_above: how many systems have a better rank under the reference rule.
        n_others: how many systems the reference rule ranks.
        n_never_below: how many systems have a better rank under some rule and a worse one under none, among the rules
            that rank both. Rules that tie most systems, such as veto, put hardly anyone above.
        n_rules: how many rules rank the baseline.
        sentence: the same in words.
    """

    system: str
    name: str
    kind: str
    rank: int | None
    n_above: int
    n_others: int
    n_never_below: int
    n_rules: int
    sentence: str


def saturation(
    columns: Sequence[Column], reference: Column, systems: Sequence[BoardSystem], about: Mapping[int, About]
) -> list[BaselineStanding]:
    """Where the baselines of a board are among its systems.

    Args:
        columns: of the board.
        reference: one of them.
        systems: of the board, in the order of the columns.
        about: of systems by id, which of them are baselines.

    Returns:
        One entry a baseline, in the order of the systems.
    """
    kinds = [about[system.id].baseline if system.id in about else Baseline.NONE for system in systems]
    is_marked = np.array([kind != Baseline.NONE for kind in kinds], dtype=bool)  # neither baselines nor guests count
    is_baseline = np.array([kind in MEASURES for kind in kinds], dtype=bool)
    if not is_baseline.any():
        return []
    ranks = np.array([column.ranks for column in columns if column.is_ranked]).reshape(-1, len(systems))
    standings = []
    for i in np.flatnonzero(is_baseline).tolist():
        ranking = ranks[ranks[:, i] >= 1]
        is_above = (ranking >= 1) & (ranking < ranking[:, [i]])
        is_below = ranking > ranking[:, [i]]
        n_never_below = int((is_above.any(axis=0) & ~is_below.any(axis=0) & ~is_marked).sum())
        own_rank = int(reference.ranks[i]) if reference.is_ranked and reference.ranks[i] >= 1 else None
        others = reference.ranks[(reference.ranks >= 1) & ~is_marked]
        n_above = int((others < own_rank).sum()) if own_rank is not None else 0
        name, label = systems[i].name, Baseline(kinds[i]).label
        if own_rank is None:
            sentence = gettext("%(rule)s gives the %(label)s %(name)s no rank") % {
                "rule": reference.name, "label": label, "name": name,
            }  # fmt: skip
        else:
            above = {"n": n_above, "of": len(others), "label": label, "name": name, "rule": reference.name}
            if n_above == 1 == len(others):
                sentence = gettext("%(n)s of %(of)s system is above the %(label)s %(name)s under %(rule)s") % above
            elif n_above == 1:
                sentence = gettext("%(n)s of %(of)s systems is above the %(label)s %(name)s under %(rule)s") % above
            elif len(others) == 1:
                sentence = gettext("%(n)s of %(of)s system are above the %(label)s %(name)s under %(rule)s") % above
            else:
                sentence = gettext("%(n)s of %(of)s systems are above the %(label)s %(name)s under %(rule)s") % above
        if len(ranking):
            never_below = ngettext(
                "%(n)s is above it under some rule and below it under none of the %(n_rules)s that rank it",
                "%(n)s are above it under some rule and below it under none of the %(n_rules)s that rank it",
                n_never_below,
            )
            if not n_never_below:
                never_below = gettext("none is above it under some rule without being below it under another one")
            sentence += f"; {never_below % {'n': n_never_below, 'n_rules': len(ranking)}}"
        standings.append(
            BaselineStanding(
                system=systems[i].key,
                name=name,
                kind=str(kinds[i]),
                rank=own_rank,
                n_above=n_above,
                n_others=len(others),
                n_never_below=n_never_below,
                n_rules=len(ranking),
                sentence=f"{sentence}.",
            )
        )
    return standings


def winning_guests(
    columns: Sequence[Column], reference: Column, systems: Sequence[BoardSystem], about: Mapping[int, About]
) -> str:
    """Which systems out of competition win, and which system in competition is first; empty where none of them wins.

    They are ranked like all others, so that the first line of a board may name one. Baselines do not compete either.

    Args:
        columns: of the board.
        reference: one of them.
        systems: of the board, in the order of the columns.
        about: of systems by id, which of them are out of competition.
    """
    kinds = [about[system.id].baseline if system.id in about else Baseline.NONE for system in systems]
    is_guest = np.array([kind == Baseline.GUEST for kind in kinds], dtype=bool)
    is_competitor = np.array([kind == Baseline.NONE for kind in kinds], dtype=bool)
    elected = np.array([column.is_winner for column in columns if column.elects], dtype=bool).reshape(-1, len(systems))
    n_rules = (elected & is_guest).sum(axis=0)
    sentences = [
        ngettext(
            "%(name)s takes part out of competition; it wins under %(n)s of %(of)s rule.",
            "%(name)s takes part out of competition; it wins under %(n)s of %(of)s rules.",
            len(elected),
        )
        % {"name": systems[i].name, "n": n_rules[i], "of": len(elected)}
        for i in np.flatnonzero(n_rules).tolist()
    ]
    competing = (reference.ranks >= 1) & is_competitor
    if sentences and competing.any():
        first = np.flatnonzero(competing & (reference.ranks == reference.ranks[competing].min())).tolist()
        sentences.append(
            gettext("First in competition under %(rule)s: %(names)s.")
            % {"rule": reference.name, "names": in_words([systems[i].name for i in first])}
        )
    return " ".join(sentences)
