"""Systems: what is ranked."""

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH, Benchmark, is_key
from leaderboard.models.identities import ModelIdentity
from leaderboard.models.texts import LineField, LinesField, ListedField

PROVISIONAL = "~"  # the first sign of the key of a system that waits; no other key begins with it


class Baseline(models.TextChoices):
    """Whether a system is there for others to be measured against, or takes part without competing."""

    NONE = "none", gettext_lazy("no baseline")
    HUMAN = "human", gettext_lazy("human baseline")
    OTHER = "other", gettext_lazy("baseline")
    GUEST = "guest", gettext_lazy("out of competition")


# Those of whom the board says how many systems are above them.
MEASURES = frozenset({Baseline.HUMAN, Baseline.OTHER})


class System(models.Model):
    """An alternative of one benchmark. Its key is permanent; its name is the present one, older ones are in
    `SystemChange`. It is on the board of a revision when a change at or before that revision says so.

    Until a submission of it is accepted it waits: its key is provisional, and nothing is said of it but its name."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="systems")
    key = models.CharField(max_length=KEY_LENGTH, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    name_folded = models.CharField(max_length=2 * NAME_LENGTH, editable=False)
    organisation = LineField(max_length=NAME_LENGTH, blank=True)
    url = models.URLField(max_length=500, blank=True)
    description = LinesField(blank=True)
    tags = ListedField(default=list, blank=True)
    # By the key of one of its benchmark's `metadata_fields`; values of fields that are declared no more stay.
    metadata = models.JSONField(default=dict, blank=True)
    # Its owners say so. It marks the row, and no ranking depends on it.
    baseline = models.CharField(max_length=5, choices=Baseline, default=Baseline.NONE, db_default=Baseline.NONE)
    # The model that it is, as its benchmark's owners declared; no ranking depends on it.
    identity = models.ForeignKey(
        ModelIdentity, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="systems"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "identity"], name="one_system_a_benchmark_and_model"),
            models.UniqueConstraint(fields=["benchmark", "key"], name="system_key_once_a_benchmark"),
            models.UniqueConstraint(fields=["benchmark", "name_folded"], name="system_name_once_a_benchmark"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_waiting(self) -> bool:
        """Whether no submission of it was ever accepted."""
        return self.key.startswith(PROVISIONAL)
