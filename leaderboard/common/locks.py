"""Locks: a request that counts a person's rows and adds one waits for others that do the same."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import F

from leaderboard.models import User


@contextmanager
def user_lock(user: User) -> Iterator[None]:
    """A transaction beside which no other one of the same user's is inside this.

    An UPDATE that changes nothing keeps the user's row until the transaction ends; SQLite has one writer anyway.
    """
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(n_benchmarks_made=F("n_benchmarks_made"))
        yield
