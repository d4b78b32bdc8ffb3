"""How a benchmark collects and rates votes: chosen by its owners, and a voter whom it forgets."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext, gettext_lazy

from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.append_only import append_only_permit
from leaderboard.models import AuditEntry, Benchmark, User, VoteBatch, VoteEvent, VoteSettings
from leaderboard.submissions.problems import SubmissionError
from leaderboard.votes.content import hashes_of
from leaderboard.votes.jobs import take_change
from ranking_engine.votes.columns import column_key
from ranking_engine.votes.packing import packed_votes, unpacked_votes, without_voter
from ranking_engine.votes.reading import MAX_COVARIATES

FIELDS = VoteSettings.CHOSEN
CLUSTERS = {
    "vote": gettext_lazy("each vote by itself"),
    "voter": gettext_lazy("votes of one person together"),
    "prompt": gettext_lazy("votes on one prompt together"),
}
MIN_RESAMPLES, MAX_RESAMPLES = 100, 500  # the engine takes no fewer
OF_RATINGS = ("tie_model", "cluster", "covariates", "n_resamples", "shows_elo")  # the other one is about downloads


@transaction.atomic
def start_collecting(benchmark: Benchmark, *, author: User) -> VoteSettings:
    """Let a benchmark that no one has submitted to collect votes, for good.

    Raises:
        SubmissionError: it has submissions, or collects votes already.
    """
    locked = lock_as_owner(benchmark.pk, author)
    if locked.kind == Benchmark.Kind.VOTES:
        raise SubmissionError(gettext("This benchmark collects votes already."))
    if locked.batches.exists():
        raise SubmissionError(gettext("This benchmark has submissions of scores. Create another one for votes."))
    before = {"kind": locked.kind}
    locked.kind = Benchmark.Kind.VOTES
    locked.save(update_fields=["kind"])
    changes = changes_between(AuditEntry.Subject.BENCHMARK, locked.key, before, {"kind": locked.kind})
    record_changes(locked, changes, actor=author)
    return VoteSettings.objects.get_or_create(benchmark=locked)[0]


def checked_covariates(names: Sequence[str]) -> list[str]:
    """The covariates as votes' columns are called, each once.

    Raises:
        ValidationError: there are too many, or one is there twice.
    """
    keys = [column_key(name) for name in names if name.strip()]
    if len(keys) > MAX_COVARIATES or len(set(keys)) < len(keys):
        raise ValidationError(gettext("Name each covariate once, and at most %(n)s.") % {"n": MAX_COVARIATES})
    return keys


def checked_resamples(n: int) -> int:
    """How many resamples intervals have; 0 for none.

    Raises:
        ValidationError: it is too few, or too many.
    """
    if n and not MIN_RESAMPLES <= n <= MAX_RESAMPLES:
        raise ValidationError(
            gettext("Write 0, or a number from %(least)s to %(most)s.")
            % {"least": MIN_RESAMPLES, "most": MAX_RESAMPLES}
        )
    return n


@transaction.atomic
def change_vote_settings(benchmark: Benchmark, values: Mapping[str, Any], *, author: User, reason: str = "") -> int:
    """Store how votes are rated, with what changed in the trail; ratings follow by themselves.

    Args:
        benchmark: which collects votes.
        values: checked, by the names of FIELDS; those that are left out stay.
        author: who changes them.
        reason: why.

    Returns:
        How many changed.
    """
    locked = lock_as_owner(benchmark.pk, author)
    chosen = VoteSettings.objects.get(benchmark=locked)
    before = {name: getattr(chosen, name) for name in FIELDS}
    after = before | dict(values)
    for name in FIELDS:
        setattr(chosen, name, after[name])
    chosen.save(update_fields=FIELDS)
    changes = [
        change
        for name in FIELDS
        for change in changes_between(
            AuditEntry.Subject.SETTING, f"votes: {name}", {"value": before[name]}, {"value": after[name]}
        )
    ]
    record_changes(locked, changes, actor=author, reason=reason)
    has_votes = VoteBatch.objects.filter(benchmark=locked, state=VoteBatch.State.ACCEPTED).exists()
    if has_votes and any(before[name] != after[name] for name in OF_RATINGS):
        take_change(locked)
    return len(changes)


@transaction.atomic
def forget_voter(benchmark: Benchmark, voter: str, *, author: User, reason: str) -> int:
    """Remove one voter's hash from all votes of a benchmark. The votes stay; nothing says any more whose they are.

    Args:
        benchmark: which collects votes.
        voter: as the files called them. It is not stored, and is not in the trail.
        author: who removes it.
        reason: why.

    Returns:
        In how many batches they had votes.
    """
    locked = lock_as_owner(benchmark.pk, author)
    key = bytes(VoteSettings.objects.get(benchmark=locked).voter_key)
    voter_id = int(hashes_of([voter], key)[0])
    n_batches = 0
    with append_only_permit("someone who voted is forgotten"):
        for batch in VoteBatch.objects.filter(benchmark=locked).order_by("pk").iterator(chunk_size=1):
            left = without_voter(unpacked_votes(bytes(batch.votes)), voter_id)
            if left is None:
                continue
            VoteBatch.objects.filter(pk=batch.pk).update(votes=packed_votes(left), n_voters=len(left.voter_ids))
            if batch.state != VoteBatch.State.DRAFT:
                VoteEvent.objects.create(
                    batch=batch, kind=VoteEvent.Kind.FORGOTTEN, actor=author, reason=reason
                )  # fmt: skip
            n_batches += 1
    if n_batches and VoteBatch.objects.filter(benchmark=locked, state=VoteBatch.State.ACCEPTED).exists():
        take_change(locked)
    return n_batches
