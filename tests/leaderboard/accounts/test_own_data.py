"""The zip of one's own data: all of it, and of no one else."""

import csv
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.accounts.own_data import own_data
from leaderboard.accounts.tokens import create_token
from leaderboard.models import (
    Ban,
    Benchmark,
    Experiment,
    FollowedAddress,
    ImportChoices,
    NoticeChoice,
    User,
    Visit,
    Webhook,
)
from leaderboard.models.submissions import Source
from leaderboard.submissions.lifecycle import store_batch
from tests.factories import TOY, owner_of
from tests.signing_in import confirm_password, signed_in

MOMENT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def files_of(packed: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name.partition("/")[2]: archive.read(name).decode() for name in archive.namelist()}


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def person(make):
    """Someone who submitted a system, has a token, and whose notes begin like a formula."""
    user = make.user("ada", organisation="Analytical Engines", orcid="0000-0002-1825-0097")
    benchmark = make.benchmark(submission_policy="moderated")
    cells = {f"task-{t}": {"value": float(t)} for t in (1, 2, 4, 5)} | {"task-3": {"missing": "not_reported"}}
    system = {"name": "Mine", "organisation": "", "url": "", "description": ""}
    row = {"system": system, "scores": dict(sorted(cells.items())), "line": None}
    store_batch(benchmark, user, [row], source=Source.API, note="=1+1")
    _, secret = create_token(user, name="laptop", scopes=["read"], days=30)
    return user, benchmark, secret


def test_it_has_account_submissions_and_texts_and_no_secret(person):
    user, benchmark, secret = person
    files = files_of(own_data(user))
    account = json.loads(files["account.json"])
    assert {name: account[name] for name in ("email", "display_name", "organisation", "orcid")} == {
        "email": user.email, "display_name": "ada", "organisation": "Analytical Engines",
        "orcid": "0000-0002-1825-0097",
    }  # fmt: skip
    assert [token["name"] for token in account["tokens"]] == ["laptop"]
    [submission] = rows_of(files["submissions.csv"])
    assert (submission["benchmark"], submission["way"], submission["note"]) == (benchmark.key, "api", "'=1+1")
    scores = [(row["system"], row["task"], row["value"], row["missing"]) for row in rows_of(files["submitted.csv"])]
    assert scores == [
        ("Mine", "task-1", "1.0", ""), ("Mine", "task-2", "2.0", ""), ("Mine", "task-3", "", "not_reported"),
        ("Mine", "task-4", "4.0", ""), ("Mine", "task-5", "5.0", ""),
    ]  # fmt: skip
    assert [(row["what"], row["text"]) for row in rows_of(files["written.csv"])] == [("note of a submission", "'=1+1")]
    User.objects.filter(pk=user.pk).update(password="argon2-of-the-password")
    whole = "".join(files_of(own_data(User.objects.get(pk=user.pk))).values())
    assert [text for text in (secret, "argon2-of-the-password") if text in whole] == []


def test_it_has_what_one_set_up_chose_and_looked_at(make):
    user = make.user("ada")
    benchmark = make.published()
    other = make.published(key="other")
    Webhook.objects.create(benchmark=benchmark, author=user, address="https://hook.example/board")
    FollowedAddress.objects.create(
        benchmark=benchmark, author=user, address="https://lab.example/scores.csv", kind="file", every_minutes=60,
        next_at=MOMENT,
    )  # fmt: skip
    experiment = Experiment.objects.create(
        benchmark=benchmark, revision=benchmark.publication.revision, study="diversity", parameters={},
        parameter_hash="hash", engine_version="1", estimate=1.0, requested_by=user,
    )  # fmt: skip
    NoticeChoice.objects.create(user=user, kind="overtaken", way="off")
    Visit.objects.create(user=user, benchmark=other, at=MOMENT)
    Ban.objects.create(benchmark=other, user=user, author=owner_of(other), reason="Spam by zebra")
    ImportChoices.objects.create(benchmark=benchmark, user=user, format_key="csv", choices={"tasks": {"a": "b"}})
    files = files_of(own_data(user))
    hosting = [(row["what"], row["benchmark"], row["name"]) for row in rows_of(files["hosting.csv"])]
    assert hosting == [
        ("webhook", benchmark.key, "https://hook.example/board"),
        ("followed URL", benchmark.key, "https://lab.example/scores.csv"),
    ]
    experiments = [(row["benchmark"], row["experiment"], row["study"]) for row in rows_of(files["experiments.csv"])]
    assert experiments == [(benchmark.key, str(experiment.pk), "diversity")]
    account = json.loads(files["account.json"])
    assert account["notices"] == {"overtaken": "off"}
    assert account["boards_seen"] == [{"benchmark": "other", "last": MOMENT.isoformat(), "visit_before": None}]
    assert [ban["benchmark"] for ban in account["bans"]] == ["other"]
    assert account["answers_in_imports"] == [
        {"benchmark": benchmark.key, "format": "csv", "answers": {"tasks": {"a": "b"}}}
    ]
    assert "zebra" not in "".join(files.values())


def test_nothing_of_anyone_else_is_in_it(person, make):
    user, benchmark, _ = person
    other = make.user("zebra")
    make.pending(benchmark, {name + "!": values for name, values in TOY.items()}, by=other)
    owner = benchmark.memberships.get(role="owner").user
    whole = "".join(files_of(own_data(user)).values())
    assert [text for text in ("zebra", other.email, owner.email, "A!") if text in whole] == []


def test_only_the_person_who_signed_in_a_moment_ago_gets_it(person, client):
    assert client.get("/account/data.zip")["Location"].startswith("/account/login/")
    User.objects.filter(pk=person[0].pk).update(password="set")  # one without any is asked for nothing
    person[0].refresh_from_db()
    browser = signed_in(person[0])
    assert browser.get("/account/data.zip")["Location"].startswith("/account/reauthenticate/")
    answer = confirm_password(browser, person[0]).get("/account/data.zip")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert "no-store" in answer["Cache-Control"]
    assert "README.txt" in files_of(answer.content)


def test_the_page_on_privacy_names_settings_that_there_are_and_the_footer_leads_to_it(client, db):
    text = (settings.ROOT / "docs" / "privacy.md").read_text()
    documented = set(re.findall(r"^\| `(\w+)` \|", (settings.ROOT / "docs" / "settings.md").read_text(), re.MULTILINE))
    assert set(re.findall(r"`(PLURANK_\w+|SENTRY_DSN)`", text)) <= documented
    footer = client.get("/").content.decode().partition("<footer")[2]
    for path in ("/docs/privacy/", "/docs/accessibility/"):
        assert f'href="{path}"' in footer
        assert client.get(path).status_code == 200


def test_it_does_not_name_a_system_whose_name_is_hidden_and_which_is_not_proven_ones_own(make):
    user = make.user("ada")
    benchmark = make.published(TOY, submission_policy="moderated", anonymous_until=timezone.now() + timedelta(days=1))
    make.pending(benchmark, {next(iter(TOY)): [9.0] * 5}, by=user)
    make.pending(benchmark, {"Newcomer": [1.0] * 5}, by=user)
    submitted = {(row["system"], row["value"]) for row in rows_of(files_of(own_data(user))["submitted.csv"])}
    assert submitted == {("", "9.0"), ("Newcomer", "1.0")}
    Benchmark.objects.filter(pk=benchmark.pk).update(anonymous_until=None)
    named = {row["system"] for row in rows_of(files_of(own_data(user))["submitted.csv"])}
    assert named == {next(iter(TOY)), "Newcomer"}
