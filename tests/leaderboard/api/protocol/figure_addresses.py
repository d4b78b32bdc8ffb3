"""Where a benchmark's figures are in the API: every route of them, in every form."""

from itertools import product

from leaderboard.api.protocol.figures import FigureView
from leaderboard.api.urls import version_1
from leaderboard.models import Benchmark

# What the routes need, or answer by in another way; `{system}` and `{rival}` are keys of two systems.
QUERIES = {
    "head_to_head": ["a={system}&b={rival}"],
    "ranking": ["", "tag=new", "organisation=acme", "weights=task-1:3"],
    "rankings": ["", "weights=task-1:3"],
    "board": ["", "tag=new", "meta.organisation=acme"],
    "scores": ["", "long=true"],
    "changes": ["since=1"],
}
LONG_FORMS = {"csv"}  # `long` is for these alone


def figure_addresses(benchmark: Benchmark, *, system: str, rival: str) -> list[str]:
    """The addresses below `/api/v1/` of all figures, in every form that their views answer with.

    Args:
        benchmark: published.
        system: the key of a system; what is about one is about this one.
        rival: the key of another one.
    """
    arguments = {"key": benchmark.key, "system_key": system, "rule": "borda", "study": "diversity", "task": "task-1"}
    arguments |= {"number": str(benchmark.published_number)}
    addresses = []
    for route in version_1:
        view = route.callback.cls
        if not issubclass(view, FigureView):
            continue
        path = str(route.pattern)
        for name, text in arguments.items():
            for kind in ("slug", "str", "int"):
                path = path.replace(f"<{kind}:{name}>", text)
        assert "<" not in path, f"{path} needs an argument that is not in the list above."
        forms = [renderer.format for renderer in view.renderer_classes]
        for query, form in product(QUERIES.get(route.name, [""]), forms):
            if "long" in query and form not in LONG_FORMS:
                continue
            addresses.append(f"{path}?{query.format(system=system, rival=rival)}&format={form}")
    return addresses
