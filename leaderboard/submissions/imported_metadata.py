"""What result files say of systems beside their scores, as the fields of one benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.text import in_a_list
from leaderboard.models import Benchmark
from ranking_engine.files.metadata import MetadataField
from ranking_engine.importers.results_table import Import
from ranking_engine.text.names import fold_name, shorten

ORGANISATION = "organisation"  # which every system has, whatever fields are declared


@dataclass(frozen=True)
class ImportedMetadata:
    """What an import says of its systems.

    Attributes:
        values: by the name of a system in the files, values by the key of a field of the benchmark.
        organisations: by the same names.
        notes: what is kept, and what is left out and why.
    """

    values: Mapping[str, Mapping[str, Any]]
    organisations: Mapping[str, str]
    notes: list[str]


def imported_metadata(benchmark: Benchmark, results: Import) -> ImportedMetadata:
    """The values of the benchmark's fields that an import states. One that its field does not allow is left out.

    Args:
        benchmark: with its declared fields.
        results: what was recognised.
    """
    fields = benchmark.fields_of_systems
    by_label: dict[str, MetadataField] = {fold_name(field.name): field for field in fields}
    by_label |= {field.key: field for field in fields}
    values: dict[str, dict[str, Any]] = {}
    organisations: dict[str, str] = {}
    kept, unknown, wrong = dict[str, None](), dict[str, None](), list[str]()
    for system, facts in results.metadata.items():
        for label, given in facts.items():
            if label == ORGANISATION:
                organisations[system] = str(given)
                kept[label] = None
                continue
            field = by_label.get(fold_name(label))
            if field is None:
                unknown[label] = None
                continue
            typed = given
            if field.kind not in ("number", "yes_no"):  # a text, maybe where files have a number or a truth
                if isinstance(given, bool):
                    typed = "yes" if given else "no"
                elif isinstance(given, int | float):
                    typed = f"{given:.12g}"
            try:
                value = field.read(typed)
            except ValueError as problem:
                wrong.append(f"{field.name} of {shorten(system)}: {problem}")
                continue
            if value is not None:
                values.setdefault(system, {})[field.key] = value
                kept[field.name] = None
    notes = (
        [
            gettext("The files also state %(kept)s of systems; it is kept with the scores.")
            % {"kept": in_a_list(list(kept), 20)}
        ]
        if kept
        else []
    )
    if unknown:
        called = in_a_list([shorten(label) for label in unknown], 20)
        notes.append(
            gettext("Left out: %(called)s of systems; this benchmark declares no such fields.") % {"called": called}
        )
    notes += [gettext("Left out: %(text)s.") % {"text": text} for text in wrong[:10]]
    if len(wrong) > 10:
        notes.append(
            gettext("Left out: %(n_more)s more values that their fields do not allow.") % {"n_more": len(wrong) - 10}
        )
    return ImportedMetadata(values, organisations, notes)
