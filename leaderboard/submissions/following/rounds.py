"""Keeping benchmarks in step with the addresses that they follow: one round of the sweep.

An address is claimed by one conditional UPDATE, fetched while no transaction is open, and taken over in one
transaction with the history of the fetch. Who is killed in between leaves it claimed; it comes due again.

Two sites that follow each other come to rest. Rows that say what the board says make no submission; content that came
from the address before and comes back waits for a person; and so does what comes after so many changes in a day.
"""

import logging
import random
import time
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import Coalesce, RowNumber
from django.urls import reverse
from django.utils import timezone, translation

from leaderboard.access.audience import audience_of
from leaderboard.access.locks import lock_benchmark
from leaderboard.common.language.numbers import PROGRAMS
from leaderboard.common.language.sentences import Sentence
from leaderboard.common.text import in_a_list
from leaderboard.models import Draft, Fetch, FollowedAddress, Membership, NoticeKind, User
from leaderboard.models.submissions import Source
from leaderboard.notifications.fetching import MAX_REDIRECTS
from leaderboard.notifications.notices import tell
from leaderboard.notifications.posting import AddressError, PostError
from leaderboard.notifications.switching_off import FOLLOWED, tell_of_switching_off
from leaderboard.notifications.webhooks import address_without_secret
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.following.contents import ALL_SECONDS, Content, fetch_content
from leaderboard.submissions.following.rows import changed_rows
from leaderboard.submissions.importing.choices import kept_assignment, read_with_kept
from leaderboard.submissions.imports import note_of, rows_of_import, suggested
from leaderboard.submissions.lifecycle import require_may_submit
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.files.problems import InputError, Problems
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers.results_table import Import
from ranking_engine.text.characters import writable

logger = logging.getLogger(__name__)

AT_ONCE, OF_ONE_OWNER = 10, 2  # addresses, in one round
TAKING_OVER = timedelta(minutes=3)  # reading what arrived, and making submissions of it
MAX_FAILURES, FAILING_FOR = 10, timedelta(days=1)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=10), timedelta(hours=6)  # after failures
SCATTER = 0.1  # the share of a pause that it may be shorter or longer
DIRECT_A_DAY = 24  # changes of one address that join the board without a person
KEPT = 200  # fetches of one address, of each outcome
ERROR_LENGTH = 2000
SHOWN_NAMES = 20  # columns and tasks that an error names
# What the columns of another site's table of scores are; some may be empty, so that nothing shows what they are.
BOARD_COLUMNS = {
    "system": "system",
    "task": "task",
    "score": "score",
    "stderr": "stderr:score",
    "n": "n:score",
    "missing": "missing",
}
WHY_LEFT = Sentence("Its owner left. If you switch it on, it becomes yours.")
WHY_FAILED = Sentence("No fetch succeeded for a day.")
SITE_ERROR = "An error of this site; its operators can read more in the log."
Outcome = Fetch.Outcome


def fetch_due_addresses() -> int:
    """Fetch what is due, each owner's first address before any owner's second; any number of sweepers is harmless.

    Returns:
        How many addresses were fetched.
    """
    now = timezone.now()
    whose = Coalesce("author_id", 0 - F("benchmark_id"))
    turn = Window(RowNumber(), partition_by=[whose], order_by=[F("next_at").asc(), F("pk").asc()])
    due = FollowedAddress.objects.filter(is_active=True, next_at__lte=now).annotate(turn=turn)
    rows = due.filter(turn__lte=OF_ONE_OWNER).order_by("turn", "next_at", "pk")[:AT_ONCE]
    n_fetched = 0
    for pk, next_at in list(rows.values_list("pk", "next_at")):
        claimed = FollowedAddress.objects.filter(pk=pk, is_active=True, next_at=next_at)
        if claimed.update(next_at=timezone.now() + _longest_turn()):
            bring_into_step(FollowedAddress.objects.select_related("benchmark", "author").get(pk=pk))
            n_fetched += 1
    return n_fetched


def _longest_turn() -> timedelta:
    # Longer than any fetch may take: that of a list's last file begins before the list's time is over.
    longest_fetch = timedelta(seconds=ALL_SECONDS + (MAX_REDIRECTS + 1) * settings.FOLLOW_SECONDS)
    return longest_fetch + TAKING_OVER


def longest_rest(every_minutes: int | None = None) -> timedelta:
    """How far ahead the next fetch of an address is at most.

    Args:
        every_minutes: how often it is fetched; None for an address whose last fetch failed.
    """
    pause = LONGEST_PAUSE if every_minutes is None else timedelta(minutes=every_minutes)
    return max(pause * (1 + SCATTER), _longest_turn())


@translation.override(PROGRAMS)
def bring_into_step(followed: FollowedAddress) -> Fetch | None:
    """Fetch one address, and take over what changed.

    Returns:
        The attempt, as it is in the history; None where the address was switched off or deleted meanwhile.
    """
    owners = Membership.objects.filter(benchmark=followed.benchmark_id, role=Membership.Role.OWNER)
    if not owners.filter(user=followed.author_id).exists():
        _switch_off(followed, WHY_LEFT)
        return None
    began = time.monotonic()
    fetch = Fetch(followed=followed)
    try:
        content = fetch_content(followed)
        etags = [validators.etag for validators in content.validators.values()]
        fetch.status_code, fetch.n_bytes = content.status, content.n_bytes
        fetch.etag = etags[0] if len(etags) == 1 else ""
        if content.files is not None:
            fetch.content_hash = content.sha256
        is_known = content.files is None or fetch.content_hash == followed.content_hash
        results = None
        if content.files is not None and followed.author and (followed.is_asked_for or not is_known):
            columns = ColumnChoices(roles=BOARD_COLUMNS) if followed.kind == FollowedAddress.Kind.BOARD else None
            results, _ = read_with_kept(followed.benchmark, followed.author, content.files, "", columns)
        fetch.seconds = time.monotonic() - began
        return take_content(followed, fetch, content, results)
    except (PostError, AddressError, InputError, SubmissionError) as error:
        fetch.status_code = getattr(error, "status", fetch.status_code)
        fetch.error = writable(str(error))[:ERROR_LENGTH]
    except Exception:  # whatever one address brings, the others are fetched
        logger.exception("could not take over what %s brought", followed)
        fetch.error = SITE_ERROR
    fetch.seconds = time.monotonic() - began
    return note_failure(followed, fetch)


@transaction.atomic
def take_content(followed: FollowedAddress, fetch: Fetch, content: Content, results: Import | None) -> Fetch | None:
    """Store what an attempt brought, with what comes of it; all of it or nothing."""
    benchmark = lock_benchmark(followed.benchmark_id)
    row = FollowedAddress.objects.select_for_update().filter(pk=followed.pk, is_active=True).first()
    if row is None or row.author_id != followed.author_id:
        return None
    row.benchmark, row.author = benchmark, followed.author
    fetch.outcome = Outcome.UNCHANGED
    if results is not None and followed.author is not None:
        _take_results(row, followed.author, fetch, results)
    fetch.save()
    if fetch.outcome == Outcome.DRAFT and followed.author_id:
        n = fetch.n_new + fetch.n_changed
        sentence = Sentence(
            "A URL that %(benchmark)s follows has new scores of %(n)s system: check and confirm the draft.",
            "A URL that %(benchmark)s follows has new scores of %(n)s systems: check and confirm the draft.",
        ).of(benchmark=benchmark.name, n=n)
        path, key = reverse("draft", args=[fetch.draft_uuid]), f"fetch {fetch.pk}"
        tell([followed.author_id], NoticeKind.FOLLOWED, key=key, sentence=sentence, path=path, benchmark=benchmark)
    row.content_hash = fetch.content_hash or row.content_hash
    row.validators = {address: [one.etag, one.last_modified] for address, one in content.validators.items()}
    row.n_failures, row.failing_since, row.is_asked_for = 0, None, False
    row.next_at = timezone.now() + _scattered(timedelta(minutes=row.every_minutes))
    row.save(
        update_fields=["content_hash", "validators", "n_failures", "failing_since", "is_asked_for", "next_at"],
    )
    _forget_old(row, fetch.outcome)
    return fetch


def _take_results(row: FollowedAddress, author: User, fetch: Fetch, results: Import) -> None:
    """Compare what was read with the board; what differs becomes a draft, or joins the board."""
    benchmark = row.benchmark
    audience = audience_of(author, benchmark)
    require_may_submit(audience)
    assignment = suggested(benchmark, results, kept_assignment(benchmark, author, results))
    if not any(text.strip() for text in assignment.tasks.values()):
        columns = in_a_list([column.name for column in results.columns], SHOWN_NAMES)
        tasks = in_a_list(list(benchmark.tasks.filter(is_archived=False).values_list("name", flat=True)), SHOWN_NAMES)
        problems = Problems()
        problems.add("", f"no column is named like a task; the columns are {columns}, and the tasks are {tasks}")
        raise InputError(problems)
    changes = changed_rows(audience, rows_of_import(audience, results, assignment))
    fetch.n_new, fetch.n_changed = changes.n_new, len(changes.rows) - changes.n_new
    if not changes.rows:
        return
    note = note_of(results, f"Fetched from {address_without_secret(row.address)}.")
    taken = row.fetches.filter(outcome__in=[Outcome.DRAFT, Outcome.ACCEPTED])
    comes_back = not row.is_asked_for and taken.filter(content_hash=fetch.content_hash).exists()
    n_of_today = taken.filter(outcome=Outcome.ACCEPTED, at__gt=timezone.now() - timedelta(days=1)).count()
    may_join = row.creates_systems or not changes.n_new
    if row.is_direct and may_join and not comes_back and n_of_today < DIRECT_A_DAY:
        upload = Upload(
            rows=changes.rows, is_imported=True, note=note, creates_systems=True, payload_hash=fetch.content_hash
        )
        batch, _ = submit_upload(benchmark, author, upload)
        fetch.batch_uuid, fetch.outcome = batch.uuid, Outcome.ACCEPTED
        return
    Draft.objects.filter(uuid__in=list(taken.exclude(draft_uuid=None).values_list("draft_uuid", flat=True))).delete()
    draft = make_draft(audience, changes.rows, source=Source.IMPORTER, note=note)
    for checked in draft.rows:  # a row is no line of a file
        checked["line"] = None
    draft.save(update_fields=["rows"])
    fetch.draft_uuid, fetch.outcome = draft.uuid, Outcome.DRAFT


@transaction.atomic
def note_failure(followed: FollowedAddress, fetch: Fetch) -> Fetch | None:
    """Store an attempt that failed; the address is tried again later, or switched off."""
    row = FollowedAddress.objects.select_for_update().filter(pk=followed.pk, is_active=True).first()
    if row is None:
        return None
    now = timezone.now()
    fetch.outcome = Outcome.FAILED
    fetch.save()
    row.n_failures, row.failing_since, row.is_asked_for = row.n_failures + 1, row.failing_since or now, False
    row.next_at = now + _scattered(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(row.n_failures - 1, 10)))
    row.save(update_fields=["n_failures", "failing_since", "is_asked_for", "next_at"])
    _forget_old(row, fetch.outcome)
    if row.n_failures >= MAX_FAILURES and row.failing_since <= now - FAILING_FOR:
        _switch_off(row, WHY_FAILED)
    return fetch


def _scattered(pause: timedelta) -> timedelta:
    """The pause, give or take a tenth, so that not all sites ask one address at the same second."""
    return pause * random.uniform(1 - SCATTER, 1 + SCATTER)  # noqa: S311 -- jitter


def _forget_old(row: FollowedAddress, outcome: str) -> None:
    old = row.fetches.filter(outcome=outcome).order_by("-pk").values_list("pk", flat=True)[KEPT:]
    Fetch.objects.filter(pk__in=list(old)).delete()


@transaction.atomic
def _switch_off(followed: FollowedAddress, why: Sentence) -> None:
    if FollowedAddress.objects.filter(pk=followed.pk, is_active=True).update(is_active=False, why_off=why.text):
        tell_of_switching_off(FOLLOWED, followed, followed.benchmark, why)
