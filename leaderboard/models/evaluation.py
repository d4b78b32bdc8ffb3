"""Predictions scored against references that no one sees: references, phases, teams, and what people submit."""

import uuid
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import NAME_LENGTH, Benchmark, Task
from leaderboard.models.people import User
from leaderboard.models.submissions import Source, Submission
from leaderboard.models.texts import LineField, LinesField


class EvaluationMode(models.Model):
    """How a benchmark scores predictions; one row where its owners chose something."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.CASCADE, related_name="evaluation_mode")
    # Whether boards and submitters see a new score only if a paired test says that it is better (docs/ladder.md).
    uses_ladder = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"evaluation of {self.benchmark}"


class TaskReferences(models.Model):
    """The references of a task: one version, encrypted. A correction is a further row; the newest one counts.

    The file is compressed, then encrypted with a key that is not in the database (`evaluation.encryption`).
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="references")
    number = models.PositiveIntegerField(help_text="1, 2, ... of one task.")
    metric = models.CharField(max_length=80, help_text="Its key in `ranking_engine.evaluation.metrics.METRICS`.")
    options = models.JSONField(default=dict)
    file_name = LineField(max_length=NAME_LENGTH, help_text="Its ending says how the file is read.")
    n_instances = models.PositiveIntegerField()
    n_by_split = models.JSONField(default=dict, help_text="How many instances each split has.")
    n_effective = models.JSONField(
        default=dict,
        blank=True,
        help_text="How many of equal weight each split is worth; of references without weights empty.",
    )
    # Ids are no secret, but which of them are public and which private is one: both are `test` here.
    ids = models.BinaryField(help_text="Compressed JSON: the ids of `development` and of `test`, each in order.")
    ciphertext = models.BinaryField()
    # The hash of a short file would give its labels away to who tries all of them; so it is encrypted, too.
    sealed_sha256 = models.BinaryField(help_text="SHA-256 of the plain file, encrypted.")
    key_id = models.CharField(max_length=16, db_index=True, help_text="Which key encrypts both.")
    uploaded_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "-number"]
        verbose_name_plural = "task references"
        constraints = [models.UniqueConstraint(fields=["task", "number"], name="references_number_once_a_task")]

    def __str__(self) -> str:
        return f"references {self.number} of {self.task}"


class Phase(models.Model):
    """A time in which predictions are accepted, and what becomes of them."""

    class Kind(models.TextChoices):
        DEVELOPMENT = "development", gettext_lazy("Development")
        TEST = "test", gettext_lazy("Test")

    class Split(models.TextChoices):
        DEVELOPMENT = "development", gettext_lazy("development: the instances of this split")
        PUBLIC = "public", gettext_lazy("public: the instances of this split")
        TEST = "test", gettext_lazy("test: all instances except development")

    class Counts(models.TextChoices):
        BEST = "best", gettext_lazy("a system's best submission")
        LAST = "last", gettext_lazy("a system's last submission")

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="phases")
    name = LineField(max_length=80)
    kind = models.CharField(max_length=11, choices=Kind, default=Kind.TEST)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField(null=True, blank=True)
    split = models.CharField(max_length=11, choices=Split, default=Split.TEST)
    # When the board goes over to the scores on the private split; it did so where `went_private_at` says when.
    private_at = models.DateTimeField(null=True, blank=True)
    went_private_at = models.DateTimeField(null=True, editable=False)
    # Caps count submissions of predictions, of a team together; none where empty.
    daily_cap = models.PositiveIntegerField(null=True, blank=True)
    total_cap = models.PositiveIntegerField(null=True, blank=True)
    max_systems = models.PositiveIntegerField(null=True, blank=True, help_text="Of one team, or of one person.")
    counts = models.CharField(max_length=4, choices=Counts, default=Counts.BEST)

    class Meta:
        ordering = ["opens_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="phase_name_once_a_benchmark"),
            models.CheckConstraint(
                condition=Q(closes_at=None) | Q(closes_at__gt=models.F("opens_at")), name="phase_closes_after_it_opens"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.benchmark}"


class Team(models.Model):
    """People who submit predictions to a benchmark together and share one quota."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="teams")
    name = LineField(max_length=80)
    name_folded = models.CharField(max_length=160, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    members = models.ManyToManyField(User, through="leaderboard.TeamMembership", related_name="teams")

    class Meta:
        ordering = ["name_folded"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name_folded"], name="team_name_once_a_benchmark"),
        ]

    def __str__(self) -> str:
        return self.name


class TeamMembership(models.Model):
    """Who is in a team: at most one of each benchmark."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="team_memberships")
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="one_team_a_benchmark_and_user")]

    def __str__(self) -> str:
        """By the number of the user: the administration writes this into its log, which outlives accounts."""
        return f"user {self.user_id} in team {self.team_id}"


class TeamInvitation(models.Model):
    """An invitation to a team: of one person, or by a link. Only the link's hash is stored; each works once.

    A display name that is not exactly one person's has an invitation, too, which no link opens: else a team would see
    in its list who has an account.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    invited = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="team_invitations")
    name = LineField(max_length=80, blank=True, default="", db_default="")  # as the author wrote it; empty of a link
    secret_hash = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001 -- NULLs are distinct
    author = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["team", "invited"], name="invited_once_a_team"),
            models.CheckConstraint(
                condition=Q(invited=None) ^ Q(secret_hash=None), name="an_invitation_is_of_a_person_or_a_link"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation to team {self.team_id}"


class PredictionCount(models.Model):
    """How many predictions a team, or a person without one, submitted in a phase: on one day, or in all."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="prediction_counts")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, related_name="prediction_counts")
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="prediction_counts")
    period = models.CharField(max_length=10, help_text="A day in UTC, as 2026-01-31, or `total`.")
    n_submitted = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["phase", "team", "period"], name="one_prediction_count_a_team_and_period"),
            models.UniqueConstraint(fields=["phase", "user", "period"], name="one_prediction_count_a_user_and_period"),
            models.CheckConstraint(condition=Q(team=None) ^ Q(user=None), name="predictions_of_a_team_or_a_user"),
        ]

    def __str__(self) -> str:
        return f"{self.n_submitted} in {self.phase}, {self.period}"


class PredictionSubmission(models.Model):
    """A system's predictions, from the upload to the ordinary submission that comes of them."""

    class State(models.TextChoices):
        WAITING = "waiting", gettext_lazy("Waiting")
        SCORING = "scoring", gettext_lazy("Scoring")
        SCORED = "scored", gettext_lazy("Scored")
        REFUSED = "refused", gettext_lazy("Refused")
        CANCELLED = "cancelled", gettext_lazy("Cancelled")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="prediction_submissions")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, null=True, related_name="prediction_submissions")
    submitter = models.ForeignKey(User, on_delete=models.PROTECT, related_name="prediction_submissions")
    team = models.ForeignKey(Team, on_delete=models.SET_NULL, null=True, related_name="prediction_submissions")
    source = models.CharField(max_length=10, choices=Source)
    # What it states of its system, as `Submission.statement`: `name`, and where stated `organisation`, `url` and so on.
    statement = models.JSONField()
    note = LinesField(blank=True)
    idempotency_key = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 -- NULLs are distinct
    is_trial = models.BooleanField(default=False, help_text="Scored on the development split; no submission follows.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    problems = models.JSONField(default=list, help_text="Why it was refused: one entry a problem, without references.")
    # By the key of the task: the number of the references that are to be used, or were.
    scored_with = models.JSONField(default=dict)
    outcome = LinesField(blank=True, default="", db_default="", help_text="What became of it, for its submitter.")
    # Who had it scored again against corrected references; empty once its scores are on the board.
    rescored_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    submission = models.OneToOneField(
        Submission, on_delete=models.PROTECT, null=True, blank=True, related_name="predictions"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    scored_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["benchmark", "submitter", "-id"], name="predictions_by_submitter")]
        constraints = [
            models.UniqueConstraint(
                fields=["submitter", "benchmark", "idempotency_key"], name="predictions_key_once_a_user_and_benchmark"
            ),
        ]

    def __str__(self) -> str:
        return f"predictions {self.uuid}"

    @property
    def system_name(self) -> str:
        """What the system is called."""
        return str(self.statement.get("name", ""))


class PredictionFile(models.Model):
    """The predictions for one task, as they came in, and what scoring found."""

    BY = "by"  # the entry of the results that says what computed the others

    prediction_submission = models.ForeignKey(PredictionSubmission, on_delete=models.CASCADE, related_name="files")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="prediction_files")
    name = LineField(max_length=NAME_LENGTH)
    sha256 = models.CharField(max_length=64)
    n_predictions = models.PositiveIntegerField()
    content = models.BinaryField(help_text="The file, compressed.")
    # By split (`test`, `public`, `private`, `development`): value, standard error and number of instances.
    # Those on `private` are shown to no one before the board goes over to them.
    results = models.JSONField(default=dict)
    # Per instance, as `InstanceScores.values`, in the order of `TaskReferences.ids`; empty where there are none.
    instance_values = models.BinaryField(default=b"")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["prediction_submission", "task"], name="one_prediction_file_a_task")
        ]

    def __str__(self) -> str:
        return f"{self.name} for {self.task}"

    @property
    def scored_by(self) -> dict[str, Any]:
        """What computed the results: `metric`, `library`, `library_version`, `references`; empty before."""
        by: dict[str, Any] = self.results.get(self.BY, {})
        return by
