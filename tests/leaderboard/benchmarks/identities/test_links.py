"""Linking systems to models: who may, what is proposed, what the trail keeps, and how much one call takes."""

import re
from copy import deepcopy
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.utils import timezone

from leaderboard.access.audience import naming_benchmarks
from leaderboard.benchmarks.identities import links, proposals
from leaderboard.benchmarks.identities.links import MAX_LINKS, NEW, change_links
from leaderboard.benchmarks.identities.proposals import proposals_for
from leaderboard.models import AuditEntry, Membership, ModelIdentity, System
from tests.factories import owner_of
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture(scope="module")
def two_once(make_once):
    """Two public boards of different owners: one calls Ada so, the other ADA."""
    first = make_once.published({"Ada": [1.0], "Bob": [2.0], "Cleo": [3.0]}, name="First", key="first", n_tasks=1)
    second = make_once.published({"ADA": [5.0], "Dan": [4.0]}, name="Second", key="second", n_tasks=1)
    return first, second


@pytest.fixture
def two(two_once, make):
    return deepcopy(two_once)


def models_of(benchmark) -> dict[str, str]:
    linked = System.objects.filter(benchmark=benchmark, identity__isnull=False)
    return dict(linked.values_list("key", "identity__key"))


def said(benchmark, viewer=None):
    proposals = proposals_for(viewer or owner_of(benchmark), benchmark)
    return [
        (one.system.key, one.model, [(other.benchmark.key, other.name) for other in one.others], one.reasons)
        for one in proposals.listed
    ]


def test_a_model_is_made_for_one_board_proposed_to_the_other_and_confirmed_there(two):
    first, second = two
    assert said(first) == [("ada", NEW, [("second", "ADA")], ["the same name"])]
    made = change_links(first, {"ada": NEW}, author=owner_of(first), reason="It is Ada.")
    assert [(one.system, one.before, one.after) for one in made] == [("ada", "", "ada")]
    assert said(first) == []
    assert said(second) == [("ada", "ada", [("first", "Ada")], ["the same name"])]
    change_links(second, {"ada": "ada"}, author=owner_of(second))
    assert models_of(first) == models_of(second) == {"ada": "ada"}
    assert (said(first), said(second)) == ([], [])
    change_links(second, {"ada": ""}, author=owner_of(second), reason="Another Ada.")
    assert (models_of(first), models_of(second)) == ({"ada": "ada"}, {})
    trail = AuditEntry.objects.filter(field="model").order_by("pk")
    rows = trail.values_list("benchmark__key", "actor", "subject", "of", "before", "after", "reason")
    assert list(rows) == [
        ("first", owner_of(first).pk, "system", "ada", "", "ada", "It is Ada."),
        ("second", owner_of(second).pk, "system", "ada", "", "ada", ""),
        ("second", owner_of(second).pk, "system", "ada", "ada", "", "Another Ada."),
    ]


def test_a_model_without_systems_is_gone_and_nothing_is_stored_in_a_dry_run(two):
    first, _ = two
    author = owner_of(first)
    dry = change_links(first, {"ada": NEW}, author=author, is_dry=True)
    assert [(one.before, one.after) for one in dry] == [("", NEW)]
    assert not ModelIdentity.objects.exists()
    change_links(first, {"ada": NEW, "bob": NEW}, author=author)
    assert change_links(first, {"ada": "ada", "bob": NEW}, author=author) == []
    assert [one.after for one in change_links(first, {"ada": "bob", "bob": "ada"}, author=author)] == ["bob", "ada"]
    change_links(first, {"ada": "", "bob": ""}, author=author)
    assert not ModelIdentity.objects.exists()


def test_one_system_a_board_is_a_model(two):
    first, _ = two
    author = owner_of(first)
    change_links(first, {"ada": NEW}, author=author)
    for wanted in ({"bob": "ada"}, {"bob": "ada", "cleo": "ada"}):
        with pytest.raises(ValidationError, match="Two systems of this benchmark would be the model ada"):
            change_links(first, wanted, author=author)
    change_links(first, {"ada": "", "bob": "ada"}, author=author)
    assert models_of(first) == {"bob": "ada"}


def test_what_is_not_there_and_what_one_may_not_know_of_get_the_same_answer(two, make):
    first, _ = two
    hidden = make.published({"Ada": [1.0]}, name="Hidden", key="hidden", n_tasks=1, visibility="private")
    change_links(hidden, {"ada": NEW}, author=owner_of(hidden))
    key = models_of(hidden)["ada"]
    assert re.fullmatch(r"model-[0-9a-f]{16}", key)  # the name of what is hidden is in no address
    author = owner_of(first)
    notices = []
    for model in (key, "nothing"):
        with pytest.raises(ValidationError) as problem:
            change_links(first, {"ada": model}, author=author)
        notices.append(problem.value.messages[0].replace(model, "KEY"))
    assert notices[0] == notices[1] == "There is no model 'KEY', or you have no access to it."
    assert said(first) == [("ada", NEW, [("second", "ADA")], ["the same name"])]
    Membership.objects.create(user=author, benchmark=hidden, role="member")
    assert said(first) == [("ada", key, [("hidden", "Ada")], ["the same name"])]
    change_links(first, {"ada": key}, author=author)
    assert models_of(first) == {"ada": key}
    with pytest.raises(ValidationError, match="No system of this benchmark has the key 'dan'"):
        change_links(first, {"dan": NEW}, author=author)


@pytest.mark.parametrize(
    "hiding", [{"score_view": "own"}, {"anonymous_until": timezone.now() + timezone.timedelta(days=9)}]
)
def test_boards_that_hide_names_are_not_proposed_and_their_models_have_no_name_in_the_key(two, make, hiding):
    first, second = two
    for name, value in hiding.items():
        setattr(second, name, value)
    second.save()
    assert said(first) == []
    assert not naming_benchmarks(AnonymousUser()).filter(key="second").exists()
    change_links(second, {"ada": NEW}, author=owner_of(second))
    assert models_of(second)["ada"].startswith("model-")


def test_links_and_model_cards_propose_what_is_called_otherwise_and_metadata_that_differ_are_said(two):
    first, second = two
    for benchmark in two:
        benchmark.metadata_fields = [{"key": "parameters", "name": "Parameters", "kind": "number"},
                                     {"key": "model-card", "name": "Model card", "kind": "link"}]  # fmt: skip
        benchmark.save()
    System.objects.filter(benchmark=first, key="bob").update(
        metadata={"model-card": "https://a.example/", "parameters": 7}
    )
    System.objects.filter(benchmark=second, key="dan").update(
        metadata={"model-card": "https://a.example/", "parameters": 8}
    )
    System.objects.filter(key__in=["cleo", "ada"]).update(url="https://organisation.example/")
    assert said(first) == [
        ("ada", NEW, [("second", "ADA")], ["the same name"]),
        ("bob", NEW, [("second", "Dan")], ["the same model card"]),
    ]
    assert [one.differing for one in proposals_for(owner_of(first), first).listed] == [[], ["Parameters"]]


def test_a_system_that_left_the_board_is_not_proposed(two, make):
    from leaderboard.submissions.lifecycle import withdraw_submission

    first, second = two
    withdraw_submission(second.submissions.get(system__key="ada"), actor=owner_of(second), reason="Wrong.")
    make.publish(second)
    assert said(first) == []


def test_there_is_an_end_to_what_is_linked_listed_and_compared(two, make, monkeypatch):
    first, second = two
    author = owner_of(first)
    with pytest.raises(ValidationError, match=f"{MAX_LINKS + 1} systems; at most {MAX_LINKS} are linked in one call"):
        change_links(first, {f"s{k}": NEW for k in range(MAX_LINKS + 1)}, author=author)
    third = make.published({"Ada": [1.0], "Bob": [2.0], "Cleo": [3.0]}, name="Third", key="third", n_tasks=1)
    monkeypatch.setattr(proposals, "MAX_PROPOSALS", 2)
    listed = proposals_for(owner_of(third), third)
    assert ([one.system.key for one in listed.listed], listed.n_all) == (["ada", "bob"], 3)
    change_links(first, {"ada": NEW}, author=author)
    monkeypatch.setattr(links, "MAX_SYSTEMS", 1)
    with pytest.raises(ValidationError, match="The model ada has 1 systems, which is the limit"):
        change_links(second, {"ada": "ada"}, author=owner_of(second))


def test_the_page_confirms_what_is_ticked_links_by_hand_and_ends_links(two, client, django_assert_num_queries):
    first, _ = two
    client.force_login(owner_of(first), backend=BACKEND)
    path = "/b/first/manage/models/"
    page = unescape(compact(client.get(path)))
    assert re.findall(r'name="system" value="([^"]+)"', page) == ["ada new"]
    assert '<a href="/b/second/systems/ada/">ADA</a> on Second' in page
    client.post(path, {"action": "link", "system": ["ada new"], "reason": "Known."})
    client.post(path, {"action": "declare", "system": "bob", "model": ""})
    assert models_of(first) == {"ada": "ada", "bob": "bob"}
    with django_assert_num_queries(9):
        page = unescape(compact(client.get(path)))
    assert re.findall(r'name="system" value="([^"]+)"', page) == ["ada", "bob"]
    client.post(path, {"action": "unlink", "system": ["bob"]})
    assert models_of(first) == {"ada": "ada"}
    for body, problem in (
        ({"action": "link", "system": ["bob a", "bob b"]}, "You selected two models for the system bob; select one."),
        ({"action": "link", "system": ["bob nothing"]}, "There is no model 'nothing'"),
        ({"action": "link", "system": ["x y"] * (MAX_LINKS + 1)}, f"at most {MAX_LINKS} can be at once"),
        ({"action": "declare", "system": "zzz"}, "No system of this benchmark has the key 'zzz'"),
        ({"action": "anything"}, "Choose what to do."),
    ):
        answer = client.post(path, body)
        assert answer.status_code == 400
        assert problem in unescape(compact(answer))
    assert models_of(first) == {"ada": "ada"}


def test_no_model_has_the_word_for_a_new_one_as_its_key(make):
    board = make.published({"New": [1.0], "Bob": [2.0]}, name="Third", key="third", n_tasks=1)
    change_links(board, {"new": NEW}, author=owner_of(board))
    assert models_of(board) == {"new": "new-2"}


def test_a_model_remembers_the_system_that_it_was_made_for(two):
    first, second = two
    change_links(first, {"ada": NEW}, author=owner_of(first))
    change_links(second, {"ada": "ada"}, author=owner_of(second))
    assert ModelIdentity.objects.get().made_for == System.objects.get(benchmark=first, key="ada")
