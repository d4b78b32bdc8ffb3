"""The what-if page as it is answered: figures worked out by hand, short addresses, limits, kept profiles."""

import json
import re
from html import unescape

import pytest
from django.core.cache import cache
from django.test import Client

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.models import WeightProfile
from ranking_engine import listed_rules
from tests.factories import TOY
from tests.markup import compact

pytestmark = pytest.mark.django_db


def borda_by_hand(weights):
    """Points for every system strictly below, times the task's weight."""
    return {
        name: sum(w * sum(scores[t] > other[t] for other in TOY.values()) for t, w in enumerate(weights))
        for name, scores in TOY.items()
    }


def ranks_by_hand(scores):
    return {name: 1 + sum(other > mine for other in scores.values()) for name, mine in scores.items()}


def rows_of(body):
    """{system: (rank in the chosen order, change)} of the page."""
    row = re.compile(r'<td class="place">([^<]*)</td><td class="change"><span[^>]*>([^<]*)</span></td>'
                     r'<th scope="row"><a href="[^"]*">([^<]*)</a>')  # fmt: skip
    return {name: (int(rank.removeprefix("=")), change) for rank, change, name in row.findall(body)}


def test_the_board_under_other_weights_is_the_one_worked_out_by_hand(make, client):
    benchmark = make.published()
    body = compact(client.get(f"/b/{benchmark.key}/what-if/?weights=task-1:4,task-5:0"))
    own, now = ranks_by_hand(borda_by_hand([1] * 5)), ranks_by_hand(borda_by_hand([4, 1, 1, 1, 0]))
    signs = {1: "+", -1: "−"}
    changes = {name: (own[name] - now[name]) for name in TOY}
    assert rows_of(body) == {
        name: (now[name], f"{signs[1 if c > 0 else -1]}{abs(c)}" if (c := changes[name]) else "") for name in TOY
    }
    assert "First under Borda: A. With the benchmark’s weights: " in body  # A is first on task 1
    assert re.findall(r"<output[^>]*>([^<]*)</output>", body) == ["57.1 %", "14.3 %", "14.3 %", "14.3 %", "0.0 %"]
    assert "Condorcet winner: A." in body  # 4 of 7 votes prefer A to anybody


def test_joint_winners_are_counted_and_others_of_the_same_number_are_a_change(make, client):
    """Each system is first on one task; those with the heaviest tasks win under plurality."""
    tasks = [TaskSpec(f"T{t}", key=f"t{t}", weight="1" if t < 3 else "2") for t in range(6)]
    scores = {name: [float(t == i) for t in range(6)] for i, name in enumerate("ABCDEF")}
    benchmark = make.published(scores, tasks=tasks)
    for query, headline, is_changed in (
        ("", "3 systems jointly, as with the benchmark’s weights.", False),
        ("&weights=t0:9,t1:9,t2:9", "3 systems jointly, not the same as with the benchmark’s weights.", True),
        ("&weights=t0:2,t1:2,t2:2", "6 systems jointly. With the benchmark’s weights: 3 systems jointly.", True),
        ("&weights=t0:2", "4 systems jointly. With the benchmark’s weights: 3 systems jointly.", True),
        ("&weights=t0:9,t1:9", "A, B. With the benchmark’s weights: 3 systems jointly.", True),
    ):
        body = compact(client.get(f"/b/{benchmark.key}/what-if/?rule=plurality{query}"))
        assert f"First under Plurality: {headline}" in body
        chip = re.search(r'<li data-rule="plurality"[^>]*>', body)[0]
        assert ('class="is-changed"' in chip) == is_changed
        assert '<small class="was">was 3 systems jointly</small>' in body


def test_a_rule_without_a_ranking_is_neither_another_winner_nor_counted(make, client):
    """With gaps and the policy of no ranking, the rules that need every score say nothing."""
    benchmark = make.published(TOY | {"E": [1.0, None, 2.0, 3.0, 1.0]}, missing_policy="worst")
    body = compact(client.get(f"/b/{benchmark.key}/what-if/?policy=undefined"))
    chips = re.findall(
        r'<li data-rule="[^"]*" data-own="([^"]*)"[^>]*?(?: class="([^"]*)")?> ?<span>[^<]*</span> <b>([^<]*)<', body
    )
    silent = [state for own, state, now in chips if now == "no ranking"]
    assert silent == ["is-unranked"] * len(silent)
    assert len(silent) > 3
    n_changed = sum(state == "is-changed" for _, state, _ in chips)
    n_compared = sum(state != "is-unranked" for _, state, _ in chips)
    assert f"{n_changed} of {n_compared} rules" in body


def test_the_form_becomes_an_address_that_names_only_what_differs(make, client):
    benchmark = make.published()
    fields = "&".join(f"w.task-{t}={weight}" for t, weight in enumerate(["1", "2,5", "1.0", "", "1"], 1))
    answer = client.get(f"/b/{benchmark.key}/what-if/?{fields}&rule=borda&policy=drop_systems&aggregation=basic")
    assert answer["Location"] == f"/b/{benchmark.key}/what-if/?weights=task-2:2.5,task-4:0"


def test_what_cannot_be_answered_is_told(make, client, settings):
    benchmark = make.published()
    path = f"/b/{benchmark.key}/what-if/"
    nobody = ",".join(f"task-{t}:0" for t in range(1, 6))
    for query, message in [
        (f"weights={nobody}", "At least one task needs a weight above 0."),
        ("weights=task-9:1", "The benchmark has no task of the key &#x27;task-9&#x27;"),
        ("rule=nonsense", "There is no rule &#x27;nonsense&#x27; on this board."),
        ("aggregation=nonsense", "There is no aggregation &#x27;nonsense&#x27;"),
    ]:
        answer = client.get(f"{path}?{query}")
        assert (answer.status_code, message in compact(answer)) == (400, True), query
    settings.ON_DEMAND_BUDGET = 100
    answer = client.get(f"{path}?weights=task-1:3")
    assert answer.status_code == 422
    assert "up to 100 can be computed on demand" in compact(answer)


def test_asking_too_often_is_refused_and_the_stored_board_is_not(make, client, settings):
    benchmark = make.published()
    settings.API_RATES = settings.API_RATES | {"on_demand": "2/min"}
    path = f"/b/{benchmark.key}/what-if/"
    cache.clear()
    assert [client.get(f"{path}?weights=task-1:{k}").status_code for k in (2, 3, 4)] == [200, 200, 429]
    assert client.get(path).status_code == 200


def test_groups_weigh_and_can_stand_alone(make, client):
    tasks = [TaskSpec(f"Task {t}", group="qa" if t < 3 else "nli") for t in range(1, 6)]
    groups = [GroupSpec("QA", key="qa"), GroupSpec("NLI", key="nli")]
    benchmark = make.published(tasks=tasks, groups=groups, aggregation="balanced")
    answer = client.get(f"/b/{benchmark.key}/what-if/?group_weights=qa:3")
    body = compact(answer)
    assert re.findall(r"<output[^>]*>([^<]*)</output>", body) == [
        "75.0 %", "37.5 %", "37.5 %", "25.0 %", "8.3 %", "8.3 %", "8.3 %",
    ]  # fmt: skip
    hand = ranks_by_hand(borda_by_hand([4.5, 4.5, 1, 1, 1]))  # 3/2 each against 1/3 each
    assert {name: rank for name, (rank, _) in rows_of(body).items()} == hand
    conditions = unescape(re.search(r'id="conditions" value="([^"]*)"', answer.content.decode())[1])
    assert set(conditions.split("\n")) == {'group:"qa" >= 75.0%', 'group:"nli" <= 25.0%'}
    alone = client.get(f"/b/{benchmark.key}/what-if/?weights=task-3:0,task-4:0,task-5:0&aggregation=basic")
    assert {name: rank for name, (rank, _) in rows_of(compact(alone)).items()} == (
        ranks_by_hand(borda_by_hand([1, 1, 0, 0, 0]))
    )


def test_the_conditions_lead_to_prospects_that_can_be_read(make, client):
    benchmark = make.publish(make.benchmark(), studies=True)
    body = compact(client.get(f"/b/{benchmark.key}/what-if/?weights=task-1:4"))
    assert "&quot;task-1&quot; &gt;= 50.0%" in body
    answer = client.get(f"/b/{benchmark.key}/prospects/", {"conditions": '"task-1" >= 50.0%', "q": "A"})
    assert "cannot be read" not in compact(answer)
    assert re.search(r"\d of 4 systems can win under these conditions", compact(answer))


def test_the_page_takes_few_queries(make, client, django_assert_num_queries):
    benchmark = make.published()
    path = f"/b/{benchmark.key}/what-if/?weights=task-1:3"
    client.get(path)
    with django_assert_num_queries(6):
        client.get(path)


def test_what_is_not_shown_is_said_below_the_board_and_not_within_its_wide_table(make, client):
    page = compact(client.get(f"/b/{make.published().key}/what-if/"))
    before, _, after = page.partition("</table>")
    said = "Not shown (undefined for these scores): Normalised mean"
    assert (said in before, f'</div><p class="small soft">{said}' in after) == (False, True)


def test_the_data_are_the_scores_and_a_304_where_they_are_known(make, client):
    benchmark = make.published()
    answer = client.get(f"/b/{benchmark.key}/what-if/data.json")
    data = json.loads(answer.content)
    assert dict(zip(data["systems"], data["values"], strict=True)) == TOY
    own = ranks_by_hand(borda_by_hand([1] * 5))
    assert data["own"]["borda"] == [own[name] for name in data["systems"]]
    assert [rule["key"] for rule in data["rules"]] == listed_rules()
    again = client.get(f"/b/{benchmark.key}/what-if/data.json", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, answer["Cache-Control"]) == (304, "private, no-cache")


def keep(user, benchmark, **fields):
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    form = {"name": "Mine", "weights": "task-1:3"} | fields
    return client, client.post(f"/b/{benchmark.key}/what-if/profiles/", form)


def test_a_kept_profile_is_its_authors_own_until_an_owner_publishes_one(make, client):
    benchmark = make.published()
    owner = benchmark.memberships.get(role="owner").user
    reader, stranger = make.user(), make.user()
    mine, answer = keep(reader, benchmark, name="My weights")
    assert answer["Location"] == f"/b/{benchmark.key}/what-if/?weights=task-1:3"
    page = f"/b/{benchmark.key}/what-if/"
    link = f'<a href="{page}?weights=task-1:3" data-preset'
    assert link in compact(mine.get(page))
    assert link not in compact(client.get(page))
    keep(stranger, benchmark, name="For all", is_published="1")
    assert not WeightProfile.objects.filter(name="For all").exists()
    keep(owner, benchmark, name="Multilingual", is_published="1", weights="task-2:5")
    assert "Multilingual" in compact(client.get(page))
    row = WeightProfile.objects.get(name="My weights")
    others, _ = keep(stranger, benchmark, name="Other")
    others.post(f"{page}profiles/", {"action": "delete", "profile": row.pk})
    assert WeightProfile.objects.filter(pk=row.pk).exists()
    mine.post(f"{page}profiles/", {"action": "delete", "profile": row.pk})
    assert not WeightProfile.objects.filter(pk=row.pk).exists()


def test_keeping_under_the_same_name_replaces_and_a_bad_name_changes_nothing(make):
    benchmark = make.published()
    user = make.user()
    keep(user, benchmark)
    keep(user, benchmark, weights="task-1:7")
    client, _ = keep(user, benchmark, name="=formula")
    assert [(row.name, row.task_weights) for row in WeightProfile.objects.all()] == [("Mine", {"task-1": "7"})]
    assert "spreadsheets take for a formula" in compact(client.get(f"/b/{benchmark.key}/what-if/"))
