"""The owner's pages of references and phases, and the pages of teams and predictions, as people use them."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from leaderboard.evaluation.encryption import opened_sha256
from leaderboard.evaluation.phases import has_ladder, store_phase, use_ladder
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.references import opened
from leaderboard.evaluation.steps import cancel_predictions
from leaderboard.evaluation.teams import found_team, invite_by_name, team_of
from leaderboard.models import Phase, PredictionSubmission, TaskReferences
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    REFERENCES,
    add_references,
    labels_file,
    score_all,
    scored,
    texts_benchmark,
    upload as predictions,
)
from tests.markup import compact
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def benchmark(make):
    return make.benchmark({}, n_tasks=2, name="Hidden test")


@pytest.fixture
def owner(benchmark, client):
    client.force_login(owner_of(benchmark), backend=BACKEND)
    return client


def upload(client, benchmark, data: bytes, **fields):
    path = reverse("manage_task_references", args=[benchmark.key, "task-1"])
    return client.post(path, {"file": SimpleUploadedFile("labels.csv", data)} | fields, follow=True)


def test_an_owner_chooses_a_metric_with_its_options_and_uploads_references(owner, benchmark):
    path = reverse("manage_task_references", args=[benchmark.key, "task-1"])
    page = compact(owner.get(path, {"metric": "f1"}))
    assert 'name="option-' in page
    answer = compact(upload(owner, benchmark, b"id,reference,note\na,yes,x\nb,no,y\n", metric="accuracy"))
    assert "Version 1 is stored encrypted: 2 instances. These columns mean nothing here: note." in answer
    row = TaskReferences.objects.get()
    assert opened(row)[1].values == ("yes", "no")
    assert opened_sha256(row) in answer
    answer = compact(upload(owner, benchmark, b"id,reference\na,no\nb,no\nc,no\n", metric="accuracy"))
    assert "Version 2 is stored encrypted: 3 instances." in answer
    listed = compact(owner.get(reverse("manage_references", args=[benchmark.key])))
    assert '<td>Accuracy</td><td class="number">3</td><td class="number">2</td>' in listed


def test_a_refused_file_changes_nothing_and_every_problem_is_named(owner, benchmark):
    answer = upload(owner, benchmark, b"id,reference\na,one\na,two\n,three\n", metric="accuracy")
    assert answer.status_code == 400
    page = compact(answer)
    assert "line 3" in page
    assert "line 4" in page
    assert not TaskReferences.objects.exists()


def test_a_file_that_is_too_large_is_refused_before_it_is_read(owner, benchmark, settings):
    settings.UPLOAD_BYTES = 1000
    assert upload(owner, benchmark, b"x" * 200_000, metric="accuracy").status_code == 413
    assert upload(owner, benchmark, b"x" * 2000, metric="accuracy").status_code == 400
    assert not TaskReferences.objects.exists()


def test_a_site_without_a_key_in_production_says_what_its_operator_has_to_set(owner, benchmark, settings):
    settings.REFERENCES_KEYS, settings.IS_PRODUCTION = [], True
    assert "PLURANK_REFERENCES_KEYS" in compact(upload(owner, benchmark, b"id,reference\na,x\n", metric="accuracy"))


def test_an_owner_adds_changes_and_deletes_phases(owner, benchmark):
    path = reverse("manage_phases", args=[benchmark.key])
    sent = {"action": "store", "name": "Final", "opens_at": "2026-01-01T00:00", "closes_at": "2999-01-01T00:00",
            "kind": "test", "split": "public", "private_at": "2999-01-02T00:00", "counts": "last",
            "daily_cap": "5"}  # fmt: skip
    page = compact(owner.post(path, sent, follow=True))
    assert "Final is stored." in page
    assert "can submit 5 a day" in page
    phase = Phase.objects.get()
    assert (phase.split, phase.counts, phase.daily_cap, phase.total_cap) == ("public", "last", 5, None)
    form = compact(owner.get(path, {"phase": phase.pk}))
    assert 'value="2026-01-01T00:00"' in form
    overlap = owner.post(path, sent | {"name": "Other"})
    assert overlap.status_code == 400
    assert "open at the same time as Final" in compact(overlap)
    owner.post(path, sent | {"phase": phase.pk, "daily_cap": "7"})
    assert Phase.objects.get().daily_cap == 7
    owner.post(path, {"action": "delete", "phase": phase.pk})
    assert not Phase.objects.exists()


def test_a_quota_is_computed_from_the_instances_and_the_error(owner, benchmark):
    path = reverse("manage_phases", args=[benchmark.key])
    assert "no instances to compute it from" in compact(owner.get(path, {"error": "1"}))
    rows = "".join(f"i{k},{k % 2}\n" for k in range(4000))
    upload(owner, benchmark, f"id,reference\n{rows}".encode(), metric="accuracy")
    page = compact(owner.get(path, {"error": "1"}))
    assert "At most 7 submissions in all, because Task 1 has 4000 instances." in page  # as docs/ladder.md says
    assert 'name="total_cap" value="7"' in page
    assert "above 0" in compact(owner.get(path, {"error": "0"}))
    too_many = compact(owner.get(path, {"error": "0.1"}))
    assert "Even one submission is too many, because Task 1 has 4000 instances." in too_many
    assert 'name="total_cap" value' not in too_many
    weighted = "".join(f"i{k},{k % 2},{1 if k < 1000 else 0.000001}\n" for k in range(4000))
    upload(owner, benchmark, f"id,reference,weight\n{weighted}".encode(), metric="accuracy")
    page = compact(owner.get(path, {"error": "2"}))
    assert (
        "At most 7 submissions in all, because Task 1 has 4000 instances, by their weights as exact as 1000 of equal "
        "weight." in page
    )


def test_no_quota_is_offered_for_a_metric_for_which_none_is_known(owner, benchmark):
    path = reverse("manage_phases", args=[benchmark.key])
    rows = "".join(f"i{k},{k % 7}\n" for k in range(4000))
    upload(owner, benchmark, f"id,reference\n{rows}".encode(), metric="pearson")
    page = compact(owner.get(path, {"error": "1"}))
    assert (
        "No quota is known, because Task 1 is scored by another metric than the accuracy: Pearson correlation." in page
    )
    assert 'name="total_cap" value' not in page


def test_an_owner_turns_the_ladder_on_and_off(owner, benchmark):
    path = reverse("manage_phases", args=[benchmark.key])
    assert "Upload references of a task first" in compact(
        owner.post(path, {"action": "ladder", "ladder": "1"}, follow=True)
    )
    upload(owner, benchmark, b"id,reference\na,x\nb,y\n", metric="accuracy")
    assert "Turn the Ladder on" in compact(owner.get(path))
    assert "The Ladder is on." in compact(owner.post(path, {"action": "ladder", "ladder": "1"}, follow=True))
    assert has_ladder(benchmark)
    assert "The Ladder is off." in compact(owner.post(path, {"action": "ladder", "ladder": "0"}, follow=True))


def test_people_found_a_team_invite_others_and_leave(client, make, benchmark):
    path = reverse("team", args=[benchmark.key])
    ada, bob = make.user("Ada"), make.user("Bob")
    client.force_login(ada, backend=BACKEND)
    now = timezone.now()
    store_phase(
        benchmark, {"name": "Final", "opens_at": now - timedelta(days=1), "total_cap": 9}, author=owner_of(benchmark)
    )
    assert "in no team" in compact(client.post(path, {"action": "link"}, follow=True))
    page = compact(client.post(path, {"action": "found", "name": "Owls"}, follow=True))
    assert "In Final you can still submit 9 in all." in page
    page = compact(client.post(path, {"action": "link"}))
    link = page.split('data-copy="Copy the link"')[1].split(">", 1)[1].split("<")[0]
    client.force_login(bob, backend=BACKEND)
    assert "Ada invites you to this team of Hidden test" in compact(client.get(link))
    assert "You are in the team Owls." in compact(client.post(link, follow=True))
    assert client.get(link).status_code == 404
    assert "You left the team Owls." in compact(client.post(path, {"action": "leave"}, follow=True))
    assert team_of(bob, benchmark) is None


def test_a_phase_without_references_says_that_it_has_no_effect(owner, make, benchmark):
    path = reverse("manage_phases", args=[benchmark.key])
    address = reverse("manage_references", args=[benchmark.key])
    warning = (
        "No task has references yet, so phases have no effect: the board shows none, and scores are submitted as they "
        f'are. <a href="{address}">Upload references</a>.'
    )
    assert warning not in compact(owner.get(path))
    store_phase(benchmark, {"name": "Final", "opens_at": timezone.now()}, author=owner_of(benchmark))
    assert warning in compact(owner.get(path))
    upload(owner, benchmark, b"id,reference\na,yes\nb,no\n", metric="exact_match")
    assert warning not in compact(owner.get(path))


def test_a_team_sees_and_revokes_whom_it_invited_by_name(client, make, benchmark):
    path, ada = reverse("team", args=[benchmark.key]), make.user("Ada")
    team = found_team(benchmark, ada, "Owls")
    client.force_login(ada, backend=BACKEND)
    page = compact(client.post(path, {"action": "invite", "name": "Bob"}, follow=True))
    (invitation,) = team.invitations.all()
    until = invitation.expires_at.strftime("%-d %b %Y")
    for text in (
        "If exactly one person has this name, they get a notice with the invitation.",
        f'id="invitation-{invitation.pk}"',
        "<strong>Bob</strong>, if exactly one person has this name, until",
        until,
    ):
        assert text in page
    page = compact(client.post(path, {"action": "revoke", "invitation": invitation.pk}, follow=True))
    assert "The invitation is revoked; it no longer works." in page
    assert (team.invitations.count(), "<strong>Bob</strong>" in page) == (0, False)


def test_the_form_for_predictions_says_for_whom_and_what_they_can_no_longer_do_then(client, make):
    benchmark = texts_benchmark(make)
    values = {"name": "Final", "opens_at": timezone.now() - timedelta(days=1), "total_cap": 3}
    store_phase(benchmark, values, author=owner_of(benchmark))
    path, ada = reverse("new_predictions", args=[benchmark.key]), make.user("Ada")
    client.force_login(ada, backend=BACKEND)

    def before_the_button():
        page = client.get(path).content.decode()
        return " ".join(re.findall(r'<p class="notice">(.*?)</p>', page, re.DOTALL)[-1].split())

    more = "You can still submit 3 in all. A trial run does not count."
    assert before_the_button() == (
        f"You submit for yourself. After this you can no longer join a team of this benchmark. {more}"
    )
    team = found_team(benchmark, ada, "Owls")
    assert before_the_button() == (f"You submit for the team Owls. After this no member can leave the team. {more}")
    PredictionSubmission.objects.create(
        benchmark=benchmark, submitter=ada, team=team, source="form", statement={"name": "A"}
    )
    assert before_the_button() == f"You submit for the team Owls. {more}"


def test_problems_of_files_with_one_name_say_of_which_task_and_lead_to_its_field(client, make):
    benchmark = make.benchmark({}, n_tasks=2)
    for task in benchmark.tasks.all():
        add_references(task, REFERENCES, "exact_match", by=owner_of(benchmark))
    path = reverse("new_predictions", args=[benchmark.key])
    client.force_login(make.user("Ada"), backend=BACKEND)
    files = {f"file-{key}": SimpleUploadedFile("p.csv", b"id,prediction\n1,cat\n") for key in ("task-1", "task-2")}
    page = compact(client.post(path, {"system_name": "A"} | files))
    box = page.partition('role="alert"')[2].partition("<form")[0]
    assert re.findall(r"<li>(Task \d) \(p.csv\): ", box) == ["Task 1", "Task 2"]
    assert re.findall(r'<a href="#id_(file-task-\d)">(Task \d)</a>', box) == [
        ("file-task-1", "Task 1"), ("file-task-2", "Task 2"),
    ]  # fmt: skip
    for key in ("task-1", "task-2"):
        assert re.search(rf'<input type="file" name="file-{key}"[^>]*aria-invalid="true"', page)
    # Of one file for all tasks it is the field of that file.
    rows = b"task,id,prediction\nTask 1,1,cat\nTask 2,1,cat\n"
    page = compact(client.post(path, {"system_name": "A", "table": SimpleUploadedFile("all.csv", rows)}))
    box = page.partition('role="alert"')[2].partition("<form")[0]
    assert re.findall(r"<li>(Task \d) \(all.csv\): ", box) == ["Task 1", "Task 2"]
    assert re.findall(r'<a href="#(id_[^"]*)">([^<]*)</a>', box) == [("id_table", "One file for all tasks")]


def test_the_page_offers_to_leave_only_a_team_that_submitted_nothing(client, make, benchmark):
    path, ada = reverse("team", args=[benchmark.key]), make.user("Ada")
    team = found_team(benchmark, ada, "Owls")
    client.force_login(ada, backend=BACKEND)
    assert 'value="leave"' in compact(client.get(path))
    PredictionSubmission.objects.create(
        benchmark=benchmark, submitter=ada, team=team, source="form", statement={"name": "A"}
    )
    page = compact(client.get(path))
    assert 'value="leave"' not in page
    assert "so no one can leave it any more: everyone has one quota." in page
    assert "can no longer leave it" in compact(client.post(path, {"action": "leave"}, follow=True))
    assert team_of(ada, benchmark) == team


def test_who_was_invited_by_name_joins_on_the_page(client, make, benchmark):
    path = reverse("team", args=[benchmark.key])
    ada, bob = make.user("Ada"), make.user("Bob")
    invite_by_name(found_team(benchmark, ada, "Owls"), ada, bob.display_name)
    client.force_login(bob, backend=BACKEND)
    page = compact(client.get(path))
    assert "The team <strong>Owls</strong> invites you." in page
    number = page.split('name="invitation" value="')[1].split('"')[0]
    assert "You are in the team Owls." in compact(
        client.post(path, {"action": "accept", "invitation": number}, follow=True)
    )


def test_the_pages_ask_for_the_same_number_of_queries_whatever_there_is(
    owner, benchmark, django_assert_max_num_queries
):
    for n in (1, 3):
        for _ in range(n):
            upload(owner, benchmark, b"id,reference\na,x\nb,y\n", metric="accuracy")
        with django_assert_max_num_queries(7):
            owner.get(reverse("manage_references", args=[benchmark.key]))
        with django_assert_max_num_queries(7):
            owner.get(reverse("manage_task_references", args=[benchmark.key, "task-1"]))
        with django_assert_max_num_queries(8):
            owner.get(reverse("manage_phases", args=[benchmark.key]))


def test_the_board_says_how_predictions_count_and_leads_to_them(owner, benchmark, make):
    path = reverse("board", args=[benchmark.key])
    assert "hidden references" not in compact(owner.get(path))
    upload(owner, benchmark, b"id,reference\na,x\nb,y\n", metric="accuracy")
    now = timezone.now()
    store_phase(benchmark, {"name": "Final", "opens_at": now - timedelta(days=1)}, author=owner_of(benchmark))
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    page = compact(owner.get(path))
    assert "The site scores predictions against hidden references" in page
    assert "<li>Final is open</li>" in page
    assert "With the Ladder, a new score appears only if a paired test says that it is better" in page
    assert reverse("new_predictions", args=[benchmark.key]) in page


@pytest.mark.parametrize(
    ("is_cancelled", "last"),
    [
        (False, ["–", "submission", "skipped", "It is not better than the one before, which still counts."]),
        (True, ["✕", "cancelled", "by you"]),
    ],
)
def test_nothing_failed_of_predictions_that_do_not_count_or_were_cancelled(make, is_cancelled, last):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user, name="A", animals=labels_file())
    row, _ = submit_predictions(benchmark, user, predictions("A", animals=labels_file(["cat"] * 8)))
    if is_cancelled:
        cancel_predictions(row)
    else:
        score_all(benchmark)
    page = compact(signed_in(user).get(reverse("prediction", args=[row.uuid])))
    stages = page.split('<ol class="stages">')[1].split("</ol>")[0]
    assert re.findall(r"<span[^>]*>([^<]*)</span>", stages.split("<li")[-1]) == last
