"""Staff edit benchmarks in the Django admin through the services, and cannot touch scores."""

import pytest
from django.contrib import admin
from django.urls import reverse

from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.models import AuditEntry, Benchmark, Revision, Score, System, Task
from tests.factories import owner_of

UNTOUCHABLE = ["batch", "job", "publication", "report", "revision", "score", "submission", "submissionevent", "system"]


@pytest.fixture
def staff(make, client):
    user = make.user("staff", is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


def form_data(response) -> dict[str, str]:
    """What a browser would send back of an untouched admin form."""
    page = response.context
    forms = [page["adminform"].form, *(inline.formset.management_form for inline in page["inline_admin_formsets"])]
    forms += [form for inline in page["inline_admin_formsets"] for form in inline.formset.forms]
    data = {}
    for form in forms:
        for bound in form:
            value = bound.value()
            if value is not None and value is not False:
                data[bound.html_name] = value if isinstance(value, str) else bound.field.prepare_value(value)
    return data


def test_changing_a_weight_makes_a_revision_with_the_editors_name(make, client, staff):
    benchmark = make.benchmark()
    address = reverse("admin:leaderboard_benchmark_change", args=[benchmark.pk])
    data = form_data(client.get(address))
    assert [data[f"tasks-{t}-name"] for t in range(5)] == [f"Task {t}" for t in range(1, 6)]
    response = client.post(address, data | {"tasks-0-weight": "3"})
    assert response.status_code == 302, response.context and response.context["errors"]
    revision = Revision.objects.get(benchmark=benchmark, number=2)
    assert (revision.cause, revision.author) == ("configuration", staff)
    assert [task["weight"] for task in revision.configuration.content["tasks"]] == ["3", "1", "1", "1", "1"]
    first = Revision.objects.get(benchmark=benchmark, number=1)
    assert [task["weight"] for task in first.configuration.content["tasks"]] == ["1"] * 5


def test_saving_without_a_change_makes_no_revision(make, client, staff):
    benchmark = make.benchmark()
    address = reverse("admin:leaderboard_benchmark_change", args=[benchmark.pk])
    assert client.post(address, form_data(client.get(address))).status_code == 302
    assert Revision.objects.filter(benchmark=benchmark).count() == 1


def test_a_new_benchmark_takes_its_tasks_keys_from_their_names(make, client, staff):
    address = reverse("admin:leaderboard_benchmark_add")
    data = form_data(client.get(address)) | {"name": "Fresh", "key": "fresh", "tasks-TOTAL_FORMS": "1"}
    data |= {"tasks-0-name": " Word  order ", "tasks-0-direction": "1", "tasks-0-weight": "1", "tasks-0-order": "0"}
    data |= {"memberships-0-user": str(staff.pk), "memberships-0-role": "owner"}
    response = client.post(address, data)
    assert response.status_code == 302, response.context["errors"]
    created = AuditEntry.objects.get(benchmark__key="fresh")
    assert (created.subject, created.field, created.after, created.actor) == ("benchmark", "created", "yes", staff)
    task = Task.objects.get(benchmark=Benchmark.objects.get(key="fresh"))
    assert (task.key, task.name, task.name_folded) == ("word-order", "Word  order", "word  order")


def test_two_tasks_of_one_name_are_refused_with_a_message(make, client, staff):
    benchmark = make.benchmark()
    address = reverse("admin:leaderboard_benchmark_change", args=[benchmark.pk])
    response = client.post(address, form_data(client.get(address)) | {"tasks-0-name": "TASK 2"})
    assert response.status_code == 200
    assert "This benchmark already has a task with the name" in str(response.context["errors"])


def test_what_staff_change_stands_in_the_benchmark_s_own_trail(make, client, staff):
    benchmark = make.benchmark()
    member = make.member(benchmark, "moderator")
    address = reverse("admin:leaderboard_benchmark_change", args=[benchmark.pk])
    data = form_data(client.get(address))
    roles = {name: value for name, value in data.items() if name.endswith("-role")}
    place = next(name for name, role in roles.items() if role == "moderator")
    response = client.post(address, data | {"tasks-0-weight": "3", "visibility": "private", place: "owner"})
    assert response.status_code == 302
    trail = AuditEntry.objects.filter(benchmark=benchmark).order_by("subject")
    assert list(trail.values_list("subject", "of", "field", "before", "after")) == [
        ("person", str(member.pk), "role", "moderator", "owner"),
        ("setting", "visibility", "value", "public", "private"),
        ("task", "task-1", "weight", "1", "3"),
    ]
    said = {(entry.reason, entry.actor, entry.revision.number) for entry in trail}
    assert said == {("changed in the administration", staff, 2)}
    assert client.post(address, form_data(client.get(address))).status_code == 302
    assert trail.count() == 3


@pytest.mark.parametrize("model", UNTOUCHABLE)
def test_history_can_be_looked_at_and_not_touched(make, client, staff, model):
    make.published()
    assert client.get(reverse(f"admin:leaderboard_{model}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:leaderboard_{model}_add")).status_code == 403
    model_class = next(registered for registered in admin.site._registry if registered._meta.model_name == model)
    row = model_class._default_manager.first()
    change = reverse(f"admin:leaderboard_{model}_change", args=[row.pk])
    assert client.get(change).status_code == 200
    assert client.post(change, {"value": "1"}).status_code == 403
    assert client.post(reverse(f"admin:leaderboard_{model}_delete", args=[row.pk])).status_code == 403


def test_no_score_changes_through_the_admin(make, client, staff):
    make.benchmark()
    before = list(Score.objects.values_list("pk", "value"))
    data = {"action": "delete_selected", "_selected_action": [pk for pk, _ in before]}
    client.post(reverse("admin:leaderboard_score_changelist"), data)
    assert list(Score.objects.values_list("pk", "value")) == before


def test_staff_end_the_link_of_a_board_that_took_a_model_of_others(make, client, staff):
    first, second = (
        make.published({"Ada": [1.0], "Bob": [2.0]}, name=key.capitalize(), key=key, n_tasks=1)
        for key in ("first", "second")
    )
    change_links(first, {"ada": NEW}, author=owner_of(first))
    change_links(second, {"bob": "ada"}, author=owner_of(second))
    address = reverse("admin:leaderboard_system_changelist")
    assert [row.key for row in client.get(f"{address}?q=ada").context["cl"].result_list].count("bob") == 1
    intruder = System.objects.get(benchmark=second, key="bob")
    client.post(address, {"action": "end_links", "_selected_action": [intruder.pk]})
    assert list(System.objects.filter(identity__key="ada").values_list("benchmark__key", "key")) == [("first", "ada")]
    entry = AuditEntry.objects.get(benchmark=second, field="model", after="")
    assert (entry.of, entry.before, entry.actor, entry.reason) == ("bob", "ada", staff, "changed in the administration")


def test_staff_without_the_right_to_change_systems_end_no_link(make, client):
    board = make.published({"Ada": [1.0], "Bob": [2.0]}, name="First", key="first", n_tasks=1)
    change_links(board, {"ada": NEW}, author=owner_of(board))
    client.force_login(make.user("helper", is_staff=True))
    chosen = [System.objects.get(key="ada").pk]
    client.post(reverse("admin:leaderboard_system_changelist"), {"action": "end_links", "_selected_action": chosen})
    assert System.objects.get(key="ada").identity is not None
