"""What a reader asks of a board, and the address that says so."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from leaderboard.common.text import whole_number

LEAST, MOST = "least.", "most."  # `least.parameters=7` is a bound of the field `parameters`
META = "meta."  # `meta.licence=mit` is what the field `licence` is, or has in it; `sort=meta.licence` sorts by it
MAX_CHOICE_LENGTH, MAX_TEXT_LENGTH = 200, 200
MAX_VALUES = 50  # of one parameter that may be repeated
MAX_PINS = 20
FILTERED = "filtered"  # `ranks=filtered`


@dataclass(frozen=True)
class BoardQuery:
    """What a reader asked of a board; every field is in the address."""

    sort: str = ""  # a rule, "name", "median_rank" or "tasks", with a minus for descending; empty = the reference rule
    reference: str = ""  # a rule; empty = the benchmark's default rule
    policy: str = ""  # a missing-score policy; empty = the revision's own
    aggregation: str = ""  # how tasks and groups count together; empty = the revision's own
    ties: str = ""  # which positions tied systems get within a task; empty = each rule's own convention
    q: str = ""
    tags: tuple[str, ...] = ()  # systems that have all of them
    least: tuple[tuple[str, str], ...] = ()  # (field of the systems' metadata, least value)
    most: tuple[tuple[str, str], ...] = ()  # (field of the systems' metadata, greatest value)
    meta: tuple[tuple[str, str], ...] = ()  # (field of the systems' metadata, what it is, or has in it)
    complete_only: bool = False
    top: int = 0  # systems of at least this rank under the reference rule; 0 = all
    ranks: str = ""  # "filtered": the rules rank those systems alone that the filters leave; empty = among all
    pins: tuple[str, ...] = ()  # keys of systems that are first
    rules: tuple[str, ...] = ()  # the columns to show; with `families` empty as well, all
    families: tuple[str, ...] = ()  # families of rules to show
    fields: tuple[str, ...] = ()  # fields of the metadata to show; empty = those that the owners chose
    group: str = ""  # a field of the metadata: its values are sections of the table
    mark: str = ""  # a field whose values are marked by shape and colour, or "none"; empty = the kind, if declared
    scores: bool = False
    simultaneous: bool = False  # rank intervals of all systems at once, not of each by itself
    measured: bool = False  # rank intervals from the scores' standard errors, not over tasks
    revision: int = 0  # 0 = the published one
    page: int = 1

    @property
    def sort_key(self) -> str:
        """What is sorted by."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """Whether the order is reversed."""
        return self.sort.startswith("-")

    @property
    def ranks_filtered(self) -> bool:
        """Whether the rules rank those systems alone that the filters leave."""
        return self.ranks == FILTERED and self.is_filtered

    @property
    def without_filters(self) -> "BoardQuery":
        """The same query without the filters."""
        return replace(self, q="", tags=(), least=(), most=(), meta=(), complete_only=False, top=0)

    @property
    def is_filtered(self) -> bool:
        """Whether systems may be left out."""
        return bool(
            self.q.strip() or self.tags or self.least or self.most or self.meta or self.complete_only or self.top
        )


# Which parameter of the address a field is, where that is not its own name: what may be repeated is in the singular.
PARAMETERS = {"tags": "tag", "pins": "pin", "rules": "rule", "families": "family", "fields": "field"}


def read_query(parameters: QueryDict) -> BoardQuery:
    """What an address asks of a board; what it does not say has its default."""

    def text(name: str) -> str:
        return str(parameters.get(name, ""))[:MAX_CHOICE_LENGTH]

    def texts(name: str, most: int = MAX_VALUES) -> tuple[str, ...]:
        values = [value[:MAX_CHOICE_LENGTH] for value in parameters.getlist(name) if value]
        return tuple(dict.fromkeys(values))[:most]

    def bounds(prefix: str) -> tuple[tuple[str, str], ...]:
        limits = {name: text(name).strip() for name in parameters if name.startswith(prefix)}
        return tuple((name.removeprefix(prefix), value) for name, value in sorted(limits.items()) if value)[:MAX_VALUES]

    return BoardQuery(
        sort=text("sort"),
        reference=text("reference"),
        policy=text("policy"),
        aggregation=text("aggregation"),
        ties=text("ties"),
        q=str(parameters.get("q", ""))[:MAX_TEXT_LENGTH],
        tags=texts("tag"),
        least=bounds(LEAST),
        most=bounds(MOST),
        meta=bounds(META),
        complete_only=parameters.get("complete_only") == "1",
        top=_number(parameters.get("top", ""), 0),
        ranks=text("ranks"),
        pins=texts("pin", MAX_PINS),
        rules=texts("rule"),
        families=texts("family"),
        fields=texts("field"),
        group=text("group"),
        mark=text("mark"),
        scores=parameters.get("scores") == "1",
        simultaneous=parameters.get("simultaneous") == "1",
        measured=parameters.get("measured") == "1",
        revision=_number(parameters.get("revision", ""), 0),
        page=_number(parameters.get("page", ""), 1),
    )


def _number(text: Any, otherwise: int) -> int:  # noqa: ANN401 -- whatever is in an address
    number = whole_number(str(text), 7)
    return otherwise if number is None else number


def query_pairs(query: BoardQuery, *, without: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The address's parameters that say the query, except the fields `without`: only what differs from the default."""
    pairs: list[tuple[str, str]] = []
    for field in fields(BoardQuery):
        value = getattr(query, field.name)
        if field.name in without or value == field.default:
            continue
        if field.name in ("least", "most", "meta"):
            pairs += [(f"{field.name}.{name}", bound) for name, bound in value]
        elif isinstance(value, tuple):
            pairs += [(PARAMETERS[field.name], item) for item in value]
        else:
            pairs.append((field.name, "1" if value is True else str(value)))
    return pairs


def query_text(query: BoardQuery) -> str:
    """The query as the end of an address; empty where it asks for nothing in particular."""
    pairs = query_pairs(query)
    return f"?{urlencode(pairs)}" if pairs else ""


def changed(query: BoardQuery, **values: Any) -> BoardQuery:  # noqa: ANN401
    """The query with other fields; any change but the page itself leads back to page 1."""
    return replace(query, **({"page": 1} | values))


def bounds_of(query: BoardQuery) -> Mapping[str, tuple[str, str]]:
    """(least, greatest) stated of every field of the metadata; empty text where one is not stated."""
    least, most = dict(query.least), dict(query.most)
    return {name: (least.get(name, ""), most.get(name, "")) for name in {**least, **most}}
