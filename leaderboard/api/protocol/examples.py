"""The schema as a site serves it: with its own address, and with examples of paths that everyone can read there."""

from functools import cache
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.urls import get_script_prefix
from drf_spectacular.generators import SchemaGenerator

from leaderboard.access.audience import hides_nothing, listed_benchmarks
from leaderboard.benchmarks.meta_boards import readable_meta_boards
from leaderboard.models import ModelIdentity, SystemChange
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.scores import changes_until


@cache
def written_schema() -> dict[str, Any]:
    """The schema without what depends on the site; made once a process, since that takes a second."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


def path_examples() -> dict[str, str | int]:
    """By parameter of a path an example, all of one benchmark that hides nothing; a site without any has fewer."""
    examples: dict[str, str | int] = {"study": "missing_scores"}
    nobody = AnonymousUser()
    if board := readable_meta_boards(nobody).first():
        examples["meta_key"] = board.key
    benchmarks = listed_benchmarks(nobody).filter(hides_nothing(), publication__isnull=False)
    benchmark = benchmarks.select_related("publication__revision__configuration").order_by("pk").first()
    if benchmark is None or benchmark.publication is None:
        return examples
    revision = benchmark.publication.revision
    examples |= {"key": benchmark.key, "rule": benchmark.default_rule, "number": revision.number}
    if tasks := configuration_of(revision).tasks:
        examples["task"] = tasks[0].key
    changes = changes_until(revision)
    left = changes.filter(kind=SystemChange.Kind.LEFT)
    if stayed := changes.exclude(system__in=left.values("system")).values_list("system__key", "system_id").first():
        examples["system_key"], system_id = stayed
        if model := ModelIdentity.objects.filter(systems=system_id).first():
            examples["model_key"] = model.key
    return examples


def site_url(request: Any) -> str:  # noqa: ANN401
    """The address that the paths of the schema follow, as the request says it."""
    return str(request.build_absolute_uri(get_script_prefix()))[:-1]


class SiteSchema(SchemaGenerator):
    """Makes the schema of this site."""

    def get_schema(self, request: Any = None, public: bool = False) -> dict[str, Any]:  # noqa: ANN401
        """The schema, with the address of the site and examples.

        Args:
            request: for the schema, whose address begins with that of the site.
            public: whether it has what not everyone may ask for; it always has.
        """
        schema, examples = written_schema(), path_examples()
        paths: dict[str, dict[str, Any]] = {}
        for path, methods in schema["paths"].items():
            # Experiments have numbers, too, and few boards have any.
            here = examples if "/revisions/" in path else examples | {"number": None}
            paths[path] = {}
            for method, operation in methods.items():
                parameters = [
                    one | {"example": here[one["name"]]} if one["in"] == "path" and here.get(one["name"]) else one
                    for one in operation.get("parameters", ())
                ]
                paths[path][method] = operation | ({"parameters": parameters} if parameters else {})
        return schema | {"servers": [{"url": site_url(request)}], "paths": paths}
