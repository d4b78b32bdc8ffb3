"""The demonstration links the systems of a family of boards that are called alike, and no others; once."""

from leaderboard.benchmarks.demonstration import LINK_REASON, declare_models, save_meta_boards
from leaderboard.models import AuditEntry, MetaBoard, System


def test_systems_of_one_family_are_linked_where_their_names_are_the_same(make):
    owner, other = make.user("owner"), make.user("other")
    tables = {
        "helm-accuracy": ({"Ada": [1.0], "Bob": [2.0], "Cleo": [3.0]}, owner),
        "helm-bias": ({"Ada": [1.0], "bob": [2.0], "Dan": [3.0]}, owner),
        "helm-lite": ({"Ada": [1.0]}, owner),
        "helm-toxicity": ({"Ada": [1.0]}, other),
    }
    for key, (table, of) in tables.items():
        make.benchmark(table, owner=of, key=key, name=key, n_tasks=1)
    for _ in range(2):
        declare_models(owner)
        save_meta_boards(owner)
    linked = System.objects.filter(identity__isnull=False).order_by("benchmark__key")
    assert list(linked.values_list("benchmark__key", "name", "identity__key")) == [
        ("helm-accuracy", "Ada", "ada"),
        ("helm-bias", "Ada", "ada"),
    ]
    assert list(AuditEntry.objects.filter(field="model").values_list("reason", flat=True)) == [LINK_REASON] * 2
    board = MetaBoard.objects.get()
    assert (board.key, board.author, sorted(one.key for one in board.benchmarks.all())) == (
        "helm-classic", owner, ["helm-accuracy", "helm-bias", "helm-toxicity"],
    )  # fmt: skip
