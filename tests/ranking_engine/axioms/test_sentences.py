"""Every sentence about a violation, in English and in another language."""

from __future__ import annotations

import pytest

from ranking_engine.axioms import PROPERTIES, TEXTS, Witness, sentence

ONE, TWO = ("c",), ("c", "d")
ORDER_CHANGES = {
    "reversed": "Bert overtakes Anna",
    "tied": "Bert now ties with Anna",
    "parted": "Anna gets ahead of Bert, with which it was tied",
}
CLONES_JOIN = {
    "near": ((), "next to Anna on every task"),
    "same": ((), "with the same scores as Anna"),
    "several": (TWO, "which no other system separates from Anna, Carl and Dora on any task"),
}
CLONES_DO = {
    "others_win": "Bert wins",
    "others_lose": "Bert no longer wins",
    "clones_win": "one of these wins, where none did",
    "clones_lose": "none of these wins, where one did",
}
SYSTEMS = {"a": "Anna", "b": "Bert", "c": "Carl", "d": "Dora", "e": "Emil", "f": "Fred", "g": "Gina"}
TASKS = {
    "s": "Sums", "t": "Tags", "u": "Units", "v": "Votes", "w": "Words", "x": "Xrays", "y": "Yarns", "z": "Zoos",
}  # fmt: skip
LOSER_WINS = "Anna loses to every other system head to head, yet it wins."
# A property, what its witness has beside x and y, and the sentence.
SENTENCES = [
    ("transitivity", {}, "Condorcet does not put these systems in one order: it names a winner at most."),
    *(
        ("anonymity", {"half": ("s", "t"), "effect": effect},
         f"If the tasks Sums and Tags exchanged their scores, {end}.")
        for effect, end in ORDER_CHANGES.items()
    ),
    ("non_dictatorship", {"task": "s"},
     "The ranking follows the task Sums even if all other tasks have the opposite order."),
    ("unanimity", {}, "Anna is above Bert on every task, yet it is not ranked above Bert."),
    *(("iia", {"removed": ONE, "effect": effect}, f"Remove Carl and {end}.") for effect, end in ORDER_CHANGES.items()),
    ("iia", {"removed": tuple("cdef"), "effect": "tied"},
     "Remove Carl, Dora, Emil and Fred and Bert now ties with Anna."),
    ("iia", {"removed": tuple("cdefg"), "effect": "tied"},
     "Remove Carl, Dora, Emil and 2 more and Bert now ties with Anna."),
    *(
        ("local_iia", {"removed": removed, "effect": effect}, f"Remove {what} of the ranking, and {end}.")
        for removed, what in ((ONE, "Carl, at one end"), (TWO, "Carl and Dora, at the ends"))
        for effect, end in ORDER_CHANGES.items()
    ),
    ("monotonicity", {"effect": "raised", "scores": {"s": 0.123456789}},
     "Anna wins; raise it on Sums to 0.123457, and Bert wins instead."),
    ("monotonicity", {"effect": "raised", "scores": {"s": 3.0, "t": 0.5}, "y": ""},
     "Anna wins; raise it on Sums to 3 and Tags to 0.5, and it no longer wins."),
    ("monotonicity", {"effect": "lowered", "scores": dict.fromkeys("stuvw"), "y": ""},
     "Anna does not win; lower it on Sums to missing, Tags to missing, Units to missing and 2 more, and it does."),
    ("majority", {}, "Anna is alone first on tasks of more than half the weight, yet Bert wins."),
    ("majority", {"y": ""}, "Anna is alone first on tasks of more than half the weight, yet it does not win."),
    ("condorcet_winner", {}, "Anna beats every other system head to head, yet Bert wins."),
    ("condorcet_winner", {"y": ""}, "Anna beats every other system head to head, yet it does not win."),
    ("condorcet_loser", {}, LOSER_WINS),
    *(
        ("consistency", {"half": half, "y": y}, f"{split}: Anna wins on both parts, yet {end}.")
        for half, split in (
            (("s",), "Take the task Sums by itself and the others by themselves"),
            (tuple("stuvwxy"), "Split the tasks into Sums, Tags, Units, Votes, Words and 2 more and the others"),
        )
        for y, end in (("b", "Bert wins on all tasks"), ("", "not on all tasks together"))
    ),
    ("participation", {"task": "s", "tasks": ("t", "u"), "effect": "left_out"},
     "Without the task Sums, Anna wins; Sums puts Anna above Bert, yet with it Bert wins instead."),
    ("participation", {"task": "s", "effect": "repeated"},
     "Anna wins, and Sums puts it above Bert; add another task just like Sums and Bert wins instead."),
    ("participation", {"task": "s", "effect": "new", "scores": {"a": 2.0, "b": 1.0}},
     "Anna wins; add a task like Sums, with its scores handed on so that Anna is above Bert, and Bert wins instead."),
    *(
        ("clones", {"added": "a (2)", "clones": clones, "effect": f"{how if not clones else 'near'}:{effect}"},
         f"Let Anna (2) join, {where}, and {end}.")
        for how, (clones, where) in CLONES_JOIN.items()
        for effect, end in CLONES_DO.items()
    ),
    ("clones", {"added": "c", "effect": "near:others_win"},
     "Let Carl join, next to Anna on every task, and Bert wins."),
    *(
        ("copies", {"clones": ONE, "effect": effect}, f"Let an exact copy of Carl join, and {end}.")
        for effect, end in {
            **ORDER_CHANGES, "wins": "Anna, which did not win, wins", "loses": "Anna no longer wins",
        }.items()
    ),
    ("reversal_symmetry", {}, "Anna wins, and wins again when every task is turned upside down."),
    ("majority", {"systems": ("a", "b", "c")},
     "Among Anna, Bert and Carl alone: Anna is alone first on tasks of more than half the weight, yet Bert wins."),
    ("condorcet_loser", {"tasks": ("s",)}, f"On the task Sums alone: {LOSER_WINS}"),
    ("condorcet_loser", {"tasks": tuple(TASKS)},
     f"On the tasks Sums, Tags, Units, Votes, Words and 3 more alone: {LOSER_WINS}"),
    ("condorcet_loser", {"systems": tuple(SYSTEMS)}, LOSER_WINS),
]  # fmt: skip


def example(key: str, fields: dict) -> Witness:
    return Witness("condorcet", key, **{"x": "a", "y": "b", **fields})


@pytest.mark.parametrize(("key", "fields", "expected"), SENTENCES)
def test_each_violation_has_its_sentence(key, fields, expected):
    assert sentence(example(key, fields), SYSTEMS, TASKS) == expected


def test_each_text_is_handed_to_the_translator_and_each_number_to_who_writes_it():
    texts: dict[str, None] = {}
    numbers: list[str] = []

    def translate(text: str) -> str:
        texts[text] = None
        return text

    def in_figures(number: str) -> str:
        numbers.append(number)
        return number

    for key, fields, _ in SENTENCES:
        sentence(example(key, fields), SYSTEMS, TASKS, translate=translate, in_figures=in_figures)
    assert texts.keys() == {*TEXTS.values(), "Condorcet"}
    assert numbers == ["0.123457", "3", "0.5"]
    assert {key for key, *_ in TEXTS} - {"part", "list", "score"} == PROPERTIES.keys()


def test_a_translator_can_move_what_a_sentence_says():
    german = {
        TEXTS["part", "systems"]: "%(text)s (nur %(systems)s)",
        TEXTS["iia", "tied"]: "%(y)s liegt ohne %(removed)s gleichauf mit %(x)s",
        TEXTS["list", "last"]: "%(first)s und %(last)s",
    }
    violation = example("iia", {"removed": TWO, "systems": ("a", "b", "c", "d"), "effect": "tied"})
    assert sentence(violation, SYSTEMS, translate=lambda text: german.get(text, text)) == (
        "Bert liegt ohne Carl und Dora gleichauf mit Anna (nur Anna, Bert, Carl und Dora)"
    )
