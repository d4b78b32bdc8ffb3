"""The Django admin: staff edit benchmarks and people here, through the same services as everything else.

Scores, submissions, events, revisions and reports can be looked at, and not touched. Tasks are archived, not deleted.
"""

from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.core.exceptions import ValidationError
from django.db.models import QuerySet, URLField
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest

from leaderboard.access.audit import Change, record_changes
from leaderboard.accounts.display_names import is_taken
from leaderboard.benchmarks.audited import audited_state, record_state_changes
from leaderboard.benchmarks.create import prepare_group, prepare_task, record_configuration_change
from leaderboard.benchmarks.identities.links import change_links
from leaderboard.common.requests import signed_in
from leaderboard.models import (
    AuditEntry,
    Batch,
    Benchmark,
    Job,
    Membership,
    Publication,
    Report,
    Revision,
    Score,
    Submission,
    SubmissionEvent,
    System,
    Task,
    TaskGroup,
    User,
)
from leaderboard.queue.retry import retry_job
from leaderboard.rankings.configuration import default_rule_choices
from ranking_engine.text.names import check_name, fold_name

IN_ADMIN = "changed in the administration"

admin.site.site_header = "Plurank administration"
admin.site.site_title = "Plurank administration"
admin.site.index_title = "Overview"


class Untouchable(admin.ModelAdmin):
    """Rows that the admin shows and no one changes here."""

    formfield_overrides = {URLField: {"assume_scheme": "https"}}

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401
        """No one adds one."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401
        """No one changes one."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401
        """No one deletes one."""
        return False


class KeyedForm(forms.ModelForm):
    """A row with a name and a permanent key, which may be left to the name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["key"].required = False
        if self.instance.pk:
            self.fields["key"].disabled = True

    def clean_name(self) -> str:
        """The name as it is stored, which no other row of the benchmark has."""
        kind = self._meta.model._meta.verbose_name  # noqa: SLF001 -- Django's documented way to a model's names
        try:
            name = check_name(self.cleaned_data["name"], str(kind))
        except ValueError as error:
            raise ValidationError(str(error)) from error
        others = self._meta.model._default_manager.filter(benchmark_id=self.instance.benchmark_id or 0)  # noqa: SLF001
        if fold_name(name) in {fold_name(other.name) for other in others.exclude(pk=self.instance.pk)}:
            raise ValidationError(f"This benchmark already has a {kind} with the name {name!r}.")
        return name


class TaskAdminForm(KeyedForm):
    """A task as staff edit it."""

    class Meta:
        model = Task
        fields = (
            "order", "name", "key", "group", "direction", "weight", "metric", "unit",
            "minimum", "maximum", "chance", "precision", "cluster", "is_archived",
        )  # fmt: skip

    def save(self, commit: bool = True) -> Task:
        """Bring name and key into their stored form."""
        prepare_task(self.instance)
        return super().save(commit)


class GroupAdminForm(KeyedForm):
    """A task group as staff edit it."""

    class Meta:
        model = TaskGroup
        fields = ("order", "name", "key", "weight")

    def save(self, commit: bool = True) -> TaskGroup:
        """Bring name and key into their stored form."""
        prepare_group(self.instance)
        return super().save(commit)


class DistinctNames(BaseInlineFormSet):
    """New rows of one form do not share a name or a key either."""

    def clean(self) -> None:
        """Refuse the second of two rows of one name or key."""
        super().clean()
        for field in ("name", "key"):
            texts = [fold_name(form.cleaned_data.get(field) or "") for form in self.forms if form.cleaned_data]
            filled = [text for text in texts if text]
            if len(filled) != len(set(filled)):
                raise ValidationError(f"Two rows have the same {field}.")


class BenchmarkInline(admin.TabularInline):
    """Rows of a benchmark; nothing is deleted from the history that other rows refer to."""

    extra = 0

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401
        """Tasks and groups are archived or left empty."""
        return False


class TaskInline(BenchmarkInline):
    """The tasks of a benchmark."""

    model = Task
    form = TaskAdminForm

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        """A task's group is one of its own benchmark's."""
        if db_field.name == "group":
            match = request.resolver_match
            benchmark = match.kwargs.get("object_id") if match else None
            kwargs["queryset"] = TaskGroup.objects.filter(benchmark_id=benchmark or 0)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class GroupInline(BenchmarkInline):
    """The task groups of a benchmark."""

    model = TaskGroup
    form = GroupAdminForm


class MembershipFormSet(BaseInlineFormSet):
    """The people of a benchmark: one of them owns it."""

    def clean(self) -> None:
        """Refuse a benchmark without an owner."""
        super().clean()
        roles = [form.cleaned_data.get("role") for form in self.forms if form.cleaned_data.get("DELETE") is not True]
        if not any(self.errors) and Membership.Role.OWNER not in roles:
            raise ValidationError("A benchmark needs at least one owner.")


class MembershipInline(admin.TabularInline):
    """Who may do what on a benchmark."""

    model = Membership
    formset = MembershipFormSet
    extra, min_num = 0, 1
    fields = ("user", "role")
    autocomplete_fields = ("user",)


class BenchmarkForm(forms.ModelForm):
    """A benchmark as staff edit it."""

    default_rule = forms.ChoiceField(choices=default_rule_choices, initial="borda")
    source_url = forms.URLField(max_length=500, required=False, assume_scheme="https")

    class Meta:
        model = Benchmark
        fields = (
            "name", "key", "description", "visibility", "submission_policy", "replacement", "default_rule",
            "missing_policy", "aggregation", "gamma", "source_url", "licence", "citation", "doi", "tags",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 -- those of a form
        super().__init__(*args, **kwargs)
        default_rule = self.fields.get("default_rule")
        if isinstance(default_rule, forms.ChoiceField):
            default_rule.choices = default_rule_choices(self.instance)


@admin.register(Benchmark)
class BenchmarkAdmin(admin.ModelAdmin):
    """Edits a benchmark; what changes its configuration becomes a revision with the editor's name."""

    form = BenchmarkForm
    inlines = (GroupInline, TaskInline, MembershipInline)
    list_display = ("name", "key", "visibility", "submission_policy", "last_revision_number", "published_number")
    search_fields = ("name", "key")
    prepopulated_fields = {"key": ("name",)}
    save_on_top = True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:  # noqa: ANN401
        """A key is permanent once it is given."""
        return ("key",) if obj else ()

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Any]:  # noqa: ANN401
        """Only a new benchmark's key follows its name."""
        return {} if obj else dict(self.prepopulated_fields)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401
        """A benchmark's history is kept."""
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: ANN401
        """Remember how the benchmark was before the first of its rows is stored."""
        form.state_before = audited_state(obj.pk) if change else None
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: ANN401
        """After all rows are stored, in the same transaction: a changed configuration is a revision.

        What changed goes into the benchmark's own trail, as if its owners had done it.
        """
        super().save_related(request, form, formsets, change)
        benchmark, author = form.instance, request.user if isinstance(request.user, User) else None
        revision = record_configuration_change(benchmark, author=author, note=IN_ADMIN)
        if form.state_before is None:
            created = Change(AuditEntry.Subject.BENCHMARK, benchmark.key, "created", "", "yes")
            record_changes(benchmark, [created], actor=author, reason=IN_ADMIN)
        else:
            record_state_changes(benchmark, form.state_before, actor=author, reason=IN_ADMIN, revision=revision)
        if revision:
            messages.info(request, f"The configuration changed: revision {revision.number} is being computed.")


class OwnDisplayName:
    """A form of an account whose display name no one else has."""

    def clean_display_name(self) -> str:
        """The name, unless it is new and someone else's."""
        name = self.cleaned_data["display_name"]  # type: ignore[attr-defined]
        user = self.instance  # type: ignore[attr-defined]
        is_kept = User.objects.filter(pk=user.pk, display_name=name).exists()
        if not is_kept and is_taken(name, user):
            raise ValidationError("This display name, or one that looks like it, is already taken.")
        return str(name)


class PersonForm(OwnDisplayName, UserChangeForm):
    """An account as staff edit it."""


class NewPersonForm(OwnDisplayName, AdminUserCreationForm):
    """An account that staff make."""


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Accounts, known by their email addresses."""

    form = PersonForm
    add_form = NewPersonForm
    ordering = ("email",)
    list_display = ("email", "display_name", "is_active", "is_staff", "date_joined")
    list_filter = ("is_active", "is_staff")
    search_fields = ("email", "display_name")
    fieldsets = (
        (None, {"fields": ("email", "display_name", "password")}),
        ("May", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("When", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "display_name", "usable_password", "password1", "password2")}),)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ANN401
        """Accounts are closed, not deleted: what they submitted stays."""
        return False


@admin.register(System)
class SystemAdmin(Untouchable):
    """Systems, to look at, and to end links to models that owners declared wrongly."""

    list_display = ("name", "key", "benchmark", "identity", "created_at")
    list_filter = ("benchmark",)
    search_fields = ("name", "key", "identity__key")
    actions = ("end_links",)

    @admin.action(description="End the links to models", permissions=["unlink"])
    def end_links(self, request: HttpRequest, queryset: QuerySet[System]) -> None:
        """End the links of the chosen systems; the trail of each benchmark says so."""
        linked = queryset.filter(identity__isnull=False).select_related("benchmark").order_by("benchmark", "key")
        n_ended = 0
        for benchmark, systems in groupby(linked, key=attrgetter("benchmark")):
            links = {system.key: "" for system in systems}
            try:
                n_ended += len(change_links(benchmark, links, author=signed_in(request), reason=IN_ADMIN))
            except ValidationError as error:
                self.message_user(request, f"{benchmark}: {' '.join(error.messages)}", messages.ERROR)
        self.message_user(request, f"{n_ended} systems are no longer linked.")

    def has_unlink_permission(self, request: HttpRequest) -> bool:
        """Staff who may change systems."""
        return request.user.has_perm("leaderboard.change_system")


@admin.register(Batch)
class BatchAdmin(Untouchable):
    """Batches, to look at."""

    list_display = ("uuid", "benchmark", "uploader", "source", "created_at")
    list_filter = ("source", "benchmark")


@admin.register(Submission)
class SubmissionAdmin(Untouchable):
    """Submissions, to look at."""

    list_display = ("uuid", "benchmark", "system", "state")
    list_filter = ("state", "benchmark")


@admin.register(SubmissionEvent)
class SubmissionEventAdmin(Untouchable):
    """What happened to submissions, to look at."""

    list_display = ("submission", "kind", "actor", "revision", "at")
    list_filter = ("kind",)


@admin.register(Score)
class ScoreAdmin(Untouchable):
    """Scores, to look at."""

    list_display = ("submission", "task", "value", "missing_reason")
    list_select_related = ("submission", "task")
    show_full_result_count = False


@admin.register(Revision)
class RevisionAdmin(Untouchable):
    """Revisions, to look at."""

    list_display = ("benchmark", "number", "cause", "author", "created_at", "input_hash")
    list_filter = ("cause", "benchmark")


@admin.register(Report)
class ReportAdmin(Untouchable):
    """Reports, to look at."""

    list_display = ("revision", "kind", "parameters", "engine_version", "seconds", "created_at")
    list_filter = ("kind",)
    exclude = ("arrays",)

    def get_queryset(self, request: HttpRequest) -> Any:  # noqa: ANN401
        """Without the arrays, which may be large."""
        return super().get_queryset(request).defer("arrays")


@admin.register(Publication)
class PublicationAdmin(Untouchable):
    """Publications, to look at."""

    list_display = ("benchmark", "revision", "engine_version", "is_pointer_moved", "published_at")


@admin.register(Job)
class JobAdmin(Untouchable):
    """Jobs, to look at, and to try again where they were given up or rest."""

    list_display = ("pk", "kind", "benchmark", "sequence", "queue", "state", "attempts", "created_at", "finished_at")
    list_filter = ("state", "queue", "kind")
    actions = ("try_again",)

    @admin.action(description="Try again now", permissions=["retry"])
    def try_again(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """Make the chosen jobs due, those of them that failed or rest."""
        n_due = sum(retry_job(job) for job in queryset)
        self.message_user(request, f"{n_due} of {len(queryset)} jobs are due now.")

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Staff who may change jobs."""
        return request.user.has_perm("leaderboard.change_job")
