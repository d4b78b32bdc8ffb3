"""Weights that readers keep under a name."""

from django.db import models
from django.db.models import Q

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.people import User
from leaderboard.models.texts import LineField

PROFILE_NAME_LENGTH = 60


class WeightProfile(models.Model):
    """Weights of the tasks of one benchmark under a name: someone's own, or published by an owner for all readers."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="weight_profiles")
    author = models.ForeignKey(User, on_delete=models.CASCADE, related_name="weight_profiles")
    name = LineField(max_length=PROFILE_NAME_LENGTH)
    is_published = models.BooleanField(default=False)
    # Texts by key, as in an address: only what differed from the benchmark's weights when it was saved is named.
    task_weights = models.JSONField(default=dict)
    group_weights = models.JSONField(default=dict)
    aggregation = models.CharField(max_length=8, choices=Benchmark.Aggregation, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "author", "name"], name="profile_name_once_an_author"),
            models.UniqueConstraint(
                fields=["benchmark", "name"], condition=Q(is_published=True), name="published_profile_name_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.benchmark}"
