"""What a witness says, in one plain sentence with the names of systems and tasks, in any language.

`TEXTS` has every sentence whole, with a named place for each value, so that a translator can move them. The engine
knows no languages: who calls `sentence` hands in what translates a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ranking_engine.axioms.board_search import SMALL_PART
from ranking_engine.axioms.definitions import Witness
from ranking_engine.catalogue.registry import RULES

Translate = Callable[[str], str]

_ORDER_CHANGES = {
    "reversed": "%(y)s overtakes %(x)s",
    "tied": "%(y)s now ties with %(x)s",
    "parted": "%(x)s gets ahead of %(y)s, with which it was tied",
}
_WHERE_CLONES_JOIN = {
    "several": "which no other system separates from %(clones)s on any task",
    "same": "with the same scores as %(x)s",
    "near": "next to %(x)s on every task",
}
_WHAT_CLONES_DO = {
    "others_win": "%(y)s wins",
    "others_lose": "%(y)s no longer wins",
    "clones_win": "one of these wins, where none did",
    "clones_lose": "none of these wins, where one did",
}

# By property and case, which is the effect or what `_CASES` says; the last are of parts of the board and of lists.
TEXTS: Mapping[tuple[str, ...], str] = {
    ("transitivity", ""): "%(rule)s does not put these systems in one order: it names a winner at most.",
    **{
        ("anonymity", effect): f"If the tasks %(half)s exchanged their scores, {change}."
        for effect, change in _ORDER_CHANGES.items()
    },
    ("non_dictatorship", ""): "The ranking follows the task %(task)s even if all other tasks have the opposite order.",
    ("unanimity", ""): "%(x)s is above %(y)s on every task, yet it is not ranked above %(y)s.",
    **{("iia", effect): f"Remove %(removed)s and {change}." for effect, change in _ORDER_CHANGES.items()},
    **{
        ("local_iia", effect, where): f"Remove %(removed)s, {where} of the ranking, and {change}."
        for where in ("at one end", "at the ends")
        for effect, change in _ORDER_CHANGES.items()
    },
    ("monotonicity", "raised", "y"): "%(x)s wins; raise it on %(scores)s, and %(y)s wins instead.",
    ("monotonicity", "raised", ""): "%(x)s wins; raise it on %(scores)s, and it no longer wins.",
    ("monotonicity", "lowered"): "%(x)s does not win; lower it on %(scores)s, and it does.",
    ("majority", "y"): "%(x)s is alone first on tasks of more than half the weight, yet %(y)s wins.",
    ("majority", ""): "%(x)s is alone first on tasks of more than half the weight, yet it does not win.",
    ("condorcet_winner", "y"): "%(x)s beats every other system head to head, yet %(y)s wins.",
    ("condorcet_winner", ""): "%(x)s beats every other system head to head, yet it does not win.",
    ("condorcet_loser", ""): "%(x)s loses to every other system head to head, yet it wins.",
    ("consistency", "one", "y"): (
        "Take the task %(half)s by itself and the others by themselves: %(x)s wins on both parts, yet %(y)s wins on "
        "all tasks."
    ),
    ("consistency", "one", ""): (
        "Take the task %(half)s by itself and the others by themselves: %(x)s wins on both parts, yet not on all tasks "
        "together."
    ),
    ("consistency", "several", "y"): (
        "Split the tasks into %(half)s and the others: %(x)s wins on both parts, yet %(y)s wins on all tasks."
    ),
    ("consistency", "several", ""): (
        "Split the tasks into %(half)s and the others: %(x)s wins on both parts, yet not on all tasks together."
    ),
    ("participation", "left_out"): (
        "Without the task %(task)s, %(x)s wins; %(task)s puts %(x)s above %(y)s, yet with it %(y)s wins instead."
    ),
    ("participation", "repeated"): (
        "%(x)s wins, and %(task)s puts it above %(y)s; add another task just like %(task)s and %(y)s wins instead."
    ),
    ("participation", "new"): (
        "%(x)s wins; add a task like %(task)s, with its scores handed on so that %(x)s is above %(y)s, and %(y)s wins "
        "instead."
    ),
    **{
        ("clones", how, effect): f"Let %(added)s join, {where}, and {what}."
        for how, where in _WHERE_CLONES_JOIN.items()
        for effect, what in _WHAT_CLONES_DO.items()
    },
    **{
        ("copies", effect): f"Let an exact copy of %(copied)s join, and {change}."
        for effect, change in _ORDER_CHANGES.items()
    },
    ("copies", "wins"): "Let an exact copy of %(copied)s join, and %(x)s, which did not win, wins.",
    ("copies", "loses"): "Let an exact copy of %(copied)s join, and %(x)s no longer wins.",
    ("reversal_symmetry", ""): "%(x)s wins, and wins again when every task is turned upside down.",
    ("part", "systems"): "Among %(systems)s alone: %(text)s",
    ("part", "task"): "On the task %(tasks)s alone: %(text)s",
    ("part", "tasks"): "On the tasks %(tasks)s alone: %(text)s",
    ("list", "last"): "%(first)s and %(last)s",
    ("list", "more"): "%(n)s more",
    ("score", "to"): "%(task)s to %(score)s",
    ("score", "none"): "missing",
}
_CASES: Mapping[str, Callable[[Witness], tuple[str, ...]]] = {
    "local_iia": lambda witness: (witness.effect, "at one end" if len(witness.removed) == 1 else "at the ends"),
    "monotonicity": lambda witness: ("raised", witness.y and "y") if witness.effect == "raised" else ("lowered",),
    "majority": lambda witness: (witness.y and "y",),
    "condorcet_winner": lambda witness: (witness.y and "y",),
    "consistency": lambda witness: ("one" if len(witness.half) == 1 else "several", witness.y and "y"),
    "clones": lambda witness: (
        "several" if witness.clones else witness.effect.partition(":")[0],
        witness.effect.partition(":")[2],
    ),
}


def sentence(
    witness: Witness,
    systems: Mapping[str, str] | None = None,
    tasks: Mapping[str, str] | None = None,
    *,
    translate: Translate = str,
    in_figures: Callable[[str], str] = str,
) -> str:
    """Return the violation in words, without markup.

    Args:
        witness: what is to be told.
        systems, tasks: the names to show for those of the witness; where there is none, they show as they are.
        translate: what gives one of `TEXTS`, or the name of a rule, in the language that is wanted.
        in_figures: what writes a number, such as `0.5`, as that language does.
    """
    systems, tasks = systems or {}, tasks or {}

    def named(names: Sequence[str], known: Mapping[str, str], limit: int = 4) -> str:
        return _joined([known.get(name, name) for name in names], limit, translate)

    x, case_of = systems.get(witness.x, witness.x), _CASES.get(witness.property)
    case = case_of(witness) if case_of else (witness.effect,)
    scores = [
        translate(TEXTS["score", "to"])
        % {
            "task": tasks.get(name, name),
            "score": translate(TEXTS["score", "none"]) if score is None else in_figures(f"{score:.6g}"),
        }
        for name, score in (witness.scores if witness.property == "monotonicity" else {}).items()
    ]
    text = translate(TEXTS[witness.property, *case]) % {
        "rule": translate(RULES[witness.rule].name),
        "x": x,
        "y": systems.get(witness.y, witness.y),
        "removed": named(witness.removed, systems),
        "clones": named((witness.x, *witness.clones), systems),
        "copied": named(witness.clones[:1], systems),
        "half": named(witness.half, tasks, 6),
        "task": tasks.get(witness.task, witness.task),
        # a copy of x is called after it
        "added": systems.get(witness.added) or witness.added.replace(witness.x, x, 1),
        "scores": _joined(scores, 4, translate),
    }
    if witness.systems is not None and len(witness.systems) <= SMALL_PART:
        among = named(witness.systems, systems, SMALL_PART)
        return translate(TEXTS["part", "systems"]) % {"systems": among, "text": text}
    if witness.tasks is not None and witness.property != "participation":
        part = translate(TEXTS["part", "task" if len(witness.tasks) == 1 else "tasks"])
        return part % {"tasks": named(witness.tasks, tasks, 6), "text": text}
    return text


def _joined(names: Sequence[str], limit: int, translate: Translate) -> str:
    """Return names as a text: A, B and C; beyond `limit` of them the last are counted."""
    parts = list(names)
    if len(names) > limit:
        parts = [*names[: limit - 1], translate(TEXTS["list", "more"]) % {"n": len(names) - limit + 1}]
    if len(parts) < 2:
        return "".join(parts)
    return translate(TEXTS["list", "last"]) % {"first": ", ".join(parts[:-1]), "last": parts[-1]}
