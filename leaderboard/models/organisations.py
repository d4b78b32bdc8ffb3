"""Organisations that own benchmarks: their members, invitations, and what was changed by whom."""

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH, is_key
from leaderboard.models.people import User
from leaderboard.models.texts import LineField, LinesField


class Organisation(models.Model):
    """Several people who own benchmarks together: a role in it is a role on each of its benchmarks."""

    key = models.CharField(max_length=KEY_LENGTH, unique=True, validators=[is_key])
    name = LineField(max_length=NAME_LENGTH)
    description = LinesField(blank=True)
    url = models.URLField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class OrganisationMember(models.Model):
    """What a person is in an organisation."""

    class Role(models.TextChoices):
        OWNER = "owner", gettext_lazy("Owner")
        MEMBER = "member", gettext_lazy("Member")

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="organisation_members")
    role = models.CharField(max_length=6, choices=Role)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "user"], name="one_role_an_organisation")]

    def __str__(self) -> str:
        """By the number of the user, as a role on a benchmark."""
        return f"user {self.user_id}: {self.role} of {self.organisation}"


class OrganisationInvitation(models.Model):
    """A link by which one person joins an organisation. Only its secret's hash is stored; it works once.

    One that was used has expired with that, and leads its user to the organisation again.
    """

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=6, choices=OrganisationMember.Role)
    secret_hash = models.CharField(max_length=64, unique=True)
    author = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    used_by = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation: {self.role} of {self.organisation}"


class OrganisationChange(models.Model):
    """Who changed what about an organisation; its owners see it."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="changes")
    actor = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # A field; or "role of user 7", never a person's name; or "benchmark glue".
    field = models.CharField(max_length=KEY_LENGTH + 20)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.field}: {self.before} -> {self.after}"
