"""A benchmark and its tasks, as they are now. How they were is in the configuration of each revision."""

from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q, Value
from django.utils.translation import gettext, gettext_lazy

from leaderboard.models.people import User
from leaderboard.models.texts import FieldsField, LineField, LinesField, ListedField, VariantsField
from ranking_engine.catalogue.variants import LONGEST_KEY
from ranking_engine.core.decimals import exact_precision
from ranking_engine.files.metadata import MetadataField

KEY_LENGTH = 80
NAME_LENGTH = 200
BLOCKS = ("#", "- ", "* ", "> ", "|", "```")  # how lines of Markdown begin that end a paragraph
is_key = RegexValidator(
    r"^[a-z0-9]+(-[a-z0-9]+)*\Z", "A key is lower-case letters and digits with single hyphens between them."
)


# As the Citation File Format has it: no resolver before it, no spaces.
is_doi = RegexValidator(
    r"^10\.[0-9]{4,9}(\.[0-9]+)*/[A-Za-z0-9:/_;.()\[\]-]+\Z",
    gettext_lazy("A DOI begins with 10., such as 10.5281/zenodo.1234567; write it without https://doi.org/."),
)


def is_precision(value: Decimal) -> None:
    """Refuse a precision that the engine would refuse."""
    try:
        exact_precision(value, "The precision")
    except ValueError as problem:
        raise ValidationError(str(problem)) from problem


def first_line(description: str) -> str:
    """The first line of a description that says something."""
    return next((line.strip() for line in description.splitlines() if line.strip()), "")


def first_paragraph(description: str) -> str:
    """The first paragraph of a description, or its heading, in one line; lines are often cut at some width."""
    lines: list[str] = []
    for line in map(str.strip, description.strip().splitlines()):
        if lines and (not line or line.startswith(BLOCKS)):
            break
        lines.append(line)
        if line.startswith("#"):
            break
    return " ".join(lines)


def searched_text(name: str, description: str) -> str:
    """What a search of the list looks at: a name and the first line of a description, without regard to case."""
    return f"{name}\n{first_line(description)}".casefold()


class Benchmark(models.Model):
    """A hosted set of tasks with systems scored on them."""

    class Kind(models.TextChoices):
        SCORES = "scores", gettext_lazy("scores, which submitters send")
        VOTES = "votes", gettext_lazy("votes on pairs of systems, from which scores are computed")

    class Visibility(models.TextChoices):
        PUBLIC = "public", gettext_lazy("public: listed, everyone can read it")
        UNLISTED = "unlisted", gettext_lazy("unlisted: everyone with the link can read it")
        PRIVATE = "private", gettext_lazy("private: members only")

    class SubmissionPolicy(models.TextChoices):
        OPEN = "open", gettext_lazy("open: accepted at once")
        MODERATED = "moderated", gettext_lazy("moderated: a moderator decides")
        OWNERS = "owners", gettext_lazy("owners only")
        CLOSED = "closed", gettext_lazy("closed")

    class Replacement(models.TextChoices):
        ROW = "row", gettext_lazy("replaces the whole row of the system")
        TASK = "task", gettext_lazy("replaces the tasks it mentions")

    class ScoreView(models.TextChoices):
        FULL = "full", gettext_lazy("ranks and scores")
        RANKS = "ranks", gettext_lazy("ranks without scores")
        OWN = "own", gettext_lazy("only your own systems")

    class MissingPolicy(models.TextChoices):
        UNDEFINED = "undefined", gettext_lazy("Undefined")
        DROP_SYSTEMS = "drop_systems", gettext_lazy("Drop Systems")
        DROP_TASKS = "drop_tasks", gettext_lazy("Drop Tasks")
        MEDIAN = "median", gettext_lazy("Median")
        WORST = "worst", gettext_lazy("Worst")
        PREDICTED = "predicted", gettext_lazy("Predicted")

    class Aggregation(models.TextChoices):
        BASIC = "basic", gettext_lazy("basic: every task counts its own weight")
        WEIGHTED = "weighted", gettext_lazy("weighted: group weight x task weight / number of tasks in the group")
        BALANCED = "balanced", gettext_lazy("balanced: every group counts exactly its weight")
        TWO_STEP = "two_step", gettext_lazy("two-step: every group is a leaderboard, then these are ranked")

    key = models.CharField(max_length=KEY_LENGTH, unique=True, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    description = LinesField(blank=True, help_text="Markdown; its first line is shown in lists.")
    # What submitters send; an owner chooses votes before anything is submitted (`leaderboard.votes`).
    kind = models.CharField(
        max_length=6, choices=Kind, default=Kind.SCORES, db_default=Kind.SCORES.value, editable=False
    )
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PUBLIC)
    submission_policy = models.CharField(max_length=10, choices=SubmissionPolicy, default=SubmissionPolicy.MODERATED)
    replacement = models.CharField(max_length=4, choices=Replacement, default=Replacement.ROW)
    # Caps count systems: a table of 30 counts 30. They hold for anyone who does not moderate; none where empty.
    daily_cap = models.PositiveIntegerField(null=True, blank=True)
    total_cap = models.PositiveIntegerField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    embargo_until = models.DateTimeField(null=True, blank=True)
    # What waits for a moderator says until when; afterwards it is overdue, and rejected only where the owners say so.
    decision_days = models.PositiveSmallIntegerField(
        default=14, validators=[MinValueValidator(1), MaxValueValidator(365)]
    )
    rejects_overdue = models.BooleanField(default=False)
    # Whether submitters take their accepted scores off the board themselves; else they ask and moderators decide.
    submitters_withdraw = models.BooleanField(default=True, db_default=True)
    # Whether readers see how many systems each submitter entered (`submissions.disclosure` says which of them).
    shows_submitters = models.BooleanField(default=True, db_default=True)
    # What those see who do not moderate. `access.audience` is the only reader of these two.
    score_view = models.CharField(max_length=5, choices=ScoreView, default=ScoreView.FULL)
    anonymous_until = models.DateTimeField(null=True, blank=True)
    is_archived = models.BooleanField(default=False)
    # Whose owners own it. None where people own it themselves.
    organisation = models.ForeignKey(
        "leaderboard.Organisation", on_delete=models.PROTECT, null=True, blank=True, related_name="benchmarks"
    )
    # What the owners tell readers above the board, newest first: text and moment (`benchmarks.announcements`).
    announcements = models.JSONField(default=list, db_default=Value([], models.JSONField()), blank=True)
    default_rule = models.CharField(max_length=LONGEST_KEY, default="borda")
    missing_policy = models.CharField(max_length=12, choices=MissingPolicy, default=MissingPolicy.DROP_SYSTEMS)
    aggregation = models.CharField(max_length=8, choices=Aggregation, default=Aggregation.BASIC)
    gamma = models.FloatField(null=True, blank=True, help_text="Optimality threshold γ, in the tasks' unit.")
    # Keys of variants of rules that are columns beside the rules, as `read_variants` returns them.
    variants = VariantsField(default=list, db_default=Value([], models.JSONField()), blank=True)
    # What is said of systems beside their scores, each as `MetadataField.declaration`; no ranking depends on it.
    metadata_fields = FieldsField(default=list, db_default=Value([], models.JSONField()), blank=True)
    source_url = models.URLField(max_length=500, blank=True)
    licence = LineField(max_length=500, blank=True)
    citation = LinesField(blank=True)
    doi = LineField(
        max_length=200, blank=True, default="", db_default="", validators=[is_doi],
        help_text="Such as 10.5281/zenodo.1234567, if the data are archived under one.",
    )  # fmt: skip
    tags = ListedField(default=list, blank=True)
    # Name and first line, folded: what a search of the list looks at. Kept by `save`.
    searched_text = models.TextField(default="", db_default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    # Counts revisions; taken with one UPDATE, so that two acceptances never share a number.
    last_revision_number = models.PositiveIntegerField(default=0, editable=False)
    publication = models.ForeignKey(
        "leaderboard.Publication", on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    # Up to which publication those concerned were told of changed ranks.
    noticed_publication = models.ForeignKey(
        "leaderboard.Publication", on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    # The publication again, in this row, so that moving the pointer is one conditional UPDATE: a condition on another
    # table would not be asked again when PostgreSQL waits for a concurrent mover.
    published_number = models.PositiveIntegerField(default=0, editable=False)
    published_engine_version = models.CharField(max_length=20, blank=True, editable=False)
    people = models.ManyToManyField(User, through="leaderboard.Membership", related_name="benchmarks")

    class Meta:
        ordering = ["name", "key"]
        constraints = [
            models.CheckConstraint(
                condition=Q(published_number__lte=models.F("last_revision_number")), name="published_exists"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Store the benchmark, and what a search of the list looks at."""
        self.searched_text = searched_text(self.name, self.description)
        fields = kwargs.get("update_fields")
        if fields is not None and {"name", "description"} & {*fields}:
            kwargs["update_fields"] = {*fields, "searched_text"}
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """A variant that is the default rule is a column of the board."""
        if "[" in self.default_rule and self.default_rule not in self.variants:
            message = f"{self.default_rule} is the board's default rule: choose another one under Settings first."
            raise ValidationError({"variants": message})

    @property
    def fields_of_systems(self) -> tuple[MetadataField, ...]:
        """What may be said of its systems beside their scores."""
        return tuple(MetadataField.stored(declaration) for declaration in self.metadata_fields)


class TaskGroup(models.Model):
    """A named bundle of tasks with a weight."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="groups")
    key = models.CharField(max_length=KEY_LENGTH, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    weight = models.DecimalField(max_digits=20, decimal_places=10, default=Decimal(1))
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["order", "key"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="group_key_once_a_benchmark"),
            models.CheckConstraint(condition=Q(weight__gte=0), name="group_weight_not_negative"),
        ]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """A voter: one column of the score matrix. Archived, never deleted."""

    class Direction(models.IntegerChoices):
        HIGHER = 1, gettext_lazy("higher is better")
        LOWER = -1, gettext_lazy("lower is better")
        UNORDERED = 0, gettext_lazy("unordered: shown, does not count")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="tasks")
    group = models.ForeignKey(TaskGroup, on_delete=models.PROTECT, null=True, blank=True, related_name="tasks")
    key = models.CharField(max_length=KEY_LENGTH, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    name_folded = models.CharField(max_length=2 * NAME_LENGTH, editable=False)
    metric = LineField(max_length=NAME_LENGTH, blank=True)
    unit = LineField(max_length=40, blank=True)
    direction = models.SmallIntegerField(choices=Direction, default=Direction.HIGHER)
    weight = models.DecimalField(max_digits=20, decimal_places=10, default=Decimal(1))
    minimum = models.FloatField(null=True, blank=True)
    maximum = models.FloatField(null=True, blank=True)
    chance = models.FloatField(null=True, blank=True, help_text="The score of random guessing.")
    precision = models.DecimalField(
        max_digits=20, decimal_places=10, null=True, blank=True, validators=[is_precision],
        help_text="The smallest meaningful difference; scores are rounded to its multiples before ranking.",
    )  # fmt: skip
    cluster = LineField(
        max_length=NAME_LENGTH, blank=True, default="",
        help_text="Tasks of one cluster are not independent of each other; without one, those of one group are not.",
    )  # fmt: skip
    order = models.PositiveIntegerField(default=0)
    is_archived = models.BooleanField(default=False)

    class Meta:
        ordering = ["order", "key"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="task_key_once_a_benchmark"),
            models.UniqueConstraint(fields=["benchmark", "name_folded"], name="task_name_once_a_benchmark"),
            models.CheckConstraint(condition=Q(weight__gte=0), name="task_weight_not_negative"),
            models.CheckConstraint(
                condition=Q(precision__gt=0) | Q(precision__isnull=True), name="task_precision_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """The scale has an extent, and the chance level is on it. Tasks of old may be otherwise until they change."""
        low, high, chance = self.minimum, self.maximum, self.chance
        if low is not None and high is not None and low >= high:
            raise ValidationError({"maximum": gettext("The maximum must be above the minimum.")})
        if chance is not None and ((low is not None and chance < low) or (high is not None and chance > high)):
            raise ValidationError({"chance": gettext("The chance level is outside the scale.")})
