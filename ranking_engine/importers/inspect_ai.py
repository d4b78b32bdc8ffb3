"""inspect_ai: a log of an evaluation, as `.eval` (an archive, of which the header is read) or `.json`."""

from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format, file_by_file
from ranking_engine.importers.records import Collector, Record, a_list, a_mapping, is_stated, showable

SPREAD = frozenset({"stderr", "bootstrap_stderr", "std", "var"})
ERRORS = ("stderr", "bootstrap_stderr")


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    for about in (a_mapping(file.document) for file in files):
        run = a_mapping(about.get("eval"))
        if not ("task" in run and "model" in run and ("status" in about or "plan" in about)):
            return False
    return True


def _read_file(collect: Collector, file: SourceFile) -> None:
    about = file.document
    run, results = a_mapping(about["eval"]), a_mapping(about.get("results"))
    status = about.get("status")
    if status != "success":
        collect.warn(f"{collect.source}: the run did not end well; its status is {showable(str(status))}")
    config = a_mapping(run.get("config"))
    if config.get("limit") is not None or config.get("sample_id") is not None:
        collect.warn(f"{collect.source}: run with a limit, so not on all instances")
    system = collect.label(run.get("model"), "model", "eval.model")
    task = collect.label(run.get("task"), "task", "eval.task")
    scorers = [a_mapping(scorer) for scorer in a_list(results.get("scores"))]
    if not scorers:
        collect.note(f"left out: {collect.source}, which has no results")
    for i, scorer in enumerate(scorers):
        place = f"results.scores, entry {i + 1}"
        name = collect.label(scorer.get("name"), "scorer", place)
        metrics = a_mapping(scorer.get("metrics"))
        values = {key: a_mapping(metric).get("value") for key, metric in metrics.items()}
        n = collect.count_of(scorer.get("scored_samples", results.get("completed_samples")), place)
        error = next((values[key] for key in ERRORS if key in values), None)
        measured = [key for key in values if str(key) not in SPREAD]
        for key in measured:
            at = f"{place}, {showable(str(key))}"
            if not is_stated(values[key]):
                collect.note(f"left out: {at}: the file states no value")
                continue
            collect.add(
                Record(
                    system=system,
                    task=task,
                    subset=name if len(scorers) > 1 else "",
                    metric=collect.label(key, "metric", at),
                    value=collect.number(values[key], at),
                    # It is the error of a mean, and does not say of which where there are several.
                    standard_error=collect.error_of(error, at) if len(measured) == 1 else None,
                    n=n,
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )
        if error is not None and len(measured) > 1:
            collect.note(f"the standard error of {showable(name)} is left out: it does not say which metric it is of")


FORMAT = Format("inspect-ai", "inspect_ai log (.eval or .json)", recognise, file_by_file(_read_file))
