"""Roles in an organisation and its benchmarks while both change at the same moment."""

from collections.abc import Callable

import pytest

from leaderboard.accounts.organisations.founding import (
    OrganisationError,
    delete_organisation,
    describe_organisation,
    found_organisation,
    move_in,
    take_out,
)
from leaderboard.accounts.organisations.members import (
    change_member,
    invite_to_organisation,
    revoke_organisation_invitation,
)
from leaderboard.models import (
    Benchmark,
    Membership,
    Organisation,
    OrganisationInvitation,
    OrganisationMember,
    User,
)
from tests.concurrency import at_once, before_it_ends
from tests.factories import Factory, owner_of


def owned_by_two(make: Factory) -> tuple[Organisation, User, User]:
    """An organisation and its two owners."""
    ada, bert = make.user(), make.user()
    organisation = found_organisation(ada, key=f"lab-{ada.pk}", name="Lab")
    OrganisationMember.objects.create(organisation=organisation, user=bert, role="owner")
    return organisation, ada, bert


def while_removed(organisation: Organisation, user: User, by: User, move: Callable[[], None]) -> list[object]:
    """Remove an owner, and call `move` before that is committed; what came of both."""
    return before_it_ends(lambda: change_member(organisation, user, author=by, role=""), move)


def test_an_owner_who_is_being_removed_moves_no_benchmark(make_committed):
    organisation, ada, bert = owned_by_two(make_committed)
    benchmark = make_committed.benchmark({}, n_tasks=1, owner=ada)
    outcomes = while_removed(organisation, ada, bert, lambda: move_in(benchmark, organisation, author=ada))
    assert (outcomes[0], type(outcomes[1])) == (None, OrganisationError)
    row = Membership.objects.get(benchmark=benchmark)
    assert (row.user, row.organisation, Benchmark.objects.get(pk=benchmark.pk).organisation) == (ada, None, None)


def test_an_owner_who_is_being_removed_takes_no_benchmark_out(make_committed):
    organisation, ada, bert = owned_by_two(make_committed)
    benchmark = make_committed.benchmark({}, n_tasks=1, owner=ada)
    move_in(benchmark, organisation, author=ada)
    outcomes = while_removed(organisation, ada, bert, lambda: take_out(benchmark, author=ada))
    assert (outcomes[0], type(outcomes[1])) == (None, OrganisationError)
    assert owner_of(benchmark) == bert
    assert Benchmark.objects.get(pk=benchmark.pk).organisation == organisation


@pytest.mark.parametrize("step", ["promote", "invite", "revoke", "describe", "delete"])
def test_an_owner_who_is_being_removed_changes_nothing_any_more(make_committed, step):
    organisation, ada, bert = owned_by_two(make_committed)
    friend = make_committed.user()
    OrganisationMember.objects.create(organisation=organisation, user=friend, role="member")
    invite_to_organisation(organisation, author=bert, role="member")
    (number,) = OrganisationInvitation.objects.values_list("pk", flat=True)
    steps = {
        "promote": lambda: change_member(organisation, friend, author=ada, role="owner"),
        "invite": lambda: invite_to_organisation(organisation, author=ada, role="owner"),
        "revoke": lambda: revoke_organisation_invitation(organisation, number, author=ada),
        "describe": lambda: describe_organisation(organisation, author=ada, name="Mine"),
        "delete": lambda: delete_organisation(organisation, author=ada),
    }
    outcomes = while_removed(organisation, ada, bert, steps[step])
    assert (outcomes[0], type(outcomes[1])) == (None, OrganisationError)
    assert dict(OrganisationMember.objects.values_list("user", "role")) == {bert.pk: "owner", friend.pk: "member"}
    assert Organisation.objects.get().name == "Lab"
    assert OrganisationInvitation.objects.values_list("pk", "author").get() == (number, bert.pk)


@pytest.mark.parametrize("is_first", [True, False])
def test_moving_out_and_removing_at_once_leave_an_owner(make_committed, is_first):
    organisation, ada, bert = owned_by_two(make_committed)
    benchmark = make_committed.benchmark({}, n_tasks=1, owner=ada)
    move_in(benchmark, organisation, author=ada)
    steps = [
        lambda: take_out(benchmark, author=ada),
        lambda: change_member(organisation, ada, author=bert, role=""),
    ]
    outcomes = at_once(steps if is_first else steps[::-1])
    assert all(outcome is None or isinstance(outcome, OrganisationError) for outcome in outcomes)
    took_out = Benchmark.objects.get(pk=benchmark.pk).organisation is None
    assert owner_of(benchmark) == (ada if took_out else bert)
