"""The pages of experiments: choosing, starting, waiting, and the result with all its parameters."""

import html
import io
import re

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.models import Experiment, Job
from leaderboard.studies.experiments.parameters_text import parameter_rows
from leaderboard.studies.study_findings import StudyNames
from ranking_engine.stability.catalogue import EXPERIMENTS, declared_parameters
from tests.leaderboard.studies.experiments.waiting import run_experiments


@pytest.fixture
def reader(make, client):
    client.force_login(make.user("reader"))
    return client


def text_of(response) -> str:
    without_tags = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(without_tags))


def address(board, query: str = "") -> str:
    return reverse("experiments", args=[board.key]) + query


@pytest.mark.parametrize("study", list(EXPERIMENTS))
def test_the_form_of_every_study_has_its_parameters_and_runs_as_it_stands(board, reader, study):
    page = reader.get(address(board, f"?study={study}"))
    form = page.context["form"]
    offered = {parameter.name for parameter in declared_parameters(study)} - {"budget", "more_repeats"}
    assert offered <= set(form.fields)
    sent = {
        field.html_name: field.value() for field in form if field.value() is not None and field.value() is not False
    }
    small = {"n_trials": 5, "n_resamples": 3, "n_rounds": 1, "n_repeats": 2, "n_best": 5, "n_top": 3, "n_boards": 50}
    sent |= {name: value for name, value in small.items() if name in form.fields}
    if study == "reserved_places":  # they are reserved for someone
        sent["systems"] = board.systems.first().key
    hidden = dict(re.findall(r'<input type="hidden" name="(study)" value="([^"]*)"', page.content.decode()))
    groups = re.findall(r'role="group" aria-labelledby="([^"]+)"', page.content.decode())
    assert len(set(groups)) == len(groups)
    answer = reader.post(address(board), {**hidden, **sent})
    assert answer.status_code == 302, answer.context["form"].errors
    run_experiments()
    result = text_of(reader.get(answer["Location"]))
    assert " Result " in result
    assert "is computed; see the downloads for its figures" not in result
    assert "Whole distribution (.npz)" in result


def test_policies_for_missing_scores_are_called_what_boards_call_them(board, reader):
    page = reader.get(address(board, "?study=system_additions"))
    assert [str(label) for _, label in page.context["form"].fields["missing"].choices] == [
        "No ranking", "Incomplete systems unranked", "Incomplete tasks left out", "Task median filled in",
        "Task’s worst score filled in", "Predicted from the other scores",
    ]  # fmt: skip
    rows = dict(parameter_rows("system_additions", {"missing": "drop_tasks", "seed": 0}, StudyNames()))
    assert rows["Missing scores"] == "Incomplete tasks left out"


def test_rules_variants_and_points_of_ones_own_are_studied_side_by_side(board, reader):
    sent = {
        "study": "system_additions",
        "rules": ["borda", "copeland[variant=lower]", "win_rate[variant=success_rate]"],
        "vector": "3, 1",
        "combined": "plurality[then=borda]",
        "n_orders": "4",
        "missing": "drop_systems",
        "compat": "",
        "seed": "5",
    }
    answer = reader.post(address(board), sent)
    run_experiments()
    page = text_of(reader.get(answer["Location"]))
    experiment = Experiment.objects.get()
    assert experiment.parameters["rules"] == [
        "borda", "copeland[variant=lower]", "win_rate[variant=success_rate]", "positional[vector=3,1]",
        "plurality[then=borda]",
    ]  # fmt: skip
    chosen = "Rules Borda, Copeland (lower), Win rate (success rate), Positional (3,1), Plurality (ties by Borda) "
    chosen += "Random orders 4"
    assert chosen in page
    assert "Seed 5" in page
    assert "Copeland (lower)" in page.split(" Result ")[1]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"n_repeats": "0"}, "Ensure this value is greater than or equal to 1."),
        ({"levels": "5, hundred"}, '`levels` is "hundred": expected numbers, such as'),
        ({"levels": ",".join(["1"] * 51)}, "`levels` has 51 values; at most 50 are taken."),
        ({"levels": "1" * 5000}, "Ensure this value has at most 200 characters"),
        ({"vector": "1,2,3"}, "Write numbers with commas, none larger than the one before, such as 12,10,8."),
        ({"combined": "borda[then=nothing]"}, "`rule` is 'nothing'; expected one of mean,"),
        (
            {"combined": "borda[with=condorcet]"},
            "borda[with=condorcet]: condorcet cannot be combined: it ranks no system.",
        ),
        ({"combined": "positional"}, "`rules` names 'positional', which needs vector"),
        ({"rules": ["nothing"]}, "Select a valid choice. nothing is not one of the available choices."),
        ({"seed": "-1"}, "Ensure this value is greater than or equal to 0."),
        ({"copied_tasks": ["nothing"]}, "Select a valid choice. nothing is not one of the available choices."),
        ({"first": "1"}, "Ensure this value is greater than or equal to 2."),
        ({"first": "2"}, "systems with scores: 2; at least 3 are needed to correlate rankings"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_starts_nothing(board, reader, sent, message):
    form = reader.get(address(board, "?study=missing_scores")).context["form"]
    right = {
        field.html_name: field.value() for field in form if field.value() is not None and field.value() is not False
    }
    answer = reader.post(address(board), {"study": "missing_scores", **right, **sent})
    assert answer.status_code == 400
    assert message in text_of(answer)
    assert Experiment.objects.count() == 0


def test_what_would_take_too_long_is_said_on_the_form(board, reader, settings):
    settings.EXPERIMENT_SECONDS = 1
    form = reader.get(address(board, "?study=judge_bootstrap")).context["form"]
    right = {
        field.html_name: field.value() for field in form if field.value() is not None and field.value() is not False
    }
    answer = reader.post(address(board), {"study": "judge_bootstrap", **right, "n_trials": "200000"})
    assert answer.status_code == 400
    assert "one experiment may take up to 1 s. Choose fewer rules, repeats" in text_of(answer)


def test_readers_without_an_account_see_results_and_are_asked_to_sign_in(make, board, client):
    experiment = make.experiment(board, by=make.user())
    page = text_of(client.get(address(board, "?study=diversity")))
    assert "Sign in to run an experiment" in page
    assert "Run this experiment" not in page
    assert f"Diversity, {experiment.pk}" in page
    assert client.get(reverse("experiment", args=[board.key, experiment.pk])).status_code == 200


def test_a_waiting_experiment_says_so_and_looks_again(board, reader):
    location = reader.post(address(board), {"study": "diversity", "seed": "0"})["Location"]
    page = reader.get(location).content.decode()
    assert "Queued." in page
    assert 'hx-trigger="every 3s"' in page
    run_experiments()
    page = reader.get(location).content.decode()
    assert "Queued." not in page
    assert "hx-trigger" not in page
    number = Experiment.objects.get().pk
    assert f"@misc{{{board.key}-experiment-{number}," in page
    assert f"{{http://testserver/b/{board.key}/experiments/{number}/}}" in page


def test_a_failed_experiment_says_why(board, reader):
    location = reader.post(address(board), {"study": "diversity", "seed": "0"})["Location"]
    Job.objects.filter(kind="experiment").update(state="failed", error="ValueError: too odd\n\nTraceback")
    assert "It could not be computed: ValueError: too odd" in text_of(reader.get(location))


def test_the_distribution_is_a_file_of_arrays(make, board, client):
    experiment = make.experiment(board, "system_additions", by=make.user(), rules=["borda"], n_orders=3)
    answer = client.get(reverse("experiment_arrays", args=[board.key, experiment.pk]))
    with np.load(io.BytesIO(answer.content)) as arrays:
        assert {name: arrays[name].shape for name in arrays.files} == {"borda.effect": (3, 4)}


def test_an_experiment_of_another_board_is_not_here(make, board, client):
    experiment = make.experiment(make.published(), by=make.user())
    assert client.get(reverse("experiment", args=[board.key, experiment.pk])).status_code == 404


def test_both_rankings_of_a_worst_case_stand_side_by_side(make, client):
    """Zhang and Hardt 2024, figure 1: a ranking before and after a trivial change."""
    scores = {
        "A": [3.0, 1.0, 3.0],
        "B": [2.0, 3.0, 2.0],
        "C": [1.0, 2.0, 1.0],
        "D": [0.0, 2.5, 0.0],
        "E": [0.5, 2.6, 0.5],
    }
    board = make.published(scores)
    experiment = make.experiment(board, "worst_case", by=make.user(), rule="borda", n_top=2)
    page = client.get(reverse("experiment", args=[board.key, experiment.pk])).content.decode()
    assert "The first 2 under Borda, before and after" in page
    assert "A: rank 1 before, 2 after" in page
    assert "B: rank 2 before, 1 after" in page
    assert "Systems that join:" in page


@pytest.mark.parametrize("study", ["worst_case", "best_ranking", "reserved_places", "significance"])
@pytest.mark.parametrize(
    ("written", "rule", "name"),
    [
        ({"vector": "3, 1"}, "positional[vector=3,1]", "Positional (3,1)"),
        ({"combined": "plurality[then=borda]"}, "plurality[then=borda]", "Plurality (ties by Borda)"),
    ],
)
def test_a_study_of_one_rule_takes_points_of_ones_own_in_its_place(board, reader, study, written, rule, name):
    sent = {"study": study, "rule": "borda", "seed": "0", "systems": board.systems.first().key, **written}
    answer = reader.post(address(board), sent)
    assert answer.status_code == 302, answer.context["form"].errors
    assert Experiment.objects.get().parameters["rule"] == rule
    run_experiments()
    assert name in text_of(reader.get(answer["Location"]))


def test_a_study_of_one_rule_takes_no_two(board, reader):
    both = {"vector": "3,1", "combined": "plurality[then=borda]"}
    answer = reader.post(address(board), {"study": "worst_case", "rule": "borda", "seed": "0", **both})
    assert answer.status_code == 400
    assert "This study is about one rule: state points or a combined rule, not both." in text_of(answer)
    assert Experiment.objects.count() == 0


def test_the_list_of_experiments_asks_the_database_as_often_for_three_as_for_one(
    make, board, client, django_assert_num_queries
):
    owner = make.user()
    make.experiment(board, by=owner)
    client.get(address(board))
    with django_assert_num_queries(5) as counted:
        client.get(address(board))
    for number in (1, 2):
        make.experiment(board, by=owner, first=2 + number)
    with django_assert_num_queries(len(counted)):
        client.get(address(board))


def test_systems_among_the_parameters_have_their_names(make, client):
    board = make.published({"Xylo One": [3.0, 1.0, 2.0], "Xylo Two": [2.0, 3.0, 3.0], "Xylo Three": [1.0, 2.0, 1.0]})
    system = board.systems.get(name="Xylo Two")
    experiment = make.experiment(board, "reserved_places", by=make.user(), systems=[system.key])
    for path in (address(board), reverse("experiment", args=[board.key, experiment.pk])):
        page = text_of(client.get(path))
        assert re.search(rf"Systems:? {system.name}", page)
        assert system.key not in page


def test_a_study_that_there_is_not_is_a_bad_request(board, reader):
    assert reader.get(address(board, "?study=nothing")).status_code == 400
    assert reader.post(address(board), {}).status_code == 400
