"""Models: what systems of several benchmarks are, as the owners of each benchmark declared."""

from django.db import models

from leaderboard.models.benchmarks import KEY_LENGTH, is_key


class ModelIdentity(models.Model):
    """What systems of several benchmarks are: pages call it a model. Its systems are those that point to it.

    It has no name of its own: a reader is told what it is called on the boards that they may see.
    """

    key = models.CharField(max_length=KEY_LENGTH, unique=True, validators=[is_key])
    # The system that it was made for; where a reader sees that, its name is what they read as the model's.
    made_for = models.ForeignKey(
        "leaderboard.System", on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.key
