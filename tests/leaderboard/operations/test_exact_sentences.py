"""Sentences and marks of pages that left out what their readers need to know."""

from django.urls import reverse

from leaderboard.common.charts.pareto import PlacedSystem, pareto_chart
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in


def test_a_revision_that_does_not_exist_is_named_with_the_newest_one(make, client):
    benchmark = make.published(name="Speech")
    for path in (reverse("board", args=[benchmark.key]), reverse("stability", args=[benchmark.key])):
        answer = client.get(f"{path}?revision=99")
        assert answer.status_code == 404
        assert "Revision 99 of Speech is not published. The newest one is 1." in compact(answer)


def test_who_is_signed_in_is_not_told_to_sign_in(make, client):
    path = reverse("manage", args=[make.published().key])
    page = compact(signed_in(make.user("Sub")).get(path))
    assert ("You are signed in as Sub." in page, "sign in first" in page) == (True, False)
    page = compact(signed_in(make.user("Sub")).get("/admin/", follow=True))
    assert ("You are signed in as Sub." in page, "sign in first" in page) == (True, False)


def test_the_form_for_new_accounts_says_what_others_see_of_an_empty_name(client):
    assert "If you leave it empty, they see “user” and a number." in compact(client.get(reverse("account_signup")))


def test_a_choice_that_always_has_a_value_is_not_called_optional(make):
    benchmark = make.published()
    page = compact(signed_in(owner_of(benchmark)).get(reverse("manage_tasks", args=[benchmark.key])))
    label = page.partition(">When a system is submitted again")[2].partition("</label>")[0]
    assert "optional" not in label


def test_the_axis_of_ranks_has_a_number_for_the_first_whatever_its_steps():
    for n, texts in ((11, ["1", "2", "4", "6", "8", "10"]), (28, ["1", "5", "10"])):
        systems = [
            PlacedSystem(f"s{rank}", f"S{rank}", float(rank), float(rank), None, None, "sure", "")
            for rank in range(1, n + 1)
        ]
        chart = pareto_chart(
            systems, title="", description="", x_label="", y_label="", x_text=str, is_log=False, is_less_better=True,
            is_low_better=True, least_y=1.0,
        )  # fmt: skip
        assert [tick.text for tick in chart.y_ticks][: len(texts)] == texts
