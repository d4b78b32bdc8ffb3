"""Boards over benchmarks that people saved under an address."""

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH, Benchmark, is_key
from leaderboard.models.people import User
from leaderboard.models.texts import LineField, LinesField
from ranking_engine.catalogue.variants import LONGEST_KEY


class MetaBoard(models.Model):
    """A question that `/compare/` answers, saved: which benchmarks vote, and how. Its figures are never stored."""

    class Worth(models.TextChoices):
        SHARE = "share", gettext_lazy("share of rivals beaten")
        POINTS = "points", gettext_lazy("Borda points")

    key = models.CharField(max_length=KEY_LENGTH, unique=True, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    description = LinesField(blank=True)
    author = models.ForeignKey(User, on_delete=models.CASCADE, related_name="meta_boards")
    is_public = models.BooleanField(default=True)
    benchmarks = models.ManyToManyField(Benchmark, related_name="meta_boards")
    # Which makes the ranks on each benchmark; empty = each benchmark's own.
    rule = models.CharField(max_length=LONGEST_KEY, blank=True)
    worth = models.CharField(max_length=6, choices=Worth, default=Worth.SHARE)
    missing_policy = models.CharField(
        max_length=12, choices=Benchmark.MissingPolicy, default=Benchmark.MissingPolicy.DROP_SYSTEMS
    )
    default_rule = models.CharField(max_length=LONGEST_KEY, default="copeland")
    least = models.PositiveSmallIntegerField(default=2)  # systems that are on so many of the benchmarks take part
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "key"]

    def __str__(self) -> str:
        return self.name
