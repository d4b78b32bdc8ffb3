"""New benchmarks from a table or by hand, further editions of them, and frozen revisions."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError

from leaderboard.benchmarks.drafts import (
    MAX_DRAFTS,
    create_from_draft,
    draft_contents,
    draft_question,
    draft_verdicts,
    make_benchmark_draft,
)
from leaderboard.benchmarks.releases import ReleaseError, cite, freeze_revision, new_edition
from leaderboard.benchmarks.settings import archive, change_settings
from leaderboard.benchmarks.tasks import ProposalError, TaskEdit
from leaderboard.models import AuditEntry, Benchmark, BenchmarkDraft
from leaderboard.rankings.configuration import configuration_of, present_configuration
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from leaderboard.rankings.scores import current_scores, systems_at
from ranking_engine.files.tables import TableError
from tests.factories import owner_of
from tests.leaderboard.site.world import sent
from tests.markup import compact

CSV = b"system,Speed,Recall\nA,1,0.5\nB,2,0.4\nC,3,\n"
TOML = b"""
title = "Two sides"
[[task]]
name = "Speed"
direction = "lower"
group = "Cost"
weight = 0.5
[[system]]
name = "A"
key = "alpha"
"""


def test_a_table_alone_becomes_a_benchmark_with_defaults_that_fit_it(make):
    owner = make.user()
    draft = make_benchmark_draft(owner, name="Mine", table=CSV)
    contents = draft_contents(draft)
    assert (contents.n_systems, contents.n_missing, contents.fields["default_rule"]) == (3, 1, "copeland")
    benchmark = create_from_draft(draft, contents.proposal, {"name": "Mine", **contents.fields})
    assert (benchmark.key, benchmark.last_revision_number, benchmark.aggregation) == ("mine", 1, "basic")
    assert [(task.name, task.direction) for task in benchmark.tasks.all()] == [("Speed", 1), ("Recall", 1)]
    assert not BenchmarkDraft.objects.exists()
    assert AuditEntry.objects.get().field == "created"


def test_a_described_table_has_its_directions_groups_and_keys(make):
    draft = make_benchmark_draft(make.user(), name="", table=CSV, about=TOML)
    contents = draft_contents(draft)
    assert draft.name == "Two sides"
    benchmark = create_from_draft(draft, contents.proposal, {"name": draft.name, **contents.fields})
    assert benchmark.aggregation == "balanced"
    assert {system.key for system in benchmark.systems.all()} == {"alpha", "b", "c"}
    assert benchmark.tasks.get(name="Speed").direction == -1


def test_a_task_renamed_before_creation_keeps_its_column(make):
    draft = make_benchmark_draft(make.user(), name="Mine", table=CSV)
    contents = draft_contents(draft)
    tasks = [replace(contents.proposal.tasks[0], name="Recall"), replace(contents.proposal.tasks[1], name="Speed")]
    benchmark = create_from_draft(draft, replace(contents.proposal, tasks=tasks), {"name": "Mine"})
    revision = benchmark.revisions.get()
    scores = current_scores(revision)
    first, recall = next(s for s in systems_at(revision) if s.name == "B"), benchmark.tasks.get(name="Recall")
    assert scores[first.id, recall.pk].value == 2.0


def test_the_verdicts_follow_the_directions_and_leave_nothing_behind(make):
    draft = make_benchmark_draft(make.user(), name="Mine", table=b"system,Speed\nA,1\nB,2\n")
    proposal = draft_contents(draft).proposal
    up = {v.rule_name: v.winners for v in draft_verdicts(draft, proposal)}
    down = replace(proposal, tasks=[replace(proposal.tasks[0], direction=-1)])
    assert (up["Borda"], {v.rule_name: v.winners for v in draft_verdicts(draft, down)}["Borda"]) == ("B", "A")
    assert not Benchmark.objects.exists()


def test_a_verdict_without_a_winner_names_tasks_and_systems(make):
    table = b"system,Speed of work,Recall\nBert,1,1\nAda,1,1\nCleo,2,2\n"
    draft = make_benchmark_draft(make.user(), name="Mine", table=table)
    reasons = {v.rule_name: v.reason for v in draft_verdicts(draft, draft_contents(draft).proposal)}
    assert reasons["Bradley-Terry"] == (
        "no finite strengths: 2 groups of systems have not both won and lost against each other (Cleo; Bert, Ada); "
        "a prior would give some"
    )


def test_a_benchmark_by_hand_has_its_tasks_and_no_revision(make):
    draft = make_benchmark_draft(make.user(), name="By hand", task_names=['Quo"ted', "Second\\one"])
    contents = draft_contents(draft)
    assert draft_verdicts(draft, contents.proposal) == []
    benchmark = create_from_draft(draft, contents.proposal, {"name": "By hand", **contents.fields})
    assert [task.name for task in benchmark.tasks.all()] == ['Quo"ted', "Second\\one"]
    assert benchmark.last_revision_number == 0


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"table": b"system,T\nA,x\n"}, "line 2, column 2 (T)"),
        ({"table": CSV, "about": b"[[task]]\nname = 'Nope'\n"}, "no column"),
        ({"table": CSV, "about": b"\xff"}, "UTF-8"),
        ({"table": CSV, "about": b"tags = 3"}, "tags"),
        ({}, "no table and no task"),
        ({"task_names": ["Twice", "twice"]}, "stated twice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place_and_kept_nowhere(make, fields, words):
    with pytest.raises(TableError) as caught:
        make_benchmark_draft(make.user(), name="Mine", **fields)
    assert words in caught.value.one_line()
    assert not BenchmarkDraft.objects.exists()


def test_a_bad_field_creates_nothing_and_keeps_the_draft(make):
    draft = make_benchmark_draft(make.user(), name="Mine", table=CSV)
    proposal = draft_contents(draft).proposal
    for fields in ({"name": ""}, {"name": "Mine", "key": "No Key"}, {"name": "Mine", "default_rule": "best"}):
        with pytest.raises(ValidationError):
            create_from_draft(draft, proposal, fields)
    with pytest.raises(ProposalError, match="exactly one task for each column"):
        create_from_draft(draft, replace(proposal, tasks=[*proposal.tasks, TaskEdit("Third")]), {"name": "Mine"})
    assert not Benchmark.objects.exists()
    assert BenchmarkDraft.objects.count() == 1


def test_a_draft_makes_one_benchmark_however_often_it_is_sent(make):
    draft = make_benchmark_draft(make.user(), name="Mine", table=CSV)
    proposal = draft_contents(draft).proposal
    again = BenchmarkDraft.objects.get()
    create_from_draft(draft, proposal, {"name": "Mine"})
    with pytest.raises(ValidationError, match="used or discarded"):
        create_from_draft(again, proposal, {"name": "Mine"})
    assert Benchmark.objects.count() == 1


def test_somebody_keeps_a_bounded_number_of_drafts(make):
    owner = make.user()
    for _ in range(MAX_DRAFTS + 2):
        newest = make_benchmark_draft(owner, name="Mine", table=CSV)
    assert BenchmarkDraft.objects.count() == MAX_DRAFTS
    assert BenchmarkDraft.objects.filter(pk=newest.pk).exists()


def test_a_setting_changes_with_its_trail_and_makes_no_revision(make):
    benchmark = make.benchmark()
    owner = benchmark.memberships.get(role="owner").user
    values = {"visibility": "private", "daily_cap": 3, "name": benchmark.name}
    assert change_settings(benchmark, values, author=owner, reason="quiet") == 2
    entries = AuditEntry.objects.order_by("of").values_list("of", "before", "after", "reason")
    assert list(entries) == [("daily_cap", "", "3", "quiet"), ("visibility", "public", "private", "quiet")]
    benchmark.refresh_from_db()
    assert (benchmark.visibility, benchmark.last_revision_number) == ("private", 1)
    with pytest.raises(ValidationError):
        change_settings(benchmark, {"default_rule": "best"}, author=owner)


def test_a_frozen_revision_keeps_its_figures_when_the_board_moves_on(make):
    benchmark = make.published()
    owner = benchmark.memberships.get(role="owner").user
    release = freeze_revision(benchmark, author=owner, number=1, name="2026.1")
    make.accepted(benchmark, {"Better": [9.0] * 5})
    make.publish(benchmark)
    assert (release.key, release.revision.number) == ("2026-1", 1)
    citation = cite(release, "https://a.example/b/x/releases/2026-1/", release.revision.input_hash)
    assert release.revision.input_hash in citation.text
    assert citation.bibtex.startswith(f"@misc{{{benchmark.key}-2026-1,")
    with pytest.raises(ReleaseError, match=r"already has the name '2026\.1'"):
        freeze_revision(benchmark, author=owner, number=2, name="2026.1")
    with pytest.raises(ReleaseError, match="revision 9"):
        freeze_revision(benchmark, author=owner, number=9, name="Other")


def test_a_citation_escapes_what_latex_would_read(make):
    benchmark = make.published(name="50% of {A} & B_1 #2 \\ ~")
    owner = benchmark.memberships.get(role="owner").user
    bibtex = cite(freeze_revision(benchmark, author=owner, number=1, name="v1"), "https://a.example/", None).bibtex
    title = r"50\% of \textbraceleft{}A\textbraceright{} \& B\_1 \#2 \textbackslash{} \textasciitilde{}, v1"
    assert f"{{{{{title}}}}}" in bibtex


def test_an_edition_with_scores_has_the_inputs_of_the_original(make):
    benchmark = make.benchmark({"A": [1.0, None], "B": [2.0, 3.0]}, description="Words", daily_cap=4)
    owner = benchmark.memberships.get(role="owner").user
    edition = new_edition(benchmark, author=owner, name="Second edition", with_scores=True)
    assert (edition.visibility, edition.daily_cap, edition.description) == ("private", 4, "Words")
    hashes = []
    for row in (benchmark, edition):
        revision = row.revisions.get()
        hashes.append(input_hash(revision_matrix(revision), configuration_of(revision)))
    assert hashes[0] == hashes[1]
    empty = new_edition(benchmark, author=owner, name="Third edition", with_scores=False)
    assert empty.last_revision_number == 0
    assert [task["key"] for task in present_configuration(empty).content["tasks"]] == ["task-1", "task-2"]


def test_an_archived_benchmark_takes_nothing_even_from_its_owners(make):
    benchmark = make.benchmark()
    owner = benchmark.memberships.get(role="owner").user
    archive(benchmark, author=owner, archived=True, reason="over")
    benchmark.refresh_from_db()
    with pytest.raises(ValueError, match="archived"):
        make.submitted(benchmark, "Late", ["1"] * 5, by=owner)
    archive(benchmark, author=owner, archived=False)
    benchmark.refresh_from_db()
    make.submitted(benchmark, "Late", ["1"] * 5, by=owner)
    assert list(AuditEntry.objects.order_by("pk").values_list("after", flat=True)) == ["yes", "no"]


def test_a_draft_asks_about_columns_whose_names_say_that_less_is_better(make, client):
    owner = make.user()
    draft = make_benchmark_draft(owner, name="Mine", table=b"system,Accuracy,Latency (ms)\nA,1,30\nB,2,20\n")
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/new/{draft.uuid}/").content.decode()
    assert "“Latency (ms)” is set to “higher is better”, but its name contains “latency”." in page
    contents = draft_contents(draft)
    assert draft_question(contents, [("Accuracy", 1), ("Latency (ms)", -1)]) == ""


def test_the_form_offers_the_variants_of_the_description_as_default_rule_and_creates_with_one(make, client):
    rule = "borda[ties=average]"
    about = f'default_rule = "{rule}"\nvariants = ["{rule}"]\n'.encode()
    draft = make_benchmark_draft(make.user(), name="Mine", table=CSV, about=about)
    client.force_login(draft.owner)
    page = client.get(f"/new/{draft.uuid}/")
    assert f'<option value="{rule}" selected>' in page.content.decode()
    about = {field.html_name: field.value() for field in page.context["form"] if field.value() is not None}
    answer = client.post(f"/new/{draft.uuid}/", sent(page.context["parts"]) | about | {"action": "create"})
    assert (answer["Location"], Benchmark.objects.get().default_rule) == ("/b/mine/", rule)
    assert client.get(f"/new/{draft.uuid}/")["Location"] == "/b/mine/", "a way back"
    assert client.get(f"/new/{uuid4()}/").status_code == 404
    client.force_login(make.user())
    assert client.get(f"/new/{draft.uuid}/").status_code == 404


def test_all_that_is_wrong_with_a_draft_is_said_at_once_and_the_question_follows_the_fields(make, client):
    table = b"system,Accuracy,Latency (ms)\nA,1,30\nB,2,20\n"
    draft = make_benchmark_draft(make.user(), name="Mine", table=table)
    client.force_login(draft.owner)
    page = client.get(f"/new/{draft.uuid}/")
    question = "“Latency (ms)” is set to “higher is better”"
    assert question in compact(page)
    about = {field.html_name: field.value() for field in page.context["form"] if field.value() is not None}
    wrong = {
        "task-0-weight": "0,5",
        "task-0-minimum": "x",
        "task-1-direction": "-1",
        "doi": "nonsense",
        "variants": "borda[ties=foo]\nxyz\nborda[ties=best]",
    }
    refused = client.post(f"/new/{draft.uuid}/", sent(page.context["parts"]) | about | wrong | {"action": "preview"})
    parts, form = refused.context["parts"], refused.context["form"]
    number = "Enter a number with a decimal point, such as 0.5."
    assert (refused.status_code, parts.tasks.errors) == (400, [{"weight": [number], "minimum": [number]}, {}])
    assert form.errors == {
        "doi": ["A DOI begins with 10., such as 10.5281/zenodo.1234567; write it without https://doi.org/."]
    }
    assert [problem.split(":")[0] for problem in parts.counting.errors["variants"]] == ["borda.ties=foo", "xyz"]
    assert question not in compact(refused)


def test_a_group_that_only_tasks_name_has_a_row_with_its_weight_once_the_preview_is_updated(make, client):
    draft = make_benchmark_draft(make.user(), name="Mine", table=CSV)
    client.force_login(draft.owner)
    page = client.get(f"/new/{draft.uuid}/")
    about = {field.html_name: field.value() for field in page.context["form"] if field.value() is not None}
    typed = sent(page.context["parts"]) | about | {"task-0-group": "G"}
    parts = client.post(f"/new/{draft.uuid}/", typed | {"action": "preview"}).context["parts"]
    assert [(row["name"].value(), str(row["weight"].value())) for row in parts.groups if row["name"].value()] == [
        ("G", "1")
    ]
    client.post(f"/new/{draft.uuid}/", sent(parts) | about | {"group-0-weight": "3", "action": "create"})
    (group,) = Benchmark.objects.get().groups.all()
    assert (group.name, group.weight) == ("G", 3)


def test_an_edition_does_not_have_the_name_of_its_original(make):
    benchmark = make.benchmark({"A": [1.0]}, name="Bench")
    with pytest.raises(ValidationError) as refused:
        new_edition(benchmark, author=owner_of(benchmark), name=" bench", with_scores=False)
    assert refused.value.message_dict == {
        "name": ["The benchmark that you duplicate has this name. Choose another one, such as Bench 2."]
    }
