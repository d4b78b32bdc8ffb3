"""Pages of rules and of violations of their properties, in the pseudo-language: each text that is shown is marked."""

import re

import pytest
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.boards.catalogue import rule_entry
from leaderboard.common.language.engine import violation_text
from leaderboard.comparisons.iia_violations import iia_violations_in_words
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Job
from leaderboard.queue.kinds import AXIOMS, JOB_KINDS
from leaderboard.rankings.text import precision_sentence
from leaderboard.studies.axioms import rule_properties
from ranking_engine import RULES
from ranking_engine.axioms import PROPERTIES, convention_of, conventions
from ranking_engine.catalogue.choice import QUESTIONS
from tests.factories import owner_of
from tests.languages.test_pages import UNMARKED, english_in, unmarked_words_in
from tests.ranking_engine.axioms.test_sentences import SENTENCES, example
from tests.signing_in import signed_in

FEW = JOB_KINDS[AXIOMS].parameters | {"max_steps": 20}  # boards a search; the site looks longer
SCORES = {
    "S1": [3.0, 3.0, 1.0, 1.0, 3.0], "S2": [2.0, 2.0, 3.0, 3.0, 2.0], "S3": [1.0, 1.0, 2.0, 2.0, 1.0],
    "S4": [0.5, 2.5, 2.5, 0.0, 2.5],
}  # fmt: skip
CONVENTIONS = [(rule, convention_of(rule, options)) for rule in RULES for options in conventions(rule)]


def plain_words_in(text: str) -> list[str]:
    """The words of a text without accents, in brackets or not; what comes from the catalogue has them on all vowels."""
    return re.findall(r"[A-Za-z]*[aeiou][a-z]+", text.replace("Task ", ""))


def searched(make, **fields):
    """A published benchmark whose violations were looked for."""
    parameters = FEW | fields.pop("parameters", {})
    benchmark = make.published(fields.pop("scores", SCORES), name="Bench", **fields)
    job = Job.objects.get(benchmark=benchmark, kind=AXIOMS)
    Job.objects.filter(pk=job.pk).update(parameters=parameters)
    assert run_job(job.pk, worker="test") == "done"
    return benchmark


@pytest.mark.parametrize(("key", "fields"), [(key, fields) for key, fields, _ in SENTENCES])
def test_each_sentence_about_a_violation_is_in_the_language_of_the_page(pseudo_language, key, fields):
    systems = {letter: f"S{letter}" for letter in "bcdfg"} | {"a": "S1", "e": "S5"}
    tasks = {letter: f"T{letter}" for letter in "stvwxyz"} | {"u": "T3"}
    text = violation_text(example(key, fields), systems, tasks)
    assert (text[0], plain_words_in(text)) == ("⟦", [])


@pytest.fixture(scope="module")
def boards(make_once):
    return {
        "complete": searched(make_once),
        "with a gap": searched(make_once, scores=SCORES | {"S5": [1.0, None, 2.0, 0.5, 1.5]}),
    }


@pytest.mark.parametrize("board", ["complete", "with a gap"])
def test_violations_on_a_board_are_in_the_language_of_the_site(make, boards, pseudo_language, board):
    benchmark = boards[board]
    client, violated = signed_in(owner_of(benchmark)), set()
    for rule in site_rules():
        page = client.get(reverse("rule", args=[benchmark.key, rule]))
        assert (rule, page.status_code, english_in(page.content)) == (rule, 200, [])
        properties = rule_properties(benchmark.publication.revision, rule)
        texts = [text for line in properties.lines for text in (line.name, line.definition, line.source, line.here)]
        assert plain_words_in(" ".join([*texts, properties.reason, properties.note])) == []
        violated |= {key for key, line in zip(PROPERTIES, properties.lines, strict=True) if line.is_violated}
    assert len(violated) >= 8


@pytest.mark.parametrize(
    ("state", "shown_state"),
    [(Job.State.WAITING, "computing"), (Job.State.FAILED, "failed"), (Job.State.SUPERSEDED, "undefined")],
)
def test_a_board_without_a_search_says_why_in_the_language_of_the_site(make, pseudo_language, state, shown_state):
    benchmark = make.published(SCORES, name="Bench", missing_policy="median")
    Job.objects.filter(benchmark=benchmark, kind=AXIOMS).update(state=state)
    assert state_and_english(benchmark) == (shown_state, [])


@pytest.mark.parametrize("fields", [{"aggregation": "two_step"}, {"parameters": {"seconds": 1e-9}}])
def test_a_search_that_looked_at_nothing_says_why_in_the_language_of_the_site(make, pseudo_language, fields):
    assert state_and_english(searched(make, **fields)) == ("undefined", [])


def state_and_english(benchmark) -> tuple[str, list[str]]:
    """The state of the search under Borda, and what is English on its page, which says why there are no violations."""
    properties = rule_properties(benchmark.publication.revision, "borda")
    assert [line.here for line in properties.lines if line.here] == []
    page = signed_in(owner_of(benchmark)).get(reverse("rule", args=[benchmark.key, "borda"]))
    return properties.state, [*english_in(page.content), *plain_words_in(properties.reason + properties.note)]


def test_the_api_says_violations_in_english_in_every_language(make, client, boards, pseudo_language):
    answer = client.get(reverse("api:rule_properties", args=[boards["complete"].key, "borda"])).json()
    violated = [line for line in answer["results"] if line["is_violated"]]
    assert "⟦" not in str(answer)
    assert "Remove S3 and S1 gets ahead of S2, with which it was tied." in [line["found"] for line in violated]


@pytest.mark.parametrize(("rule", "convention"), CONVENTIONS)
def test_the_page_of_a_rule_is_in_the_language_of_the_site(client, db, pseudo_language, rule, convention):
    page = client.get(reverse("rule_page", args=[rule]), {"convention": convention})
    # `holds,fails` is one text, which the page cuts in two
    assert (page.status_code, unmarked_words_in(page.content, "Plurank", "hólds", "fáíls")) == (200, [])
    entry = rule_entry(rule, convention)
    texts = [text for one in entry.properties for text in (one.source, one.witness)]
    assert plain_words_in(" ".join([*texts, entry.when, entry.example.given, entry.example.remark])) == []


@pytest.mark.parametrize("query", ["?has=iia&gaps=1", "?has=clones&has=participation", "?family=positional"])
def test_a_part_of_the_catalogue_is_in_the_language_of_the_site(client, db, pseudo_language, query):
    assert english_in(client.get(reverse("rules") + query).content) == []


@pytest.mark.parametrize("answer", [(question.key, one.key) for question in QUESTIONS for one in question.answers])
def test_what_an_answer_leads_to_is_in_the_language_of_the_site(client, db, pseudo_language, answer):
    english = english_in(client.get(reverse("choose_rule"), dict([answer])).content)
    assert len(english) <= UNMARKED["choose_rule"], english


def test_lists_of_rules_and_tasks_are_in_the_language_of_the_page(pseudo_language):
    rules = {rule: {"n_reversed": 2, "n_ties": 0, "first": ["S1", "S2"]} for rule in RULES}
    texts = [
        iia_violations_in_words({"rules": rules}, "borda"),
        iia_violations_in_words({"rules": {"veto": {"n_reversed": 0, "n_ties": 1, "first": []}}}, "borda"),
        precision_sentence({f"T{n}": "0.1" for n in range(5)} | {"T5": None}),
    ]
    assert [plain_words_in(text) for text in texts] == [[], [], []]
