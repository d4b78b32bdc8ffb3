"""Tables as files, at addresses of their own: clients that are made from the schema get one type from an operation."""

from collections.abc import Sequence
from typing import Any

from django.urls import URLPattern, path
from rest_framework.renderers import JSONRenderer

PREFIX = "files/"
ENDING = "_file"  # of the names of their routes and operations


def file_routes(routes: Sequence[URLPattern]) -> list[URLPattern]:
    """Of every route that answers with JSON or a file, the one under `files/` that answers with the file alone.

    Args:
        routes: all of a version. They take `?format=csv` and the Accept header, too, which the schema leaves out.
    """
    files: list[URLPattern] = []
    for route in routes:
        view: Any = route.callback.cls  # type: ignore[attr-defined]
        if JSONRenderer in view.renderer_classes and len(view.renderer_classes) > 1:
            more = {"is_of_files": True, "http_method_names": ["get", "head"]}
            of_files: Any = type(f"{view.__name__}OfFiles", (view,), more)
            files.append(path(f"{PREFIX}{route.pattern}", of_files.as_view(), name=f"{route.name}{ENDING}"))
    return files
