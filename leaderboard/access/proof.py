"""Whose systems are proven to be: of how many people the scores of each were at every revision."""

from collections import defaultdict
from collections.abc import Collection

from django.db.models import F, Q

from leaderboard.models import Batch, Benchmark, Submission


def proven_systems(benchmark: Benchmark, users: Collection[int]) -> dict[int, frozenset[int]]:
    """The systems whose scores were someone's own at every revision: what restricted viewers see whole.

    A submission that waits proves nothing: anyone may send one for anyone's system. One that someone else withdrew
    still counts: its scores are on the boards of older revisions.

    Args:
        benchmark: where the systems are.
        users: ids of accounts.

    Returns:
        By the id of each account the ids of its systems: two queries, however many accounts there are.
    """
    # What was scored here is whose predictions it is, also where an owner had it scored again.
    people = {"uploader": F("batch__uploader"), "submitter": F("predictions__submitter")}
    rows = Submission.objects.filter(benchmark=benchmark).order_by().annotate(**people)
    accepted = rows.filter(Q(uploader__in=users) | Q(submitter__in=users), state=Submission.State.ACCEPTED)
    own = defaultdict(set)
    for system, *owners in accepted.values_list("system_id", *people).distinct():
        for owner in {*owners}.intersection(users):
            own[owner].add(system)
    ever_accepted = rows.filter(
        system__in=set[int]().union(*own.values()), state__in=[Submission.State.ACCEPTED, Submission.State.WITHDRAWN]
    ).exclude(batch__idempotency_key__startswith=Batch.SCORED_AGAIN)
    owners_of = defaultdict(list)
    for system, *owners in ever_accepted.values_list("system_id", *people).distinct():
        owners_of[system].append(owners)
    return {
        user: frozenset(system for system in own[user] if all(user in owners for owners in owners_of[system]))
        for user in users
    }
