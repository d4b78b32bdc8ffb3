"""Who uses the site: users, their API tokens, and their roles on benchmarks."""

from typing import Any, ClassVar

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy
from knox.models import AbstractAuthToken, AuthTokenManager

from leaderboard.models.texts import LineField
from ranking_engine.text.confusables import skeleton

NAMELESS = "user"  # with a number, in any language: what the site calls people who gave no name
SKELETON_LENGTH = 400  # one letter of a name may be several of its skeleton


class UserManager(BaseUserManager["User"]):
    """Makes users, who are known by their email address alone."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":  # noqa: ANN401
        """Store a user; without a password they cannot sign in until they reset it.

        Raises:
            ValueError: `email` is empty.
        """
        if not email:
            raise ValueError("`email` is empty: a user signs in by email")
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":  # noqa: ANN401
        """Store a user who may do everything in the Django admin, and sign in without a mail.

        Only who has the machine makes one: that proves more than reading an address's mail.
        """
        user = self.create_user(email, password, **(fields | {"is_staff": True, "is_superuser": True}))
        addresses = apps.get_model("account", "EmailAddress")
        addresses.objects.create(user=user, email=user.email, verified=True, primary=True)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        """Find a user by email address, whatever its case."""
        return self.get(email__iexact=username)


def skeleton_of(display_name: str) -> str:
    """What display names that look alike have in common."""
    return (skeleton(display_name) or display_name.casefold())[:SKELETON_LENGTH]


def nameless(number: int | str) -> str:
    """What everyone reads in place of a name that was not given, or is no longer known.

    Args:
        number: the primary key of the user.
    """
    return f"{NAMELESS} {number}"


class User(AbstractBaseUser, PermissionsMixin):  # type: ignore[django-manager-missing]  # of tokens: knox is untyped
    """Someone with an account. Personal data is on this row and nowhere else."""

    email = models.EmailField(unique=True)
    display_name = LineField(max_length=80, blank=True, help_text="How others see you.")
    organisation = LineField(max_length=120, blank=True, default="", db_default="")
    orcid = models.CharField(max_length=19, blank=True, default="", db_default="")
    # Of the display name: what names that look alike have in common. Kept by `save`; new names are compared with it.
    name_skeleton = models.CharField(max_length=SKELETON_LENGTH, blank=True, db_index=True, editable=False)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False, help_text="May sign in to the Django admin.")
    date_joined = models.DateTimeField(default=timezone.now)
    # The number of the half minute whose code of the second factor was used last: none opens the account twice.
    last_code_step = models.PositiveBigIntegerField(default=0, editable=False)
    session_generation = models.PositiveIntegerField(default=0, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Counts benchmarks they made; taken with one conditional UPDATE, so that two at once never pass the limit.
    n_benchmarks_made = models.PositiveIntegerField(default=0, editable=False)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_whatever_its_case")]

    def __str__(self) -> str:
        return self.shown_name

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Store the user, and what names that look like theirs have in common."""
        self.name_skeleton = skeleton_of(self.display_name)
        fields = kwargs.get("update_fields")
        if fields is not None and "display_name" in fields:
            kwargs["update_fields"] = {*fields, "name_skeleton"}
        super().save(*args, **kwargs)

    @property
    def shown_name(self) -> str:
        """What others see: never the email address."""
        return self.display_name or nameless(self.pk)

    @property
    def affiliation(self) -> str:
        """What the person says of themselves to owners and moderators: where they work, and their ORCID iD."""
        return ", ".join(part for part in (self.organisation, self.orcid and f"ORCID {self.orcid}") if part)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """What a session must know to go on: of this password, and of this generation of sessions."""
        known = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]
        if not self.session_generation:
            return known
        salt = f"plurank.sessions.{self.session_generation}"
        return salted_hmac(salt, known, secret=secret, algorithm="sha256").hexdigest()


class ApiToken(AbstractAuthToken):
    """A named key to the API. Only its hash is stored; it may do what its scopes say and its user may."""

    class Scope(models.TextChoices):
        READ = "read"
        SUBMIT = "submit"
        MANAGE = "manage"
        EVALUATE = "evaluate"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = LineField(max_length=80)
    scopes = models.JSONField(default=list)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[AuthTokenManager] = AuthTokenManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="token_name_once_a_user")]

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.scopes)})"


class Membership(models.Model):
    """What a user may do on one benchmark beyond what everyone may."""

    class Role(models.TextChoices):
        OWNER = "owner", gettext_lazy("Owner")
        MODERATOR = "moderator", gettext_lazy("Moderator")
        MEMBER = "member", gettext_lazy("Member")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    benchmark = models.ForeignKey("leaderboard.Benchmark", on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    # Through which organisation they have it, and which they have themselves beside it: `organisations.roles`.
    organisation = models.ForeignKey("leaderboard.Organisation", on_delete=models.CASCADE, null=True, related_name="+")
    own_role = models.CharField(max_length=10, choices=Role, blank=True, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "benchmark"], name="one_role_a_benchmark")]

    def __str__(self) -> str:
        """By the number of the user: the administration writes this into its log, which outlives accounts."""
        return f"user {self.user_id}: {self.role} of {self.benchmark}"


class Visit(models.Model):
    """When a user last looked at a board, so that they can be told what changed since; no one else sees it.

    `at` is the last look of the present visit, `before` that of the visit before. It goes with the account.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="visits")
    benchmark = models.ForeignKey("leaderboard.Benchmark", on_delete=models.CASCADE, related_name="visits")
    at = models.DateTimeField()
    before = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "benchmark"], name="visit_once_a_user_and_benchmark")]

    def __str__(self) -> str:
        return f"user {self.user_id} at {self.benchmark}"


class AttemptCount(models.Model):
    """How many attempts at something failed of late: of one account, or from one address. Taken with one UPDATE.

    `whose` is a keyed hash: neither email addresses nor those of computers are kept.
    """

    kind = models.CharField(max_length=10)
    whose = models.CharField(max_length=64)
    n_attempts = models.PositiveIntegerField(default=1)
    ends_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "whose"], name="attempts_once_a_kind_and_whose")]

    def __str__(self) -> str:
        return f"{self.n_attempts} attempts at {self.kind}"
