"""Everything that the site keeps about one person, as one zip of CSV and JSON: for that person alone."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.db.models import Case, CharField, F, QuerySet, Value, When

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import tokens_of
from leaderboard.common.files import json_text, spreadsheet_csv_text
from leaderboard.common.zips import zip_of
from leaderboard.models import (
    AuditEntry,
    Ban,
    Batch,
    Benchmark,
    BenchmarkDraft,
    Draft,
    Experiment,
    FollowedAddress,
    Membership,
    MetaBoard,
    Notice,
    PredictionFile,
    Release,
    Revision,
    Score,
    SubmissionEvent,
    System,
    TaskReferences,
    TeamMembership,
    User,
    VoteBatch,
    VoteEvent,
    Webhook,
    WeightProfile,
)
from leaderboard.models.systems import PROVISIONAL

MAX_ROWS = 200_000  # of one table, the newest; the API has all scores
README = """Your data on this site

account.json       your account, its email addresses, linked accounts, sessions, tokens without their secrets, roles
submissions.csv    your submissions, and submitted.csv the scores in them
votes.csv          the batches of votes that you sent; the votes themselves are in the benchmark's download
predictions.csv    the files of predictions that you submitted
written.csv        what you wrote: notes, reasons, names of frozen revisions
hosting.csv        what you set up for benchmarks: webhooks, followed URLs, references
experiments.csv    the studies that you started with parameters of your own
notices.csv        the notices that you got
drafts.csv         what you have begun, and boards and weights that you saved

Times are in UTC. A table has at most {most:,} rows, the newest. Your password is kept as a hash, which is not in here.
"""


def own_data(user: User) -> bytes:
    """The zip of a user's data.

    Args:
        user: whose; no one else's names or addresses are in it.
    """
    files = {"README.txt": README.format(most=MAX_ROWS), "account.json": json_text(account_of(user))}
    for name, (heads, rows) in tables_of(user).items():
        files[name] = spreadsheet_csv_text([heads, *rows])
    return zip_of("plurank-data", {name: text.encode() for name, text in files.items()})


def account_of(user: User) -> dict[str, Any]:
    """The rows that are the account itself."""
    return {
        "email": user.email,
        "display_name": user.display_name,
        "organisation": user.organisation,
        "orcid": user.orcid,
        "joined": user.date_joined.isoformat(),
        "email_addresses": [
            {"email": row.email, "is_confirmed": row.verified, "is_primary": row.primary}
            for row in EmailAddress.objects.filter(user=user).order_by("pk")
        ],
        "linked_accounts": [
            {"site": row.provider, "number": row.uid, "linked": row.date_joined.isoformat(), "said": row.extra_data}
            for row in SocialAccount.objects.filter(user=user).order_by("pk")
        ],
        "sessions": [
            {"began": row.created_at.isoformat(), "address": row.ip, "browser": row.user_agent}
            for row in UserSession.objects.filter(user=user).order_by("pk")
        ],
        "tokens": [
            {"name": row.name, "scopes": row.scopes, "created": row.created.isoformat(), "expires": _moment(row.expiry)}
            for row in tokens_of(user)
        ],
        "organisations": [
            {"organisation": key, "role": role}
            for key, role in user.organisation_members.order_by("pk").values_list("organisation__key", "role")
        ],
        "teams": [
            {"benchmark": key, "team": name}
            for key, name in TeamMembership.objects.filter(user=user)
            .order_by("pk")
            .values_list("benchmark__key", "team__name")
        ],
        "notices": dict(user.notice_choices.order_by("kind").values_list("kind", "way")),
        "boards_seen": [
            {"benchmark": key, "last": last.isoformat(), "visit_before": _moment(before)}
            for key, last, before in user.visits.order_by("pk").values_list("benchmark__key", "at", "before")
        ],
        "bans": [
            {"benchmark": key, "since": since.isoformat()}
            for key, since in user.bans.order_by("pk").values_list("benchmark__key", "created_at")
        ],
        "answers_in_imports": [
            {"benchmark": key, "format": format_key, "answers": answers}
            for key, format_key, answers in user.import_choices.order_by("pk").values_list(
                "benchmark__key", "format_key", "choices"
            )
        ],
        "roles": [
            {"benchmark": key, "role": role}
            for key, role in Membership.objects.filter(user=user).order_by("pk").values_list("benchmark__key", "role")
        ],
    }


Table = tuple[Sequence[str], Iterator[Sequence[Any]]]


def tables_of(user: User) -> dict[str, Table]:
    """The tables of a user's data, by the names of their files."""
    scores = Score.objects.filter(submission__batch__uploader=user).order_by("-submission", "pk")
    submissions = Batch.objects.filter(uploader=user).order_by("-pk")
    written: list[tuple[str, QuerySet[Any], str, str]] = [
        ("note of a submission", Batch.objects.filter(uploader=user), "note", "created_at"),
        ("note of a revision", Revision.objects.filter(author=user), "note", "created_at"),
        ("reason of a decision", SubmissionEvent.objects.filter(actor=user), "reason", "at"),
        ("note of a batch of votes", VoteBatch.objects.filter(uploader=user), "note", "created_at"),
        ("reason of a decision on votes", VoteEvent.objects.filter(actor=user), "reason", "at"),
        ("reason of a change", AuditEntry.objects.filter(actor=user), "reason", "at"),
        ("reason of a ban", Ban.objects.filter(author=user), "reason", "created_at"),
        ("note of a frozen revision", Release.objects.filter(author=user), "note", "created_at"),
    ]
    hosting: list[tuple[str, QuerySet[Any], str, str, str]] = [
        ("webhook", Webhook.objects.filter(author=user), "benchmark__key", "address", "created_at"),
        ("followed URL", FollowedAddress.objects.filter(author=user), "benchmark__key", "address", "created_at"),
        (
            "references",
            TaskReferences.objects.filter(uploaded_by=user).order_by("-pk"),
            "task__benchmark__key",
            "file_name",
            "uploaded_at",
        ),
    ]
    drafts: list[tuple[str, QuerySet[Any], str, str]] = [
        ("draft of a submission", Draft.objects.filter(owner=user), "benchmark__key", "created_at"),
        ("draft of a benchmark", BenchmarkDraft.objects.filter(owner=user), "name", "created_at"),
        ("meta-board", MetaBoard.objects.filter(author=user), "name", "created_at"),
        ("saved weights", WeightProfile.objects.filter(author=user), "name", "created_at"),
    ]
    return {
        "submissions.csv": (
            ("benchmark", "submission", "sent", "way", "note"),
            _rows(submissions, "benchmark__key", "uuid", "created_at", "source", "note"),
        ),
        "submitted.csv": (
            ("submission", "state", "system", "task", "value", "missing", "standard_error", "instances"),
            _rows(
                scores.annotate(named=_system_name_for(user)), "submission__uuid", "submission__state", "named",
                "task__key", "value", "missing_reason", "standard_error", "n_instances",
            ),
        ),
        "votes.csv": (
            ("benchmark", "batch", "sent", "state", "votes"),
            _rows(
                VoteBatch.objects.filter(uploader=user).order_by("-pk"),
                "benchmark__key", "uuid", "created_at", "state", "n_votes",
            ),
        ),
        "predictions.csv": (
            ("benchmark", "submission", "sent", "state", "team", "note", "task", "file", "sha256", "predictions"),
            _rows(
                PredictionFile.objects.filter(prediction_submission__submitter=user).order_by("-pk"),
                "prediction_submission__benchmark__key", "prediction_submission__uuid",
                "prediction_submission__created_at", "prediction_submission__state",
                "prediction_submission__team__name", "prediction_submission__note", "task__key", "name", "sha256",
                "n_predictions",
            ),
        ),
        "written.csv": (
            ("what", "text", "written"),
            (
                (what, *row)
                for what, rows, text, at in written
                for row in _rows(rows.exclude(**{text: ""}), text, at)
            ),
        ),
        "hosting.csv": (
            ("what", "benchmark", "name", "since"),
            ((what, *row) for what, rows, *fields in hosting for row in _rows(rows, *fields)),
        ),
        "experiments.csv": (
            ("benchmark", "experiment", "study", "started"),
            _rows(
                Experiment.objects.filter(requested_by=user).order_by("-pk"),
                "benchmark__key", "pk", "study", "requested_at",
            ),
        ),
        "notices.csv": (
            ("kind", "text", "told", "read"),
            _rows(Notice.objects.filter(user=user).order_by("-pk"), "kind", "text", "created_at", "read_at"),
        ),
        "drafts.csv": (
            ("what", "name", "begun"),
            ((what, *row) for what, rows, *fields in drafts for row in _rows(rows, *fields)),
        ),
    }  # fmt: skip


def _system_name_for(user: User) -> Case:
    """Of a query of scores: the system's name; empty where its benchmark hides names and it is not proven the user's.

    A system that waits has the name that its submitter gave it.
    """
    unnamed: set[int] = set()
    for benchmark in Benchmark.objects.filter(submissions__batch__uploader=user).distinct():
        audience = audience_of(user, benchmark)
        if not (audience.may_read and audience.sees_names):
            submitted = System.objects.filter(benchmark=benchmark, submissions__batch__uploader=user)
            known = submitted.exclude(key__startswith=PROVISIONAL).values_list("pk", flat=True)
            unnamed |= set(known) - audience.proven_system_ids
    name = F("submission__system__name")
    return Case(When(submission__system__in=unnamed, then=Value("")), default=name, output_field=CharField())


def _rows(rows: QuerySet[Any], *fields: str) -> Iterator[Sequence[Any]]:
    for row in rows.values_list(*fields)[:MAX_ROWS].iterator(chunk_size=5000):
        yield [_moment(value) if isinstance(value, datetime) else value for value in row]


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
