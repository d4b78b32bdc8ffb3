"""The demonstration: real public leaderboards, loaded the way an owner loads their own files."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from django.db import transaction

from leaderboard.benchmarks.folders import import_folder
from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.benchmarks.meta_boards import MIN_BENCHMARKS, MetaBoardSpec, save_meta_board
from leaderboard.models import Benchmark, Membership, MetaBoard, System, User
from leaderboard.models.systems import PROVISIONAL
from leaderboard.queue.turns import want_while_looking
from leaderboard.studies.plans import study_when_idle

FOLDER = Path(__file__).resolve().parent.parent / "demonstration"
FIRST = "glue"  # the board that the front page and the documents begin with: its results are computed first
# Boards whose systems are the same where they have one name: each family is from one source, which names its systems so
# on all of its boards. HELM's later leaderboards, Lite and Capabilities, are not among them.
FAMILIES = (
    tuple(
        f"helm-{of}"
        for of in (
            "accuracy", "bias", "calibration", "efficiency", "fairness", "robustness", "summarization", "toxicity",
        )
    ),
    tuple(
        f"heim-{of}"
        for of in (
            "aesthetics-auto", "aesthetics-human", "alignment-auto", "alignment-human", "black-out", "nsfw", "nudity",
            "originality", "quality-auto", "quality-human",
        )
    ),
)  # fmt: skip
LINK_REASON = "Declared by the owner of the demonstration: the source has the same name for both."
# By name: what it is of, and whose boards vote.
META_BOARDS = {
    "HELM classic": ("the core scenarios of HELM, which evaluates language models", FAMILIES[0]),
    "HEIM": ("HEIM, which evaluates models that turn text into pictures", FAMILIES[1]),
}


def load_demonstration(*, owner_email: str, owner_password: str, progress: Callable[[str], None]) -> list[str]:
    """Make the owner's account and load the benchmarks that are not there yet.

    Args:
        owner_email: the account that owns them; its password is set again, so that what is printed is true.
        owner_password: that account's password.
        progress: called with a line of text for every benchmark.

    Returns:
        The keys of the benchmarks that were loaded now.
    """
    with transaction.atomic():
        owner = User.objects.filter(email=owner_email).first()
        if owner is None:
            owner = User.objects.create_superuser(owner_email, owner_password, display_name="Demonstration owner")
        elif not owner.check_password(owner_password):
            owner.set_password(owner_password)
            owner.save(update_fields=["password"])
    loaded = []
    for folder in sorted(path for path in FOLDER.iterdir() if (path / "scores.csv").exists()):
        if Benchmark.objects.filter(key=folder.name).exists():
            continue
        with transaction.atomic():
            benchmark = import_folder(folder, owner=owner, submission_policy=Benchmark.SubmissionPolicy.OPEN)
            study_when_idle(benchmark)
            if folder.name == FIRST:
                want_while_looking(benchmark.pk)
        progress(f"{benchmark.name}: {benchmark.systems.count()} systems, {benchmark.tasks.count()} tasks")
        loaded.append(benchmark.key)
    if loaded:
        declare_models(owner)
        save_meta_boards(owner)
    return loaded


@transaction.atomic
def declare_models(owner: User) -> None:
    """Link the systems of each family of boards that the source calls alike; those that are linked stay.

    Args:
        owner: of the demonstration.
    """
    own = owner.memberships.filter(role=Membership.Role.OWNER).values("benchmark")
    for family in FAMILIES:
        boards = Benchmark.objects.filter(key__in=family, pk__in=own).order_by("key")
        rows = System.objects.filter(benchmark__in=boards).exclude(key__startswith=PROVISIONAL)
        counts = Counter(rows.values_list("name", flat=True))
        models = dict(rows.filter(identity__isnull=False).values_list("name", "identity__key"))
        for benchmark in boards:
            unlinked = rows.filter(benchmark=benchmark, identity=None)
            links = {
                key: models.get(name, NEW) for key, name in unlinked.values_list("key", "name") if counts[name] > 1
            }
            for change in change_links(benchmark, links, author=owner, reason=LINK_REASON):
                models[change.system_name] = change.after


def save_meta_boards(owner: User) -> None:
    """Save the demonstration's meta-boards that are not there yet, of the boards that are.

    Args:
        owner: of the demonstration.
    """
    for name, (what, keys) in META_BOARDS.items():
        here = list(Benchmark.objects.filter(key__in=keys, visibility="public").values_list("key", flat=True))
        is_there = MetaBoard.objects.filter(author=owner, name=name).exists()
        if len(here) >= MIN_BENCHMARKS and not is_there:
            description = (
                f"Boards of {what}: each aspect that is measured is a board, and votes once. Systems are the models "
                f"that the source calls alike on all of them, as the owner of the demonstration declared."
            )
            fields = {"name": name, "description": description, "missing_policy": Benchmark.MissingPolicy.MEDIAN}
            save_meta_board(MetaBoardSpec(here, fields), author=owner)
