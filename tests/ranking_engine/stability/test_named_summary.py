from __future__ import annotations

from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import run_study
from ranking_engine.stability.named_summary import mentioned, named_summary

SYSTEMS = {"sys-a": "Ärger", "sys-b": "Cleo, large", "sys-c": "Dora"}
TASKS = {"t1": "Reading", "t2": "Maths"}


def test_ranks_are_by_system_points_of_a_curve_by_epsilon_and_keys_become_names():
    summary = {
        "systems": ["sys-a", "sys-b"],
        "feasible": {
            "box": {
                "discordant_share": {"lower": 0.5, "weights": {"t1": 1.0, "t2": 0.25, "t9": 0.0}},
                "side_by_side": {"systems": ["sys-b", "sys-a"], "before": [1.0, 2.0], "after": [2.0, 1.0]},
                "dropped_tasks": ["t2"],
            }
        },
        "curve": {"box": [{"least_weight": 0.01, "discordant_share": {"lower": 0.5}}, {"least_weight": 1.0}]},
        "top": 7,
    }
    assert named_summary(summary, SYSTEMS, TASKS) == {
        "systems": ["Ärger", "Cleo, large"],
        "feasible": {
            "box": {
                "discordant_share": {"lower": 0.5, "weights": {"Reading": 1.0, "Maths": 0.25, "t9": 0.0}},
                "side_by_side": {
                    "before": {"Cleo, large": 1.0, "Ärger": 2.0},
                    "after": {"Cleo, large": 2.0, "Ärger": 1.0},
                },
                "dropped_tasks": ["Maths"],
            }
        },
        "curve": {"box": {"ε = 0.01": {"discordant_share": {"lower": 0.5}}, "ε = 1": {}}},
        "top": 7,
    }


def test_what_was_chosen_are_systems_or_tasks():
    chosen = {"change": "systems", "chosen": ["sys-c"]}
    assert named_summary(chosen, SYSTEMS, TASKS)["chosen"] == ["Dora"]
    assert named_summary({"change": "weights", "chosen": ["t1"]}, SYSTEMS, TASKS)["chosen"] == ["Reading"]


def test_only_keys_that_a_summary_mentions_have_their_names_told():
    summary = {"rules": {"borda": {"most_disruptive": {"sys-c": 3}, "smallest_tasks": ["t2"]}}, "n": 4}
    assert mentioned(summary, SYSTEMS) == {"sys-c": "Dora"}
    assert mentioned(summary, TASKS) == {"t2": "Maths"}


def test_the_worst_case_of_weights_names_tasks_on_a_real_board():
    matrix = random_matrix(6, 3, seed=2)
    summary = run_study("worst_case", matrix, {"rule": "borda", "change": "weights"}).summary
    tasks = {name: f"Task {name}" for name in matrix.task_names}
    systems = {name: f"System {name}" for name in matrix.system_names}
    named = named_summary(summary, systems, tasks)
    assert named["chosen"] == [tasks[name] for name in summary["chosen"]] != []
    assert named["before"] == {
        systems[name]: rank for name, rank in zip(summary["systems"], summary["before"], strict=True)
    }
