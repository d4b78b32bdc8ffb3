"""The rules of a small board, as the engine's catalogue tells them."""

from ranking_engine import RULES, quick_rules


def board_rules(n_systems: int = 10, n_tasks: int = 5) -> list[str]:
    """The rules that stand on a board of this size as soon as it is published, in the catalogue's order."""
    quick = quick_rules(n_systems, n_tasks)
    return [rule for rule in RULES if rule in quick]
