"""What a witness says, in one plain sentence with the names of systems and tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ranking_engine.axioms.board_search import SMALL_PART
from ranking_engine.axioms.definitions import Witness
from ranking_engine.catalogue.registry import RULES


def sentence(witness: Witness, systems: Mapping[str, str] | None = None, tasks: Mapping[str, str] | None = None) -> str:
    """Return the violation in words, without markup.

    Args:
        witness: what is to be told.
        systems, tasks: the names to show for those of the witness; where there is none, they show as they are.
    """
    systems, tasks = systems or {}, tasks or {}

    def named(names: tuple[str, ...], known: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(known.get(name, name) for name in names)

    x = systems.get(witness.x, witness.x)
    renamed = replace(
        witness,
        systems=None if witness.systems is None else named(witness.systems, systems),
        tasks=None if witness.tasks is None else named(witness.tasks, tasks),
        x=x,
        y=systems.get(witness.y, witness.y),
        removed=named(witness.removed, systems),
        clones=named(witness.clones, systems),
        half=named(witness.half, tasks),
        task=tasks.get(witness.task, witness.task),
        # a copy of x is called after it
        added=systems.get(witness.added) or witness.added.replace(witness.x, x, 1),
        scores={tasks.get(name, name): score for name, score in witness.scores.items()},
    )
    text = _SENTENCES[witness.property](renamed)
    if renamed.systems is not None and len(renamed.systems) <= SMALL_PART:
        return f"Among {joined(renamed.systems, SMALL_PART)} alone: {text}"
    if renamed.tasks is not None and renamed.property != "participation":
        one = len(renamed.tasks) == 1
        return f"On the {'task' if one else 'tasks'} {joined(renamed.tasks, 6)} alone: {text}"
    return text


def joined(names: Sequence[str], limit: int = 4) -> str:
    """Return names as a text: A, B and C; beyond `limit` of them the last are counted."""
    parts = list(names) if len(names) <= limit else [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _transitivity(witness: Witness) -> str:
    return f"{RULES[witness.rule].name} does not put these systems in one order: it names a winner at most."


def _anonymity(witness: Witness) -> str:
    return f"If the tasks {joined(witness.half)} exchanged their scores, {_order_change(witness)}."


def _non_dictatorship(witness: Witness) -> str:
    return f"The ranking follows the task {witness.task} even if all other tasks have the opposite order."


def _unanimity(witness: Witness) -> str:
    return f"{witness.x} is above {witness.y} on every task, yet it is not ranked above {witness.y}."


def _order_change(witness: Witness) -> str:
    return {
        "reversed": f"{witness.y} overtakes {witness.x}",
        "tied": f"{witness.y} now ties with {witness.x}",
        "parted": f"{witness.x} gets ahead of {witness.y}, with which it was tied",
    }[witness.effect]


def _iia(witness: Witness) -> str:
    return f"Remove {joined(witness.removed)} and {_order_change(witness)}."


def _local_iia(witness: Witness) -> str:
    where = "at one end" if len(witness.removed) == 1 else "at the ends"
    return f"Remove {joined(witness.removed)}, {where} of the ranking, and {_order_change(witness)}."


def _monotonicity(witness: Witness) -> str:
    scores = {task: "missing" if score is None else f"{score:.6g}" for task, score in witness.scores.items()}
    to = joined([f"{task} to {score}" for task, score in scores.items()])
    if witness.effect == "raised":
        end = f"{witness.y} wins instead" if witness.y else "it no longer wins"
        return f"{witness.x} wins; raise it on {to}, and {end}."
    return f"{witness.x} does not win; lower it on {to}, and it does."


def _yet(witness: Witness) -> str:
    return f"yet {witness.y} wins" if witness.y else "yet it does not win"


def _majority(witness: Witness) -> str:
    return f"{witness.x} is alone first on tasks of more than half the weight, {_yet(witness)}."


def _condorcet_winner(witness: Witness) -> str:
    return f"{witness.x} beats every other system head to head, {_yet(witness)}."


def _condorcet_loser(witness: Witness) -> str:
    return f"{witness.x} loses to every other system head to head, yet it wins."


def _consistency(witness: Witness) -> str:
    one = len(witness.half) == 1
    split = f"Split the tasks into {joined(witness.half, 6)} and the others"
    if one:
        split = f"Take the task {witness.half[0]} by itself and the others by themselves"
    end = f"yet {witness.y} wins on all tasks" if witness.y else "yet not on all tasks together"
    return f"{split}: {witness.x} wins on both parts, {end}."


def _participation(witness: Witness) -> str:
    x, y, task = witness.x, witness.y, witness.task
    return {
        "left_out": f"Without the task {task}, {x} wins; {task} puts {x} above {y}, yet with it {y} wins instead.",
        "repeated": f"{x} wins, and {task} puts it above {y}; add another task just like {task} and {y} wins instead.",
        "new": f"{x} wins; add a task like {task}, with its scores handed on so that {x} is above {y}, and {y} wins "
        "instead.",
    }[witness.effect]


def _clones(witness: Witness) -> str:
    if witness.clones:
        where = f"which no other system separates from {joined((witness.x, *witness.clones))} on any task"
    elif witness.effect.startswith("same"):
        where = f"with the same scores as {witness.x}"
    else:
        where = f"next to {witness.x} on every task"
    end = {
        "others_win": f"{witness.y} wins",
        "others_lose": f"{witness.y} no longer wins",
        "clones_win": "one of these wins, where none did",
        "clones_lose": "none of these wins, where one did",
    }[witness.effect.partition(":")[2]]
    return f"Let {witness.added} join, {where}, and {end}."


def _copies(witness: Witness) -> str:
    end = {
        "wins": f"{witness.x}, which did not win, wins",
        "loses": f"{witness.x} no longer wins",
    }.get(witness.effect) or _order_change(witness)
    return f"Let an exact copy of {witness.clones[0]} join, and {end}."


def _reversal_symmetry(witness: Witness) -> str:
    return f"{witness.x} wins, and wins again when every task is turned upside down."


_SENTENCES: Mapping[str, Callable[[Witness], str]] = {
    "transitivity": _transitivity,
    "anonymity": _anonymity,
    "non_dictatorship": _non_dictatorship,
    "unanimity": _unanimity,
    "iia": _iia,
    "monotonicity": _monotonicity,
    "majority": _majority,
    "condorcet_winner": _condorcet_winner,
    "condorcet_loser": _condorcet_loser,
    "consistency": _consistency,
    "participation": _participation,
    "local_iia": _local_iia,
    "clones": _clones,
    "copies": _copies,
    "reversal_symmetry": _reversal_symmetry,
}
