"""Weights kept under a name: a reader's own, and those that owners publish for all readers of a benchmark."""

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.locks import user_lock
from leaderboard.models import Benchmark, WeightProfile
from leaderboard.models.weights import PROFILE_NAME_LENGTH
from leaderboard.rankings.configuration import BoardConfiguration
from leaderboard.rankings.weights import Weights, read_weights
from ranking_engine.text.names import clean_name, name_problem

MAX_PROFILES = 50  # of one person on one benchmark


class ProfileError(ValueError):
    """A profile that cannot be kept; the message says why, in words for its author."""


@dataclass(frozen=True)
class WeightProfileRow:
    """A profile as the page lists it."""

    id: int
    name: str
    is_published: bool
    is_own: bool
    weights: Weights
    aggregation: str


def profiles_for(audience: Audience, configuration: BoardConfiguration) -> list[WeightProfileRow]:
    """The published profiles of a benchmark, then the viewer's own; in one query.

    Tasks and groups that the revision does not have any more are passed over.
    """
    is_visible = Q(is_published=True)
    if audience.viewer.is_authenticated:
        is_visible |= Q(author=audience.viewer)
    rows = WeightProfile.objects.filter(is_visible, benchmark=audience.benchmark).order_by(
        "-is_published", "name", "pk"
    )
    tasks = {task.key for task in configuration.tasks}
    groups = {group.key for group in configuration.groups}
    profiles = []
    for row in rows:
        weights = read_weights(
            {key: weight for key, weight in row.task_weights.items() if key in tasks},
            {key: weight for key, weight in row.group_weights.items() if key in groups},
            configuration,
        )
        is_own = row.author_id == audience.viewer.pk
        profiles.append(WeightProfileRow(row.pk, row.name, row.is_published, is_own, weights, row.aggregation))
    return profiles


def keep_profile(
    audience: Audience,
    *,
    name: str,
    weights: Weights,
    aggregation: str,
    is_published: bool,
) -> WeightProfile:
    """Keep weights under a name; the author's own profile of this name is replaced.

    Raises:
        ProfileError: the name is none, is taken by a published profile, or there are too many of them; or someone
            who does not own the benchmark would publish.
    """
    benchmark, author = audience.benchmark, audience.user
    name = clean_name(name)
    if problem := name_problem(name):
        raise ProfileError(in_page_language(f"The name {problem}."))
    if len(name) > PROFILE_NAME_LENGTH:
        raise ProfileError(
            gettext("The name has %(n_name)s characters; at most %(profile_name_length)s are kept.")
            % {"n_name": len(name), "profile_name_length": PROFILE_NAME_LENGTH}
        )
    if is_published and not audience.may_administer:
        raise ProfileError(gettext("Only the owners of a benchmark can publish weights for all readers."))
    if aggregation and aggregation not in Benchmark.Aggregation.values:
        raise ProfileError(gettext("There is no such aggregation of tasks and groups."))
    kept = {
        "task_weights": dict(weights.tasks),
        "group_weights": dict(weights.groups),
        "aggregation": aggregation,
        "is_published": is_published,
    }
    try:
        with transaction.atomic():
            if is_published:
                lock_as_owner(benchmark.pk, author)
            with user_lock(author):
                own = WeightProfile.objects.filter(benchmark=benchmark, author=author)
                if own.exclude(name=name).count() >= MAX_PROFILES:
                    raise ProfileError(
                        gettext("You have %(max_profiles)s saved profiles, which is the limit. Delete one first.")
                        % {"max_profiles": MAX_PROFILES}
                    )
                row, _ = WeightProfile.objects.update_or_create(
                    benchmark=benchmark, author=author, name=name, defaults=kept
                )
    except IntegrityError as error:
        raise ProfileError(
            gettext("Another owner has published weights under this name; choose another one.")
        ) from error
    return row


def delete_profile(audience: Audience, profile_id: int) -> bool:
    """Delete the user's own profile; owners delete any published one. Returns whether there was such a one.

    Raises:
        PermissionDenied: it is someone else's, and the user does not own the benchmark any more.
    """
    rows = WeightProfile.objects.filter(benchmark=audience.benchmark, pk=profile_id)
    if rows.filter(author=audience.user).delete()[0]:
        return True
    if not audience.may_administer:
        return False
    with transaction.atomic():
        lock_as_owner(audience.benchmark.pk, audience.user)
        return rows.filter(is_published=True).delete()[0] > 0
