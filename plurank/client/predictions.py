"""Predictions sent to a site that scores them, and evaluators: programs of the owners that score them elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from plurank.client.errors import SiteError
from plurank.client.remote import RemoteWork
from plurank.client.transport import SiteConnection

MAX_PROBLEM = 1000  # characters of why predictions cannot be evaluated


class RemotePredictions(RemoteWork):
    """Predictions that a site scores; it is done when they are scored, refused or cancelled.

    Their `state` is `waiting`, `scoring`, `scored`, `refused` or `cancelled`.
    `status` is what the site said last.
    """

    ADDRESS: ClassVar = "predictions"
    CALLED: ClassVar = "predictions {} are"
    ENDS: ClassVar = frozenset({"scored", "refused", "cancelled"})


def send_predictions(
    transport: SiteConnection,
    benchmark: str,
    system: str,
    files: Mapping[str, str | Path] | str | Path,
    *,
    trial: bool = False,
    key: str = "",
    **about: str,
) -> RemotePredictions:
    """Send predictions of a system to a benchmark.

    Args:
        transport: of the site.
        benchmark: its key.
        system: a name.
        files: by the key or name of a task; or one file with a column `task`.
        trial: score them on the development split only.
        key: what is sent again under this key is one submission.
        about: organisation, url, description or note.

    Raises:
        SiteError: the site refused, or did not answer.
    """
    if isinstance(files, (str, Path)):
        parts = [(Path(files).name, Path(files).read_bytes(), "table")]
    else:
        parts = [(Path(path).name, Path(path).read_bytes(), f"file:{task}") for task, path in files.items()]
    fields = {"system": system, "trial": "true" if trial else "false", **about}
    return RemotePredictions(
        transport, transport.send_files(f"benchmarks/{quote(benchmark)}/predictions/", parts, fields, key=key)
    )


@dataclass(frozen=True)
class PredictionsToEvaluate:
    """What an evaluator gets.

    Attributes:
        task: the key of the task.
        split: `test`, or `development` for a trial run.
        system: the name of the system.
        name: of the file.
        content: of the file.
        splits: `public` and `private`, if the references have both: then the report needs a score on each of them.
    """

    task: str
    split: str
    system: str
    name: str
    content: bytes
    splits: tuple[str, ...] = ()


@dataclass(frozen=True)
class EvaluatorReport:
    """What an evaluator returns where a number alone does not say all.

    Attributes:
        value: the score.
        standard_error: of it, if it is known.
        instances: scores by the id of the instance: of every one, or None.
        splits: a score for each of the splits that `PredictionsToEvaluate` names, or None; a number or a report.
    """

    value: float
    standard_error: float | None = None
    instances: Mapping[str, float] | None = None
    splits: Mapping[str, float | EvaluatorReport] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the report as the site takes it."""
        body: dict[str, Any] = {"value": float(self.value), "standard_error": self.standard_error}
        if self.instances is not None:
            body["instances"] = dict(self.instances)
        if self.splits is not None:
            scores = {name: EvaluatorReport.of(score) for name, score in self.splits.items()}
            body["splits"] = {
                name: {"value": float(one.value), "standard_error": one.standard_error} for name, one in scores.items()
            }
        return body

    @classmethod
    def of(cls, score: float | EvaluatorReport) -> EvaluatorReport:
        """Return a report as it is, and a number as one."""
        return score if isinstance(score, EvaluatorReport) else cls(float(score))


class CannotEvaluateError(ValueError):
    """What an evaluator raises for predictions that have no score; its text is for the submitter."""


Evaluator = Callable[[PredictionsToEvaluate], "EvaluatorReport | float"]


@dataclass(frozen=True)
class EvaluatedFile:
    """A file that an evaluator scored.

    Attributes:
        sentence: what became of its report.
        is_taken: whether the site took the report; not where the claim had ended by then.
    """

    sentence: str
    is_taken: bool


def evaluate_next(
    transport: SiteConnection, benchmark: str, evaluator: Evaluator, *, program: str
) -> EvaluatedFile | None:
    """Evaluate the next file that waits, and keep its claim alive meanwhile.

    A claim that ended is no error: another program has the file by then, and the report is dropped.

    Args:
        transport: of the site, with a token of the scope `evaluate`.
        benchmark: its key.
        evaluator: returns the score. What it raises is not the submitter's fault, unless it is CannotEvaluateError;
            then the claim runs out, and the file is tried again.
        program: what this program calls itself.

    Returns:
        What happened; None where nothing waits.

    Raises:
        InvalidInputError: the evaluator returned what no score can be.
        SiteError: the site refused, or did not answer.
    """
    root = f"benchmarks/{quote(benchmark)}/evaluations/"
    claimed = transport.send(f"{root}claim/", {"program": program[:60]})["evaluation"]
    if claimed is None:
        return None
    path, what = f"{root}{claimed['claim']}/", f"predictions of {claimed['system']} for {claimed['task']}"
    content = transport.request("GET", f"{path}predictions/", {})
    given = PredictionsToEvaluate(
        claimed["task"], claimed["split"], claimed["system"], claimed["file"], content,
        tuple(claimed.get("splits", ())),
    )  # fmt: skip
    is_over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(transport, path, is_over), daemon=True)
    keeper.start()
    try:
        body = EvaluatorReport.of(evaluator(given)).as_json()
    except CannotEvaluateError as error:
        body = {"problem": str(error)[:MAX_PROBLEM] or "they cannot be evaluated"}
    finally:
        is_over.set()
    keeper.join()
    try:
        state = transport.send(f"{path}report/", body)["state"]
    except SiteError as error:
        if error.status in (404, 409):
            return EvaluatedFile(f"{what}: dropped, {error}", is_taken=False)
        raise
    return EvaluatedFile(f"{what}: {body.get('problem') or body['value']}, {state}", is_taken=True)


RENEW_SECONDS = 5.0  # leases have 30 seconds unless the operator says otherwise


def _keep(transport: SiteConnection, path: str, is_over: threading.Event) -> None:
    while not is_over.wait(RENEW_SECONDS):
        try:
            transport.send(f"{path}renew/", {})
        except SiteError as error:
            if error.status in (404, 409):
                return
