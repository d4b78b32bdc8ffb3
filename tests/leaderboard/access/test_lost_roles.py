"""Someone's role is taken away while their request is on its way: nothing is done by that role any more.

Each route that does something by a role is asked by a person who loses theirs after the check at the door, as the
first transaction begins. The routes are those of the tables of permissions, which name every one there is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import HttpResponse

from leaderboard.models import Membership
from tests.factories import Factory
from tests.leaderboard.api import test_permissions as api
from tests.leaderboard.site import world as site

REFUSALS = (b"You do not own this benchmark any more.", b"You are no moderator or owner of this benchmark any more.")
# Where people without any role are asked for, too, the words are those that these get.
IN_OTHER_WORDS = {
    "submit~owned": b"Only its owners can submit scores.",
    "votes~owned": b"Only its owners can submit scores.",
    "vote_step": b"Only the moderators and owners of a benchmark can decide on submissions.",
    "vote_batch": b"Only the moderators and owners of a benchmark can decide on submissions.",
    "organisation_of_benchmark": b"You can give a benchmark that you own to an organisation that you own.",
}
NO_ROLE_NEEDED = {
    # Roles in an organisation, which have a lock of their own, and meta-boards of their authors.
    "organisation", "delete_organisation", "organisation_member", "organisation_invitations", "leave_organisation",
    "revoke_organisation_invitation", "manage_organisation", "manage_organisation~invite",
    "meta_board", "delete_meta_board", "manage_meta_board",
    # Drafts and previews, of their authors alone: what makes them come true looks the role up again.
    "submit~owners", "upload~owners", "send_votes~owners", "correct", "tasks~dry", "manage_tasks",
    # The world of the test has another policy for the first of these; the second gives predictions to read, and what is
    # reported of them needs the role. The forms of the others name nothing, or come back once a password was typed in.
    "new_predictions~owners", "claim_evaluation", "manage_queue", "manage_clusters", "manage_webhooks",
}  # fmt: skip
OWN_VOTES = {"vote_step", "vote_batch"}  # of the owner, who may withdraw them as their sender


@contextmanager
def losing_roles() -> Iterator[list[str]]:
    """In the block all roles on benchmarks end as the first transaction begins after a role was looked up.

    Gives a list of what came to pass so far.
    """
    moments: list[str] = []

    def lose(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if '"leaderboard_membership"' in sql and not moments:
            moments.append("looked up")
        elif sql.startswith("SAVEPOINT") and moments == ["looked up"]:
            moments.append("gone")
            Membership.objects.all().delete()
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(lose):
        yield moments


def roles_needed(route: str, answers: dict[str, str]) -> list[str]:
    """Of which roles a route needs one to do something for someone who sent nothing themselves."""

    def is_done(answer: str) -> bool:
        return answer.startswith("->") or answer in ("200", "201", "202")

    if route in NO_ROLE_NEEDED or is_done(answers["stranger"]):
        return []
    roles = ["moderator"] if route in OWN_VOTES else ["moderator", "owner"]
    return [role for role in roles if is_done(answers[role])]


OF_API = [
    pytest.param(row, role, id=f"{row} {role}")
    for row in api.ROWS
    if row.visibility == "public" and row.method != "GET"
    for role in roles_needed(row.route, row.answers)
]
OF_SITE = [
    pytest.param(row, role, id=f"{row} {role}")
    for row in site.rows()
    if row.visibility == "public" and row.method == "POST"
    for role in roles_needed(row.route, dict(zip(site.USERS, row.answers, strict=True)))
]


def assert_refused(route: str, answer: HttpResponse, moments: list[str]) -> None:
    """The role went between the check and the lock, and it was the lock that refused."""
    assert (moments, answer.status_code) == (
        ["looked up", "gone"],
        409 if route == "organisation_of_benchmark" else 403,
    )
    refusals = [IN_OTHER_WORDS[route]] if route in IN_OTHER_WORDS else REFUSALS
    assert any(refusal in answer.content for refusal in refusals)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        yield api.World(Factory(), "public")
        transaction.set_rollback(True)


@pytest.mark.parametrize(("row", "role"), OF_API)
def test_a_program_does_nothing_by_a_role_that_is_gone(world, row, role):
    with losing_roles() as moments:
        answer = world.ask(row, role)
    assert_refused(row.route, answer, moments)


@pytest.fixture(scope="module")
def site_world(make_once):
    return site.World(make_once, "public")


@pytest.mark.parametrize(("row", "role"), OF_SITE)
def test_a_page_does_nothing_by_a_role_that_is_gone(site_world, row, role):
    client, path, form = site_world.client(role), site_world.path(row.route), site_world.form(row.route)
    before = transaction.savepoint()
    try:
        with losing_roles() as moments:
            answer = client.post(path, form)
    finally:
        transaction.savepoint_rollback(before)
    assert_refused(row.route, answer, moments)
