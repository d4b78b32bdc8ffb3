"""The page of a benchmark's tasks: what is entered is previewed and stored."""

from decimal import Decimal

from leaderboard.benchmarks.forms_tasks import ProposalForms
from leaderboard.benchmarks.tasks import present_proposal
from leaderboard.models import Task
from tests.leaderboard.site.world import sent
from tests.markup import compact


def test_a_precision_and_a_cluster_are_entered_previewed_stored_and_shown(client, make):
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]}, n_tasks=2)
    client.force_login(benchmark.memberships.get().user)
    path = f"/b/{benchmark.key}/manage/tasks/"
    entered = sent(ProposalForms(present_proposal(benchmark))) | {"task-0-precision": "0.10", "task-0-cluster": "Sums"}
    page = client.post(path, entered | {"action": "preview"})
    assert [(change.field, change.after) for change in page.context["preview"].changes] == [
        ("precision", "0.1"), ("cluster", "Sums"),
    ]  # fmt: skip
    token = page.context["preview"].token
    assert client.post(path, entered | {"action": "apply", "token": token}).status_code == 302
    stored = Task.objects.order_by("key").values_list("precision", "cluster")
    assert list(stored) == [(Decimal("0.1"), "Sums"), (None, "")]
    markup = compact(client.get(path))
    assert 'name="task-0-precision" value="0.1"' in markup
    assert '<datalist id="clusters"><option value="Sums"></datalist>' in markup


def test_a_precision_that_is_none_is_refused_in_its_field(client, make):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, n_tasks=1)
    client.force_login(benchmark.memberships.get().user)
    for wrong, message in (("0", "a positive number"), ("x", "Enter a number"), ("1.00000000001", "10 decimal places")):
        entered = sent(ProposalForms(present_proposal(benchmark))) | {"task-0-precision": wrong, "action": "preview"}
        page = client.post(f"/b/{benchmark.key}/manage/tasks/", entered)
        assert page.status_code == 400
        assert message in str(page.context["parts"].tasks.forms[0].errors["precision"])


def test_variants_of_rules_are_entered_one_a_line_and_shown_in_the_order_of_the_board(client, make):
    benchmark = make.published({"A": [1.0, 2.0], "B": [2.0, 1.0]}, n_tasks=2)
    client.force_login(benchmark.memberships.get().user)
    path = f"/b/{benchmark.key}/manage/tasks/"
    written = "copeland[variant=lower]\r\n\r\n positional[ vector = 3, 2 ]\r\n"
    entered = sent(ProposalForms(present_proposal(benchmark))) | {"variants": written}
    page = client.post(path, entered | {"action": "preview"})
    assert [(change.of, change.after) for change in page.context["preview"].changes] == [
        ("variants", "positional[vector=3,2], copeland[variant=lower]")
    ]
    token = page.context["preview"].token
    assert client.post(path, entered | {"action": "apply", "token": token}).status_code == 302
    assert "positional[vector=3,2]\ncopeland[variant=lower]</textarea>" in client.get(path).content.decode()


def test_what_is_no_variant_is_refused_in_its_field_with_what_there_is(client, make):
    benchmark = make.published({"A": [1.0], "B": [2.0]}, n_tasks=1)
    client.force_login(benchmark.memberships.get().user)
    thirteen = "\n".join(f"positional[vector={points}]" for points in range(13))
    for wrong, message in (
        ("copeland[variant=most]", "expected one of difference, lower_with_ties, lower, upper."),
        ("copeland", "expected RULE[NAME=VALUE], such as copeland[variant=lower]."),
        (thirteen, "13 variants; at most 12 are ranked."),
        ("9," * 10**5, "Ensure this value has at most 2424 characters"),
    ):
        entered = sent(ProposalForms(present_proposal(benchmark))) | {"variants": wrong, "action": "preview"}
        page = client.post(f"/b/{benchmark.key}/manage/tasks/", entered)
        assert page.status_code == 400
        assert message in str(page.context["parts"].counting.errors["variants"])
