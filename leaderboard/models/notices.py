"""Messages to people: notices on the site, their choices, and the outbox of emails and webhooks."""

from django.db import models
from django.utils.translation import gettext_lazy

from leaderboard.models.benchmarks import Benchmark
from leaderboard.models.people import User


class OutboxMessage(models.Model):
    """A mail or a webhook's delivery, written in the transaction of its cause and sent by the sweep, at least once.

    Claiming is one conditional UPDATE that puts `not_before` off by the time one attempt may take: anyone who dies
    between sending and marking leaves a row that comes due again.
    """

    class Kind(models.TextChoices):
        MAIL = "mail"
        WEBHOOK = "webhook"

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"

    SERVER_ERROR = "the mail server "  # so begins the last error of a mail that waits for its server

    kind = models.CharField(max_length=10, choices=Kind, default=Kind.MAIL)
    # What is sent. Emptied once it is: a mail may hold a link that resets a password.
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField()
    claim_token = models.UUIDField(null=True)
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["state", "not_before"], name="outbox_by_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class NoticeKind(models.TextChoices):
    """What one may be told of."""

    DECISION = "decision", gettext_lazy("A decision on one of my submissions, or a delay")
    PREDICTIONS = "predictions", gettext_lazy("My predictions that were scored or refused")
    TEAM = "team", gettext_lazy("An invitation to a team")
    OVERTAKEN = "overtaken", gettext_lazy("One of my systems fell in rank")
    FIRST_PLACE = "first_place", gettext_lazy("A new first place on one of my benchmarks")
    WAITING = "waiting", gettext_lazy("A submission that I can decide on")
    TOKEN = "token", gettext_lazy("One of my API tokens expires soon")
    WEBHOOK = "webhook", gettext_lazy("A webhook of one of my benchmarks that was switched off")
    FOLLOWED = (
        "followed",
        gettext_lazy("What a URL that one of my benchmarks follows brought, or that it was switched off"),
    )
    ORGANISATION = "organisation", gettext_lazy("The end of one of my organisations, or a benchmark that left it")


class Notice(models.Model):
    """One thing that one person was told. `key` says of what: it is told once, whichever process finds it out."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, null=True, related_name="notices")
    kind = models.CharField(max_length=12, choices=NoticeKind)
    key = models.CharField(max_length=100)
    text = models.TextField()  # in English
    # The same as data, which is said in the language of the reader; None in notices of older releases.
    sentence = models.JSONField(null=True)
    # What someone wrote of it, such as a reason, and who: their words go with their account.
    words = models.TextField(blank=True)
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    path = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    is_mail_wanted = models.BooleanField(default=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="told_once")]
        indexes = [models.Index(fields=["is_mail_wanted", "mailed_at"], name="notices_to_mail")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class NoticeChoice(models.Model):
    """Where someone wants to hear of one kind of thing. Without a row: on the site and by mail."""

    class Way(models.TextChoices):
        MAIL = "mail", gettext_lazy("on the site and by email")
        SITE = "site", gettext_lazy("on the site only")
        OFF = "off", gettext_lazy("not at all")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notice_choices")
    kind = models.CharField(max_length=12, choices=NoticeKind)
    way = models.CharField(max_length=4, choices=Way)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="one_choice_a_kind")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.way}"


class NoticeDigest(models.Model):
    """When someone was last sent a mail about one benchmark, or about their account."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notice_digests")
    about = models.CharField(max_length=30)
    sent_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "about"], name="one_digest_at_a_time")]

    def __str__(self) -> str:
        return f"digest about {self.about}"
