"""Pages of experiments in the pseudo-language: forms with errors, what waits, runs or failed, and results."""

import ast
import re

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import translation

from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.engine_problems import PROBLEMS
from leaderboard.models import Job
from ranking_engine.stability.catalogue import EXPERIMENTS
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_errors import english_of
from tests.languages.test_pages import english_in, english_within, unmarked_words_in
from tests.leaderboard.studies.experiments.waiting import run_experiments
from tests.signing_in import signed_in

SCORES = {
    "A": [3.0, 1.0, 3.0, 2.5, 3.5], "B": [2.0, 3.0, 2.0, 2.0, 2.5], "C": [1.0, 2.0, 1.0, 4.0, 1.0],
    "D": [0.5, 2.5, 0.0, 1.0, 0.7], "F": [2.2, 0.5, 1.6, 3.0, 2.6],
    "E": [0.7, 2.6, 0.5, None, 0.2],
}  # fmt: skip
SMALL = {
    "n_trials": 5, "n_resamples": 3, "n_rounds": 1, "n_repeats": 2, "n_best": 5, "n_top": 3, "n_boards": 50,
    "n_orders": 2,
}  # fmt: skip
# Where the engine states problems that forms of experiments show, and why a study has nothing to say.
PLACES = (
    "stability/parameters.py", "stability/scope.py", "catalogue/combined.py", "catalogue/variants.py",
    "core/reserved_places.py", "stability/studies/reserved_places.py", "stability/studies/tasks_needed.py",
    "stability/studies/task_subsets.py", "stability/studies/judge_bootstrap.py", "stability/studies/missing_scores.py",
    "stability/studies/best_ranking.py", "stability/studies/worst_case.py", "stability/studies/corrupted_tasks.py",
    "stability/studies/manipulated_tasks.py", "stability/sensitivity/ordinal.py",
    "stability/studies/system_additions.py",
)  # fmt: skip
# Their values are words, so that `PROBLEMS` has one sentence for each; the last two no form shows.
OTHERWISE = {
    "1: the name of the task 1", "1: 1 cannot be combined: 1",
    "1 system1 with a score: no other system could join the first 2", "nothing to rank", "nothing to rank: 1",
}  # fmt: skip


@pytest.fixture(scope="module")
def board_once(make_once):
    return make_once.published(SCORES, name="Bench")


@pytest.fixture
def board(make, board_once, settings):
    settings.ON_DEMAND_SECONDS = 60  # a forecast on a busy machine
    return board_once


def sent(client, board, study: str) -> dict[str, object]:
    """What the form of a study sends as it is, with small numbers; places are reserved for one system."""
    form = client.get(reverse("experiments", args=[board.key]) + f"?study={study}").context["form"]
    values = {
        field.html_name: field.value() for field in form if field.value() is not None and field.value() is not False
    }
    values |= {name: value for name, value in SMALL.items() if name in form.fields}
    if study == "reserved_places":
        values["systems"] = board.systems.get(name="D").key
    return {"study": study, **values}


@pytest.mark.parametrize("study", EXPERIMENTS)
def test_the_form_the_result_and_the_list_of_an_experiment_are_in_the_language_of_the_site(
    board, pseudo_language, study
):
    client = signed_in(owner_of(board))
    address = reverse("experiments", args=[board.key])
    assert english_in(client.get(f"{address}?study={study}").content) == []
    started = client.post(address, sent(client, board, study))
    assert started.status_code == 302, started.context["form"].errors
    run_experiments()
    page = client.get(started["Location"])
    assert page.context["result"] is not None
    assert (english_in(page.content), english_within(page.content)) == ([], [])
    assert english_in(client.get(address).content) == []


def test_no_word_of_a_form_is_english(board, pseudo_language):
    client = signed_in(owner_of(board))
    form = client.get(reverse("experiments", args=[board.key]) + "?study=tasks_needed").context["form"]
    texts = [field.label for field in form] + [field.help_text for field in form]
    texts += [text for field in form for _, text in getattr(field.field, "choices", ()) if field.name != "copied_tasks"]
    texts += [group["legend"] for group in form.groups]
    unmarked = [text for text in map(str, texts) if text and not text.startswith("⟦")]
    assert unmarked == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": "5, hundred"}, {"levels": ",".join(["1"] * 51)}, {"levels": "200"}, {"vector": "1,2,3"},
        {"combined": "borda[then=nothing]"}, {"combined": "borda[with=condorcet]"}, {"combined": "positional"},
        {"combined": "borda[ties=none]"}, {"combined": "borda[a=b]"}, {"combined": "positional[vector=x]"},
        {"first": "2"}, {"n_repeats": "0"}, {"rules": ["nothing"]}, {"seed": "-1"},
        {"combined": "borda[then=mean,veto]"},
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_form_is_said_in_the_language_of_the_site(board, pseudo_language, wrong):
    client = signed_in(owner_of(board))
    page = client.post(reverse("experiments", args=[board.key]), sent(client, board, "missing_scores") | wrong)
    assert page.status_code == 400
    assert page.context["form"].errors
    texts = [text for errors in page.context["form"].errors.values() for text in errors]
    # What Django says itself of a field is in its own catalogues.
    assert [text for text in texts if not text.startswith(("⟦", "Ensure", "Select"))] == []


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("EXPERIMENT_SECONDS", 1), ("EXPERIMENT_SECONDS_A_PERSON", 1), ("EXPERIMENT_SECONDS_A_BOARD", 1)],
)
def test_an_experiment_that_takes_too_long_is_refused_in_the_language_of_the_site(
    board, settings, pseudo_language, limit, seconds
):
    setattr(settings, limit, seconds)
    client = signed_in(owner_of(board))
    long = sent(client, board, "judge_bootstrap") | {"n_trials": 200_000}
    page = client.post(reverse("experiments", args=[board.key]), long)
    assert page.status_code == 400
    assert (english_in(page.content), english_within(page.content)) == ([], [])


@pytest.mark.parametrize("state", [Job.State.WAITING, Job.State.RUNNING, Job.State.FAILED, Job.State.SUPERSEDED])
def test_the_state_of_an_experiment_is_in_the_language_of_the_site(board, pseudo_language, state):
    client = signed_in(owner_of(board))
    address = reverse("experiments", args=[board.key])
    started = client.post(address, {"study": "diversity", "seed": "0"})
    Job.objects.filter(kind="experiment").update(state=state, progress=0.5)
    assert english_in(client.get(started["Location"]).content) == []
    page = client.get(address).content
    assert english_in(page) == []
    assert unmarked_words_in(page.split(b"<tbody>")[1].split(b"</tbody>")[0]) == []


def test_readers_without_an_account_read_the_page_in_the_language_of_the_site(client, board, pseudo_language):
    assert english_in(client.get(reverse("experiments", args=[board.key]) + "?study=diversity").content) == []


def texts_of_problems() -> list[str]:
    """What the engine states at these places, `1` for each value."""
    texts = []
    for place in PLACES:
        for node in ast.walk(ast.parse((settings.ROOT / "ranking_engine" / place).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                texts += english_of(node.exc.args[0])
            if isinstance(node, ast.FunctionDef) and node.name in ("why_not", "why_no_top"):
                returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value]
                texts += [text for value in returned for text in english_of(value)]
    return [text for text in texts if re.search(r"[a-z]{2,} [a-z]{2,}", text)]


def test_what_the_engine_finds_wrong_can_be_translated(pseudo_language):
    texts = texts_of_problems()
    assert len(texts) > 40
    assert {text for text in texts if in_page_language(text) == text} == OTHERWISE


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_problem_is_said_in_the_language_of_the_page(pseudo_language, problem):
    values = dict.fromkeys(re.findall(r"%\((\w+)\)s", problem), "12")
    assert in_page_language(problem % values) == pseudo(problem) % values
    with translation.override("en"):
        assert in_page_language(problem % values) == problem % values
