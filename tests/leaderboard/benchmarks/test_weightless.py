"""Weights of which none is above 0, those of groups counted in, are refused wherever a benchmark is made or changed."""

from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile

from leaderboard.benchmarks.create import GroupSpec, TaskSpec, create_benchmark, record_configuration_change, weightless
from leaderboard.benchmarks.drafts import draft_contents, make_benchmark_draft
from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.forms_tasks import ProposalForms
from leaderboard.benchmarks.tasks import TaskEdit, present_proposal
from leaderboard.models import Benchmark, BenchmarkDraft
from ranking_engine.files.tables import TableError
from tests.factories import owner_of
from tests.leaderboard.benchmarks.older_weights import SCORES, without_weight
from tests.leaderboard.site.world import sent
from tests.markup import compact
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db
ZERO = Decimal(0)
NO_TASK = "At least one task needs a weight above 0."
ALL_ARCHIVED = "Leave at least one task that is not archived; or archive the benchmark."
NO_GROUP = "At least one task needs a weight above 0, and so does its group."
CSV = "system,a,b\nX,1,2\nY,2,1\n"
TASKS_OF_0 = '[[task]]\nname = "a"\nweight = -0.0\n[[task]]\nname = "b"\nweight = 0\n'
GROUP_OF_0 = '[[group]]\nname = "g"\nweight = 0\n[[task]]\nname = "a"\ngroup = "g"\n[[task]]\nname = "b"\ngroup = "g"\n'
BASIC = f'aggregation = "basic"\n{GROUP_OF_0}'


@pytest.mark.parametrize(
    ("tasks", "groups", "aggregation", "problem"),
    [
        ([TaskSpec("a", weight=ZERO), TaskSpec("b", weight=ZERO)], [], "basic", ("tasks", 0, NO_TASK)),
        ([TaskSpec("a", weight=ZERO), TaskSpec("b")], [], "basic", None),
        ([TaskSpec("a", weight=Decimal("-0.0"))], [], "basic", ("tasks", 0, NO_TASK)),
        ([], [GroupSpec("g", ZERO)], "balanced", None),
        ([TaskEdit("a", is_archived=True), TaskEdit("b", weight=ZERO)], [], "basic", ("tasks", 1, NO_TASK)),
        ([TaskEdit("a", is_archived=True)], [], "basic", ("tasks", 0, ALL_ARCHIVED)),
        ([TaskSpec("a", group="G")], [GroupSpec("f"), GroupSpec("g", ZERO)], "weighted", ("groups", 1, NO_GROUP)),
        ([TaskSpec("a", group="g"), TaskSpec("b")], [GroupSpec("g", ZERO)], "weighted", None),
        ([TaskSpec("a", group="g"), TaskSpec("b", weight=ZERO)], [GroupSpec("g", ZERO)], "two_step",
         ("groups", 0, NO_GROUP)),
        ([TaskSpec("a", group="f", weight=ZERO), TaskSpec("b", group="g")], [GroupSpec("f"), GroupSpec("g", ZERO)],
         "balanced", ("groups", 1, NO_GROUP)),
        ([TaskSpec("a", group="g")], [GroupSpec("g", ZERO)], "basic", None),
        ([TaskSpec("a", group="new")], [], "balanced", None),
    ],
)  # fmt: skip
def test_the_first_field_without_weight_is_named_where_no_task_is_left_with_any(tasks, groups, aggregation, problem):
    assert weightless(tasks, groups, aggregation) == problem


def test_no_service_and_no_folder_makes_such_a_benchmark(make, tmp_path):
    owner = make.user()
    with pytest.raises(ValidationError) as refused:
        create_benchmark(name="None", owner=owner, tasks=[TaskSpec("a", weight=ZERO)])
    assert refused.value.message_dict == {"tasks": [NO_TASK]}
    (tmp_path / "scores.csv").write_text(CSV, encoding="utf-8")
    about = tmp_path / "benchmark.toml"
    for text, problem in (
        (TASKS_OF_0, "at least one task needs a weight above 0"),
        (GROUP_OF_0, "at least one task needs a weight above 0, and so does its group"),
    ):
        about.write_text(text, encoding="utf-8")
        with pytest.raises(TableError) as unread:
            import_folder(tmp_path, owner=owner, key="none")
        assert unread.value.one_line() == f"{about}: {problem}"
    assert not Benchmark.objects.exists()
    about.write_text(BASIC, encoding="utf-8")
    assert import_folder(tmp_path, owner=owner, key="basic").last_revision_number == 1


def test_a_file_with_such_weights_becomes_no_draft(make):
    browser = signed_in(make.user())
    about = SimpleUploadedFile("benchmark.toml", TASKS_OF_0.encode())
    answer = browser.post("/new/", {"name": "None", "text": CSV, "about": about})
    assert (answer.status_code, answer.context["errors"]) == (
        400, ["benchmark.toml, at least one task needs a weight above 0"],
    )  # fmt: skip
    assert not BenchmarkDraft.objects.exists()


@pytest.mark.parametrize("action", ["", "create"])
def test_a_draft_with_such_weights_is_refused_at_the_first_of_them(make, action):
    owner = make.user()
    draft = make_benchmark_draft(owner, name="None", table=CSV.encode())
    entered = sent(ProposalForms(draft_contents(draft).proposal, new_tasks=0))
    entered |= {"name": "None", "visibility": "public", "submission_policy": "open", "default_rule": "borda"}
    answer = signed_in(owner).post(f"/new/{draft.uuid}/", entered | {
        "task-0-weight": "-0", "task-1-weight": "0", "action": action,
    })  # fmt: skip
    assert answer.status_code == 400
    assert [form.errors for form in answer.context["parts"].tasks.forms] == [{"weight": [NO_TASK]}, {}]
    assert not Benchmark.objects.exists()


def test_a_change_to_such_weights_is_refused_at_its_field_and_one_task_of_weight_0_is_stored(make):
    benchmark = make.published(SCORES, tasks=[TaskSpec("a", group="g"), TaskSpec("b")], groups=[GroupSpec("g")])
    browser, path = signed_in(owner_of(benchmark)), f"/b/{benchmark.key}/manage/tasks/"
    entered = sent(ProposalForms(present_proposal(benchmark))) | {"aggregation": "balanced", "action": "preview"}
    refused = browser.post(path, entered | {"task-0-weight": "0", "task-1-weight": "0.0"})
    assert (refused.status_code, refused.context["preview"]) == (400, None)
    assert refused.context["parts"].tasks.forms[0].errors == {"weight": [NO_TASK]}
    refused = browser.post(path, entered | {"group-0-weight": "0", "task-1-weight": "0"})
    assert (refused.status_code, refused.context["parts"].groups.forms[0].errors) == (400, {"weight": [NO_GROUP]})
    stored = entered | {"task-1-weight": "-0"}
    token = browser.post(path, stored).context["preview"].token
    assert browser.post(path, stored | {"action": "apply", "token": token}).status_code == 302
    assert [str(task.weight.normalize()) for task in benchmark.tasks.all()] == ["1", "0"]


def test_a_board_from_before_is_neither_copied_nor_taken_for_a_template(make):
    benchmark = make.publish(without_weight(make, "balanced"))
    browser = signed_in(owner_of(benchmark))
    for path, more in (("manage/edition/", {"with_scores": "1"}), ("template/", {})):
        answer = browser.post(f"/b/{benchmark.key}/{path}", {"name": "Again"} | more)
        assert answer.status_code == 400
        assert NO_GROUP in compact(answer)
    assert list(Benchmark.objects.values_list("key", flat=True)) == [benchmark.key]


@pytest.mark.parametrize("score_view", ["full", "own"])
def test_a_board_of_an_older_release_whose_tasks_are_all_archived_can_be_read(make, client, score_view):
    benchmark = make.benchmark(SCORES, tasks=[TaskSpec("a"), TaskSpec("b")], score_view=score_view)
    benchmark.tasks.update(is_archived=True)
    record_configuration_change(benchmark, author=owner_of(benchmark))
    make.publish(benchmark)
    client.force_login(owner_of(benchmark) if score_view == "full" else make.user())
    pages = [f"/b/{benchmark.key}/"] + [f"/b/{benchmark.key}/systems/x/"] * (score_view == "full")
    assert [client.get(page).status_code for page in pages] == [200] * len(pages)
