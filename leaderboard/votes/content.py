"""What is in a file of votes, checked whole before anything is stored; names of voters become hashes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.benchmarks.tasks import MAX_TASKS
from leaderboard.common.text import in_words, shortened
from leaderboard.computing.vote_files import read_vote_file
from leaderboard.models import Benchmark, Task, VoteBatch, VoteSettings
from leaderboard.on_demand.budget import compute
from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.text.names import fold_name, shorten
from ranking_engine.votes.categories import ALL_VOTES, WITHOUT_CATEGORY
from ranking_engine.votes.columns import ROLES
from ranking_engine.votes.data import MAX_SYSTEMS
from ranking_engine.votes.packing import NO_ID, Ids, PackedVotes, packed_votes

# Ratings by category take about n_systems^3 steps each; with more a job would not end in its time.
MAX_WORK = 10**12
SHOWN_CATEGORIES = 5
UNNAMED = (ALL_VOTES, WITHOUT_CATEGORY)  # tasks of votes without a category
COLUMNS_LENGTH = 2_000
COUNTED = (VoteBatch.State.PENDING, VoteBatch.State.ACCEPTED, VoteBatch.State.WITHDRAWN)


@dataclass(frozen=True)
class SentVotes:
    """A file of votes as it was sent.

    Attributes:
        data: CSV, JSON lines, a JSON list or Parquet.
        columns: by column what it is, where its name does not say it.
        note: what its sender says.
    """

    data: bytes
    columns: Mapping[str, str]
    note: str = ""

    @property
    def hash(self) -> str:
        """SHA-256 of what was sent."""
        named = repr((sorted(self.columns.items()), self.note)).encode()
        return hashlib.sha256(hashlib.sha256(self.data).digest() + named).hexdigest()


@dataclass(frozen=True)
class CheckedVotes:
    """Votes that can be stored, and what a list of batches says of them."""

    packed: bytes
    payload_hash: str
    note: str
    n_votes: int
    n_voters: int
    systems: dict[str, int]
    categories: dict[str, int]


def checked_votes(audience: Audience, sent: SentVotes) -> CheckedVotes:
    """Read a file of votes for a benchmark.

    Args:
        audience: who sends it, and where to.
        sent: what.

    Raises:
        InputError: with everything that is wrong with it.
        BusyError, TooLargeError: it cannot be read now, or takes more memory or time than there is for it.
    """
    benchmark = audience.benchmark
    if not sent.data.strip():
        raise InputError.of("there are no votes")
    if len(sent.data) > settings.IMPORT_BYTES:
        raise InputError.of(f"the file has {len(sent.data):,} bytes; at most {settings.IMPORT_BYTES:,} are read")
    chosen = VoteSettings.objects.get(benchmark=benchmark)
    read = compute(
        read_vote_file, sent.data, dict(sent.columns), chosen.covariates, settings.VOTES_PER_UPLOAD,
        settings.IMPORT_BYTES,
    )  # fmt: skip
    if isinstance(read, Problems):
        raise InputError(read)
    votes, labels = read
    key = bytes(chosen.voter_key)
    batch = PackedVotes(votes, hashes_of(labels.get("voter", ()), key), hashes_of(labels.get("prompt", ()), key))
    systems = np.bincount(np.concatenate([votes.first, votes.second]), minlength=votes.n_systems).tolist()
    n_without, *counts = np.bincount(votes.categories + 1, minlength=len(votes.category_names) + 1).tolist()
    categories = {name: n for name, n in zip(votes.category_names, counts, strict=True) if n}
    if n_without:  # they count under the name that their task has
        categories[WITHOUT_CATEGORY if categories else ALL_VOTES] = n_without
    checked = CheckedVotes(
        packed_votes(batch), sent.hash, sent.note, votes.n_votes, len(batch.voter_ids),
        dict(zip(votes.system_names, systems, strict=True)), categories,
    )  # fmt: skip
    require_room(audience, checked)
    return checked


def contents_of(batch: VoteBatch) -> CheckedVotes:
    """Return a stored batch as it was checked, without the votes themselves."""
    return CheckedVotes(
        b"", batch.payload_hash, batch.note, batch.n_votes, batch.n_voters, batch.systems, batch.categories
    )


def hashes_of(labels: Sequence[str], key: bytes) -> Ids:
    """Return a 64-bit hash of each label under the benchmark's key: the same one in every batch, and on no other."""
    texts = (label.strip().encode("utf-8", "surrogatepass") for label in labels)
    digests = (hashlib.blake2b(text, digest_size=8, key=key).digest() for text in texts)
    hashes = np.fromiter((int.from_bytes(digest, "big") for digest in digests), dtype=np.uint64, count=len(labels))
    hashes[hashes == NO_ID] = 1
    return hashes


def categories_of(benchmark: Benchmark) -> list[str]:
    """The names of its tasks, which everyone can use as categories; only owners add others."""
    return list(Task.objects.filter(benchmark=benchmark).order_by("order", "pk").values_list("name", flat=True))


def require_room(audience: Audience, checked: CheckedVotes) -> None:
    """Go on where a benchmark can take a batch in.

    Raises:
        InputError: it has a category that is no task, or there would be too many systems, tasks or votes.
    """
    benchmark, problems = audience.benchmark, []
    stored = list(VoteBatch.objects.filter(benchmark=benchmark, state__in=COUNTED).values_list("systems", "n_votes"))
    systems = {fold_name(name) for names, _ in stored for name in names} | {fold_name(name) for name in checked.systems}
    n_votes = sum(n for _, n in stored) + checked.n_votes
    categories = categories_of(benchmark)
    tasks = {fold_name(name) for name in categories}
    if tasks & set(UNNAMED):  # which of the two it is depends on whether other votes have categories
        tasks |= set(UNNAMED)
    new = [name for name in checked.categories if fold_name(name) not in tasks]
    if new and not audience.may_administer:
        named = [repr(shortened(name)) for name in new if name not in UNNAMED]
        usable = in_words([repr(shortened(name)) for name in categories], most=SHOWN_CATEGORIES)
        rest = f"The categories of this benchmark are {usable}; only its owners add others"
        if not categories:
            rest = "This benchmark has no categories yet; one of its owners has to send votes first"
        if len(named) < len(new):
            problems.append(f"votes without a category: each row needs one in the column 'category'. {rest}")
        if named:
            problems.append(f"{in_words(named, most=SHOWN_CATEGORIES)}: no task of this benchmark. {rest}")
    n_tasks = len(categories) + len(new)
    if len(systems) > MAX_SYSTEMS:
        problems.append(f"with these votes there would be {len(systems):,} systems; at most {MAX_SYSTEMS:,} are rated")
    if n_tasks > MAX_TASKS:
        problems.append(f"with these categories there would be {n_tasks:,} tasks; at most {MAX_TASKS:,} are possible")
    if n_tasks * len(systems) ** 3 > MAX_WORK:
        problems.append(
            f"{len(systems):,} systems in {n_tasks:,} categories take too long to rate; send fewer of either"
        )
    if n_votes > settings.VOTES_PER_BENCHMARK:
        problems.append(
            f"with these votes there would be {n_votes:,}; at most {settings.VOTES_PER_BENCHMARK:,} are kept here. The "
            f"operator of this site can raise the limit"
        )
    if problems:
        raise InputError(map(Problem, problems))


def read_columns(text: str) -> dict[str, str]:
    """Return the roles by column of `NAME=ROLE, NAME=ROLE`.

    Raises:
        ValidationError: it is not written like that.
    """
    roles: dict[str, str] = {}
    for part in text.split(",") if text.strip() else ():
        name, mark, role = part.rpartition("=")
        if not mark or not name.strip() or role.strip() not in ROLES:
            raise ValidationError(
                gettext("%(shorten)s: write NAME=ROLE, where a role is one of %(roles)s.")
                % {"shorten": repr(shorten(part.strip())), "roles": ", ".join(ROLES)}
            )
        roles[name.strip()] = role.strip()
    return roles


def collects_votes(benchmark: Benchmark) -> bool:
    """Whether its scores are computed from votes."""
    return bool(benchmark.kind == Benchmark.Kind.VOTES)
