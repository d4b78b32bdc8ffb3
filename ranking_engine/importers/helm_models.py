"""What HELM says of models beside their scores: `model_metadata.yaml`, or the same list as JSON.

A file of models is a mapping with a list `models`; each entry has the `name` that run specs have and the `display_name`
that tables have.
"""

from collections.abc import Mapping
from typing import Any

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.records import Collector, a_list, a_mapping, is_stated

FACTS = {"num_parameters": "parameters", "release_date": "released"}
ORGANISATION = ("creator_organization_name", "creator_organization")
WEIGHTS = {"open": True, "limited": False, "closed": False}  # by `access`


def is_models(document: object) -> bool:
    """Whether a document is a list of HELM's models."""
    models = a_mapping(document).get("models")
    return isinstance(models, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("name"), str) for one in models
    )


def describe_models(collect: Collector, file: SourceFile) -> None:
    """Keep what a file of models says of each, under both of its names.

    Args:
        collect: where it goes.
        file: one of which `is_models` is true.
    """
    for model in a_list(file.document["models"]):
        facts: dict[str, Any] = {key: model[name] for name, key in FACTS.items() if is_stated(model.get(name))}
        organisations = [model[name] for name in ORGANISATION if is_stated(model.get(name))]
        if organisations:
            facts["organisation"] = organisations[0]
        if isinstance(model.get("access"), str) and model["access"] in WEIGHTS:
            facts["open-weights"] = WEIGHTS[model["access"]]
        for name in (model["name"], model.get("display_name")):
            if isinstance(name, str):
                collect.describe(" ".join(name.split()), facts)
