"""Figures in words."""

from collections.abc import Sequence


def in_words(names: Sequence[str], most: int = 3) -> str:
    """`A`, `A and B`, `A, B and C`, `A, B, C and 4 more`."""
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def verdict_sentence(winners: Sequence[tuple[str, tuple[str, ...]]], without: Sequence[str]) -> str:
    """Who is elected by which rules, in a sentence or two.

    Args:
        winners: (name of a rule, names of whom it elects) of every rule that elects.
        without: names of the rules that give no ranking or no winner.
    """
    by_winners: dict[tuple[str, ...], list[str]] = {}
    for rule, names in winners:
        by_winners.setdefault(tuple(sorted(names)), []).append(rule)
    camps = sorted(by_winners.items(), key=lambda camp: (-len(camp[1]), camp[0]))
    if not camps:
        return "No rule elects a winner."
    first, rest = camps[0], camps[1:]
    if not rest:
        sentence = f"All {len(winners)} rules that elect agree on {in_words(first[0])}"
        if len(winners) == 1:
            sentence = f"{first[1][0]} elects {in_words(first[0])}"
    else:
        parts = [f"{len(first[1])} of {len(winners)} rules elect {in_words(first[0])}"]
        parts += [f"{in_words(rules)} elect{'s' if len(rules) == 1 else ''} {in_words(names)}" for names, rules in rest]
        sentence = "; ".join(parts)
    if without:
        return f"{sentence}. {in_words(without)} {'gives' if len(without) == 1 else 'give'} no winner."
    return f"{sentence}."
