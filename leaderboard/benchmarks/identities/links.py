"""Declaring that systems are a model: owners do it for the systems of their own benchmark, and for no other.

A model that systems of several benchmarks are linked to is what their owners agree on: each of them linked theirs. No
ranking depends on it, so a link takes neither a revision nor a job; the trail of the benchmark keeps it.
"""

import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext

from leaderboard.access.audience import naming_benchmarks
from leaderboard.access.audit import changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.names import make_key, with_free_key
from leaderboard.models import AuditEntry, Benchmark, Membership, ModelIdentity, System, User
from leaderboard.models.systems import PROVISIONAL
from leaderboard.rankings.systems import names_on_boards
from ranking_engine.text.names import shorten

MAX_SYSTEMS = 100  # of one model
MAX_LINKS = 500  # that one call changes
NEW = "new"  # in place of a model's key: one that is made for the system


@dataclass(frozen=True)
class LinkChange:
    """What a call changed of one system: the key of its model before and after, empty where there is none."""

    system: str
    system_name: str
    before: str
    after: str


@transaction.atomic
def change_links(
    benchmark: Benchmark, links: Mapping[str, str], *, author: User, reason: str = "", is_dry: bool = False
) -> list[LinkChange]:
    """Declare which models systems of a benchmark are.

    Args:
        benchmark: whose systems they are.
        links: by the key of a system the key of a model, NEW for a model of its own, or nothing to end its link.
        author: who declares it, an owner of the benchmark.
        reason: why.
        is_dry: whether nothing is stored; the key of a new model is then NEW.

    Returns:
        What changes, by the keys of the systems.

    Raises:
        ValidationError: a system or a model is not there for the author, a model has another system of the benchmark,
            or too many.
    """
    if len(links) > MAX_LINKS:
        raise ValidationError(
            {
                "links": gettext("%(n_links)s systems; at most %(max_links)s are linked in one call.")
                % {"n_links": len(links), "max_links": MAX_LINKS}
            }
        )
    locked = lock_as_owner(benchmark.pk, author, or_staff=True)
    rows = System.objects.filter(benchmark=locked).exclude(key__startswith=PROVISIONAL).select_related("identity")
    systems = {system.key: system for system in rows.filter(key__among=list(links))}
    if missing := [key for key in links if key not in systems]:
        raise ValidationError(
            {
                "links": gettext("No system of this benchmark has the key %(shorten)s.")
                % {"shorten": repr(shorten(missing[0]))}
            }
        )
    wanted = sorted({key for key in links.values() if key and key != NEW})
    # Those that may lose their last system are locked as well, so that no one links to them meanwhile.
    present = [system.identity_id for system in systems.values() if system.identity_id]
    involved = ModelIdentity.objects.filter(Q(key__among=wanted) | Q(pk__among=present))
    models = _known_models(author, list(involved.select_for_update().order_by("pk")))
    if missing := [key for key in wanted if key not in models]:
        raise ValidationError(
            {
                "links": gettext("There is no model %(shorten)s, or you have no access to it.")
                % {"shorten": repr(shorten(missing[0]))}
            }
        )
    changes = []
    left: set[int] = set()
    for key in sorted(links):
        system = systems[key]
        before = system.identity.key if system.identity else ""
        if links[key] == before or (links[key] == NEW and before):
            continue
        if system.identity_id:
            left.add(system.identity_id)
        after = links[key]
        if after == NEW and not is_dry:
            system.identity = _new_model(locked, system)
            after = system.identity.key
        else:
            system.identity = models.get(after)
        changes.append((system, LinkChange(key, system.name, before, after)))
    _refuse_doubles(locked, [system for system, _ in changes])
    if not is_dry and changes:
        changed = [system for system, _ in changes]
        System.objects.filter(pk__in=[system.pk for system in changed]).update(identity=None)  # two may change places
        System.objects.bulk_update(changed, ["identity"], batch_size=500)
        ModelIdentity.objects.filter(pk__in=left, systems=None).delete()
        trail = [
            entry
            for _, change in changes
            for entry in changes_between(
                AuditEntry.Subject.SYSTEM, change.system, {"model": change.before}, {"model": change.after}
            )
        ]
        record_changes(locked, trail, actor=author, reason=reason)
    return [change for _, change in changes]


def _known_models(author: User, models: list[ModelIdentity]) -> dict[str, ModelIdentity]:
    """Of some models, by key, those that the author may know of.

    Args:
        author: who links; of their own boards they know of what is not published yet, too.
        models: the models.
    """
    linked = System.objects.filter(identity__in=models, benchmark__in=naming_benchmarks(author))
    rows = list(linked.values_list("pk", "identity", "benchmark"))
    present = names_on_boards([pk for pk, _, _ in rows])
    own = author.memberships.filter(role=Membership.Role.OWNER).values_list("benchmark", flat=True)
    owned = set(own.filter(benchmark__in={of for _, _, of in rows}))
    seen = {model for pk, model, of in rows if pk in present or of in owned}
    return {model.key: model for model in models if model.pk in seen}


def _new_model(benchmark: Benchmark, system: System) -> ModelIdentity:
    """A model for a system that was accepted. Its key says the system's name only where everyone may know that name."""
    if not naming_benchmarks(AnonymousUser()).filter(pk=benchmark.pk).exists():
        return ModelIdentity.objects.create(key=f"model-{secrets.token_hex(8)}", made_for=system)

    def store() -> ModelIdentity:
        similar = ModelIdentity.objects.filter(key__startswith=make_key(system.name, ()))
        key = make_key(system.name, {*similar.values_list("key", flat=True), NEW})
        return ModelIdentity.objects.create(key=key, made_for=system)

    return with_free_key(store)


def _refuse_doubles(benchmark: Benchmark, changed: list[System]) -> None:
    """Refuse two systems of a benchmark that are one model, and models with too many systems.

    Args:
        benchmark: with its systems as they are stored.
        changed: those whose models change, with the new ones.

    Raises:
        ValidationError: there are such.
    """
    wanted = Counter(system.identity for system in changed if system.identity is not None)
    if not wanted:
        return
    moved = [system.pk for system in changed]
    staying = System.objects.filter(identity__in=wanted).exclude(pk__in=moved)
    here = {system.identity_id: system for system in staying.filter(benchmark=benchmark)}
    for model, n in wanted.items():
        if n > 1 or model.pk in here:
            raise ValidationError(
                {
                    "links": gettext("Two systems of this benchmark would be the model %(key)s; it can be one of them.")
                    % {"key": model.key}
                }
            )
    counts = dict(staying.order_by().values_list("identity").annotate(n=Count("pk")))
    if full := [model.key for model, n in wanted.items() if counts.get(model.pk, 0) + n > MAX_SYSTEMS]:
        raise ValidationError(
            {
                "links": gettext("The model %(full)s has %(max_systems)s systems, which is the limit.")
                % {"full": full[0], "max_systems": MAX_SYSTEMS}
            }
        )
