"""A site, its benchmarks and its submissions."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from plurank.board import Board
from plurank.client.errors import SiteError
from plurank.client.formats import FORMATS
from plurank.client.predictions import RemotePredictions, send_predictions
from plurank.client.submissions import RemoteSubmission
from plurank.client.tokens import token_for
from plurank.client.transport import SiteConnection
from plurank.client.uploads import changes_of, systems_of
from plurank.names import rule_key
from plurank.tables import ResultTable
from ranking_engine.importers.score_files import files_of

VOTE_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
}
NAMED_PARTS = 4  # of a path: some programs name the model, and the date of a run, by folders
MAX_FOLDER = 256 * 2**20  # bytes of a benchmark's folder, unpacked


class Site:
    """A site of Plurank.

    Args:
        url: such as "https://boards.example".
        token: made at /account/tokens/; default `PLURANK_TOKEN`, else the one that the file of tokens has for this
            site, see `plurank.client.tokens`. Without one you read what is public.
        retries: further attempts where the site is busy or the answer is lost.
        timeout: seconds that an answer may take to begin.

    Raises:
        ValueError: it is not the URL of a site, or a token would be sent in the clear.
    """

    def __init__(self, url: str, token: str | None = None, *, retries: int = 5, timeout: float = 60) -> None:
        chosen = token_for(url) if token is None else token
        self.transport = SiteConnection(url, chosen, retries=retries, timeout=timeout)

    def __repr__(self) -> str:
        return f"Site({self.transport.root!r})"

    def benchmarks(self, search: str = "", tag: str = "") -> ResultTable:
        """Return the benchmarks that are open to you, of all pages.

        Args:
            search: a text in their names, keys or first lines.
            tag: one of their tags.
        """
        entries = self.transport.listed("benchmarks/", q=search or None, tag=tag or None)
        return _table("Benchmarks", entries)

    def benchmark(self, key: str) -> RemoteBenchmark:
        """Return the benchmark of this key; nothing is asked until something of it is."""
        return RemoteBenchmark(self.transport, key)

    def rules(self) -> ResultTable:
        """Return the rules that the site ranks by."""
        return _table("Rules", self.transport.listed("rules/"))

    def create_benchmark(self, *, dry_run: bool = False, **fields: Any) -> RemoteBenchmark:  # noqa: ANN401 -- JSON
        """Create a benchmark; it belongs to the token's user. `name` and `tasks` are needed, docs/api.md has the rest.

        Raises:
            InvalidInputError: a field is wrong; `details` say which.
        """
        answer = self.transport.send("benchmarks/", fields, dry_run=dry_run or None)
        return RemoteBenchmark(self.transport, answer.get("key") or fields.get("key", ""))

    def submission(self, uuid: str) -> RemoteSubmission:
        """Return a submission as it is now."""
        return RemoteSubmission(self.transport, self.transport.get(f"submissions/{quote(uuid, safe='')}/"))


@dataclass(frozen=True)
class RemoteBenchmark:
    """A benchmark of a site.

    Attributes:
        transport: what asks the site.
        key: of the benchmark.
    """

    transport: SiteConnection
    key: str

    @property
    def path(self) -> str:
        """Below /api/v1/."""
        return f"benchmarks/{quote(self.key, safe='')}/"

    @cached_property
    def details(self) -> dict[str, Any]:
        """What the site says of it: name, owners, policy, where its board is."""
        return dict(self.transport.get(self.path))

    def tasks(self) -> ResultTable:
        """Return its tasks: keys, directions, weights, scales."""
        return _table(f"Tasks of {self.key}", self.transport.listed(f"{self.path}tasks/"))

    def ranking(self, rule: str = "borda", *, revision: int | None = None, missing: str | None = None) -> ResultTable:
        """Return the ranking under a rule, with rank intervals where there are some.

        Args:
            rule: its key or name.
            revision: of the board; None for the newest published one.
            missing: another policy for missing scores than the benchmark's own.

        Raises:
            ValueError: there is no such rule.
            SiteError: the site refused.
        """
        key = rule_key(rule)
        pages = list(
            self.transport.pages(f"{self.path}rankings/{quote(key, safe='')}/", revision=revision, missing=missing)
        )
        rows = [entry for page in pages for entry in page["results"]]
        ends = [entry.get("interval") or [None, None] for entry in rows]
        columns = {
            "system": [entry["name"] for entry in rows],
            "rank": [entry["rank"] for entry in rows],
            "score": [entry["score"] for entry in rows],
            "lower": [low for low, _ in ends],
            "upper": [high for _, high in ends],
            "key": [entry["system"] for entry in rows],
        }
        head = pages[0]
        notes = [text for text in (head.get("reason"), head.get("separability")) if text]
        if drawn := head.get("intervals"):
            about = f"{100 * drawn['level']:g} % intervals, n_resamples {drawn['n_resamples']}, seed {drawn['seed']}"
            notes.append(f"lower and upper: {about}")
        return ResultTable(f"{head['name']}, revision {head['revision']} of {self.key}", columns, notes)

    def prospects(self, **conditions: Any) -> ResultTable:  # noqa: ANN401 -- JSON
        """Return who can win under some weights, as published; `conditions=[...]` are solved when asked.

        `system` is a key here, as in the API, `name` the name; in rankings and on boards `system` is the name.

        Raises:
            SiteError: the site refused.
        """
        path = f"{self.path}prospects/"
        rows = self.transport.send(path, conditions)["results"] if conditions else self.transport.listed(path)
        return _table(f"Who can win {self.key}", rows)

    def studies(self) -> ResultTable:
        """Return its studies and the state of each."""
        return _table(f"Studies of {self.key}", self.transport.get(f"{self.path}studies/")["results"])

    def study(self, study: str) -> dict[str, Any]:
        """Return one study: its figures by rule, parameters and seed."""
        return dict(self.transport.get(f"{self.path}studies/{quote(study, safe='')}/"))

    def board(self) -> Board:
        """Return its scores with directions, weights and groups, for ranking on this machine; raises as `pull` does."""
        from plurank.readers import board_of_files  # noqa: PLC0415 -- loaded when asked for
        from ranking_engine.files.tables import read_table  # noqa: PLC0415
        from ranking_engine.importers.score_files import ScoreFiles  # noqa: PLC0415

        files = self._folder()
        table = read_table(files["scores.csv"], name="scores.csv", allow_formula_names=True)
        return board_of_files(ScoreFiles.of_table(table), files["benchmark.toml"], {})

    def pull(self, folder: str | Path) -> list[Path]:
        """Write scores.csv and benchmark.toml into a folder, which is made; return their paths.

        Raises:
            InvalidInputError: it has scores of single instances; then its site has no folder of it.
            SiteError: the site refused, or its archive holds something else.
            FileExistsError: one of them is there already; nothing is written.
        """
        target = Path(folder)
        files = {target / name: content for name, content in self._folder().items()}
        for path in files:
            if path.exists():
                raise FileExistsError(f"{path} is there already; name another folder")
        target.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            path.write_bytes(content)
        return list(files)

    def _folder(self) -> dict[str, bytes]:
        """The table and its description, wherever in the archive they are."""
        try:
            with zipfile.ZipFile(io.BytesIO(self.transport.request("GET", f"{self.path}folder/", {}))) as archive:
                members = {member.filename.rpartition("/")[2]: member for member in archive.infolist()}
                chosen = {name: members[name] for name in ("scores.csv", "benchmark.toml")}
                if sum(member.file_size for member in chosen.values()) > MAX_FOLDER:
                    raise SiteError(f"the folder of {self.key} has more than {MAX_FOLDER // 2**20} MB")
                return {name: archive.read(member) for name, member in chosen.items()}
        except (zipfile.BadZipFile, KeyError) as error:
            raise SiteError(f"the folder of {self.key} is no archive with scores.csv and benchmark.toml") from error

    def export(self, table: str = "board", format: str = "csv") -> str:  # noqa: A002 -- as the API calls it
        """Return a table of the site as text: "board", "scores", "tasks", "rankings/borda", ...

        Args:
            table: its path below the URL of the benchmark.
            format: "csv", "json", "latex" (or "tex") or "markdown" (or "md").
        """
        path = "/".join(quote(part, safe="") for part in table.strip("/").split("/"))
        return self.transport.request("GET", f"{self.path}{path}/", {"format": FORMATS.get(format, format)}).decode()

    def preview(self, systems: object, *, create_systems: bool = True) -> ResultTable:
        """Say which ranks a submission would change; nothing is stored. Arguments as for `submit`.

        Raises:
            InvalidInputError: something is wrong with the scores; `details` say where.
        """
        body = {"systems": systems_of(systems), "create_systems": create_systems}
        return changes_of(self.transport.send(f"{self.path}submissions/", body, is_repeatable=True, dry_run=True))

    def submit(
        self, systems: object, *, create_systems: bool = True, note: str = "", key: str = ""
    ) -> RemoteSubmission:
        """Submit scores.

        Args:
            systems: a Board; a mapping {system: {task: score}}, None or NaN where a score is not reported; or the
                API's list of objects with `name`, `scores` and further fields.
            create_systems: whether names that are not on the board are new systems; else they are an error.
            note: for the history.
            key: the idempotency key, such as the number of your run: whatever is sent again under it is one submission.
                Default a new one for each call, so that attempts after a lost answer store nothing twice.

        Raises:
            InvalidInputError: something is wrong with the scores; `details` say where. Nothing is stored.
            ValueError: a score is infinite.
            TooManyError: a rate limit or a quota.
        """
        body = {"systems": systems_of(systems), "create_systems": create_systems, "note": note}
        answer = self.transport.send(f"{self.path}submissions/", body, is_repeatable=True, key=key)
        return RemoteSubmission(self.transport, answer)

    def import_files(
        self, *paths: str | Path, dry_run: bool = False, importer: str = "", mapping: Mapping[str, Any] | None = None,
        create_systems: bool = True, note: str = "", key: str = "", kept: bool = False,
    ) -> RemoteSubmission | dict[str, Any]:  # fmt: skip
        """Send result files of other programs, which the site reads; docs/importing.md shows each format.

        Args:
            paths: files, whatever they are, or folders of them. Of a folder its own name and what is in it are sent.
            dry_run: say what was recognised, and what has to be said in `mapping`, and store nothing.
            importer: the key of the format, where it is not recognised as you want.
            mapping: `tasks` and `scales` by column, `systems` by system, as docs/api.md describes it.
            create_systems, note, key: as for `submit`.
            kept: whether what you said of such files the last time, here or on the page, fills in `mapping`; and what
                you say now is kept for the next time.

        Raises:
            InvalidInputError: a file cannot be read, or something has to be said; `details` say what.
            OSError: a file cannot be opened.
        """
        named: list[tuple[str, Path]] = []
        for path in map(Path, paths):
            in_folder = files_of([path]) if path.is_dir() else []
            named += [((Path(path.name) / file.relative_to(path)).as_posix(), file) for file in in_folder] or [
                (path.name, path)
            ]
        names = [name for name, _ in named]
        if len(set(names)) < len(names):
            names = [Path(*file.parts[-NAMED_PARTS:]).as_posix() for _, file in named]
        files = [(file.name, file.read_bytes()) for _, file in named]
        fields: dict[str, Any] = {
            "create_systems": create_systems,
            "note": note,
            "names": [name[-255:] for name in names],
        }
        if mapping:
            fields["mapping"] = dict(mapping)
        answer = self.transport.send_files(
            f"{self.path}imports/", files, fields, key=key, dry_run=dry_run or None, importer=importer or None,
            kept=kept or None,
        )  # fmt: skip
        return dict(answer) if dry_run else RemoteSubmission(self.transport, answer)

    def send_votes(
        self, path: str | Path, *, dry_run: bool = False, columns: Mapping[str, str] | None = None, note: str = "",
        key: str = "",
    ) -> dict[str, Any]:  # fmt: skip
        """Send a file of votes to a benchmark that collects them, and return what the site says of the batch.

        Args:
            path: CSV, JSON, JSON lines or Parquet; docs/votes.md says what is in it.
            dry_run: say what was read, and store nothing.
            columns: roles by column, where their names do not say them, such as {"rater": "voter"}.
            note: how the votes were collected.
            key: the idempotency key, as for `submit`.

        Raises:
            InvalidInputError: something is wrong with the votes; `details` say where. Nothing is stored.
            TooManyError: a rate limit or a quota.
            OSError: the file cannot be opened.
        """
        file = Path(path)
        named = ",".join(f"{name}={role}" for name, role in (columns or {}).items())
        answer = self.transport.send(
            f"{self.path}votes/", file.read_bytes(), is_repeatable=True, key=key, dry_run=dry_run or None,
            content_type=VOTE_TYPES.get(file.suffix.lower(), "text/csv"), note=note or None, columns=named or None,
        )  # fmt: skip
        return dict(answer)

    def votes(self) -> dict[str, Any]:
        """Return the newest ratings of the benchmark's votes, as `plurank votes --format json` has them."""
        return dict(self.transport.get(f"{self.path}votes/")["ratings"])

    def submit_predictions(
        self, system: str, files: Mapping[str, str | Path] | str | Path, *, trial: bool = False, key: str = "",
        **about: str,
    ) -> RemotePredictions:  # fmt: skip
        """Send predictions of a system, which the site scores; `wait` on what is returned for the scores.

        Args:
            system: its name, on the board or new.
            files: by the key or name of a task; or one file with a column `task`.
            trial: whether they are scored on the development split only.
            key: as for `submit`.
            about: organisation, url, description or note.

        Raises:
            InvalidInputError: something is wrong with the files; `details` say on which lines.
            OSError: a file cannot be opened.
        """
        return send_predictions(self.transport, self.key, system, files, trial=trial, key=key, **about)

    def update(self, part: str = "", *, dry_run: bool = False, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
        """Change settings, or a part: `update("tasks", tasks=[...], reason="...")`, `update("systems/ernie", ...)`.

        Raises:
            InvalidInputError: a field is wrong; `details` say which.
        """
        path = f"{self.path}{part.strip('/')}/" if part else self.path
        self.__dict__.pop("details", None)
        return dict(self.transport.send(path, fields, method="PATCH", dry_run=dry_run or None))


def _table(title: str, entries: Sequence[Mapping[str, Any]]) -> ResultTable:
    """Entries of a list as a table, with a column for each plain field."""
    plain = [{name: value for name, value in entry.items() if not isinstance(value, dict | list)} for entry in entries]
    names = dict.fromkeys(name for entry in plain for name in entry)
    ordered = dict.fromkeys([*(name for name in ("name", "system", "key") if name in names), *names])
    return ResultTable(title, {name: [entry.get(name) for entry in plain] for name in ordered}, [])
