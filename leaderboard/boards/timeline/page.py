"""The page of ranks and the leading score over time: what can be chosen, its charts and its table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import Audience
from leaderboard.boards.revision_exports import Origin
from leaderboard.boards.rows import AVERAGE_RANK
from leaderboard.boards.timeline.moments import Course, Lead, Moment, course_by_dates, course_by_revisions, leads_of
from leaderboard.common.charts.calendar import date_ticks, day_of
from leaderboard.common.charts.pareto import ParetoChart, PlacedSystem, pareto_chart
from leaderboard.common.charts.rank_lines import MAX_PINNED, RankedSystem, RankLines, rank_lines
from leaderboard.common.files import ColumnHead, ExportTable, Value
from leaderboard.common.language.engine import rule_name
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import figure_text, in_words
from leaderboard.models import SystemChange
from leaderboard.rankings.published import UnknownChoiceError, published_board
from leaderboard.rankings.systems import described_systems_at
from ranking_engine.catalogue.variants import rule_of_variant

META, JOINED, REVISION = "meta.", "joined", "revision"
RELEASED = f"{META}released"
MAX_NAMES = 5  # of joint leaders
MAX_LEADS, MAX_DATES = 100, 200  # rows of the page's tables; files have all


@dataclass(frozen=True)
class TimePage:
    """A board over time, under one rule.

    Attributes:
        dates: what dates can be chosen: key and name.
        by: the one that was.
        rules: what rules can be: key and name.
        rule: the one that was.
        course: the figures.
    """

    dates: Sequence[tuple[str, str]]
    by: str
    rules: Sequence[tuple[str, str]]
    rule: str
    course: Course

    @property
    def rule_name(self) -> str:
        """What people call the rule."""
        return rule_name(self.rule)

    @property
    def is_by_revision(self) -> bool:
        """Whether the ranks are those of each revision, not of the present one."""
        return self.by == REVISION

    @property
    def date_name(self) -> str:
        """What the dates are."""
        return dict(self.dates)[self.by]

    @property
    def is_low_better(self) -> bool:
        """Whether less of the rule's score, as people read it, is better."""
        return rule_of_variant(self.rule) == AVERAGE_RANK

    @cached_property
    def leads(self) -> list[Lead]:
        """Who led from when to when, newest first."""
        return leads_of(self.course.moments)[::-1]

    @property
    def last_leads(self) -> list[Lead]:
        """The leads that the page lists."""
        return self.leads[:MAX_LEADS]

    @property
    def rank_rows(self) -> list[tuple[Moment, list[str]]]:
        """The newest dates, each with the ranks of the systems that are followed; an empty one where it had none."""
        texts = [self.course.rank_texts(system, ranks) for system, ranks in self.course.followed]
        rows = [(moment, [one[k] for one in texts]) for k, moment in enumerate(self.course.moments)]
        return rows[::-1][:MAX_DATES]

    @property
    def sentence(self) -> str:
        """Who leads and since when, in words: by dates among the systems of the present board that have one."""
        if not self.leads:
            return ""
        last = self.leads[0]
        names = in_words(last.names[:MAX_NAMES], total=last.start.n_leaders)
        n_others = self.course.n_led - last.start.n_leaders
        others = gettext("no other system")
        if n_others:
            others = ngettext("%(n)s other system", "%(n)s other systems", n_others) % {"n": n_others}
        # Older revisions may be beyond what is read, or their ranks no longer stored.
        is_cut = self.course.moments[0].revision > 1
        if not self.is_by_revision:
            sentence = ngettext(
                "Under %(rule)s %(names)s has been first among the systems of the present board that have such a date "
                "since %(start)s; %(others)s before.",
                "Under %(rule)s %(names)s have been first among the systems of the present board that have such a date "
                "since %(start)s; %(others)s before.",
                last.start.n_leaders,
            )
        elif is_cut and last.start is self.course.moments[0]:
            sentence = ngettext(
                "Under %(rule)s %(names)s has led at least since %(start)s; %(others)s led before in the stored "
                "revisions.",
                "Under %(rule)s %(names)s have led at least since %(start)s; %(others)s led before in the stored "
                "revisions.",
                last.start.n_leaders,
            )
        elif is_cut:
            sentence = ngettext(
                "Under %(rule)s %(names)s has led since %(start)s; %(others)s led before in the stored revisions.",
                "Under %(rule)s %(names)s have led since %(start)s; %(others)s led before in the stored revisions.",
                last.start.n_leaders,
            )
        else:
            sentence = ngettext(
                "Under %(rule)s %(names)s has led since %(start)s; %(others)s led before.",
                "Under %(rule)s %(names)s have led since %(start)s; %(others)s led before.",
                last.start.n_leaders,
            )
        return sentence % {"rule": self.rule_name, "names": names, "start": last.start.text, "others": others}

    @property
    def open_end(self) -> str:
        """Until when the last ones lead: a system without a date may lead the board."""
        return gettext("the newest date") if self.course.n_left_out else gettext("today")

    @cached_property
    def score_chart(self) -> ParetoChart | None:
        """The leading score as steps, and every system at its date; None where there is no room for an axis."""
        starts = {lead.start.day for lead in self.leads}
        # From revision to revision the score of the same leaders changes, too.
        moments = [moment for moment in self.course.moments if self.is_by_revision or moment.day in starts]
        placed = []
        for moment in moments:
            if moment.score is None:
                continue
            first, n_others = moment.leaders[0], moment.n_leaders - 1  # all leaders are one dot
            said = gettext("%(names)s: first from %(date)s, %(score)s under %(rule)s") % {
                "names": in_words([one.name for one in moment.leaders[:MAX_NAMES]], total=moment.n_leaders),
                "date": moment.text,
                "score": figure_text(moment.score),
                "rule": self.rule_name,
            }
            name = first.name + (f" +{n_others}" if n_others else "") if moment.day in starts else ""
            url = f"../?revision={moment.revision}" if moment.revision else ""
            placed.append(PlacedSystem(first.key, name, moment.day, moment.score, None, None, "sure", said, url))
        leading = {(one.key, one.x) for one in placed}
        placed += [
            PlacedSystem(
                one.system.key, one.system.name, one.day, one.score, None, None, "",
                gettext("%(name)s: %(date)s, %(score)s under %(rule)s")
                % {
                    "name": one.system.name, "date": one.text, "score": figure_text(one.score),
                    "rule": self.rule_name,
                },
            )
            for one in self.course.dated
            if (one.system.key, one.day) not in leading
        ]  # fmt: skip
        if len({one.x for one in placed}) < 2:
            return None
        return pareto_chart(
            placed,
            title=gettext("Leading score under %(rule)s over time") % {"rule": self.rule_name},
            description=gettext(
                "The steps are the leading score; better is upwards. Every change of the lead is in the table."
            ),
            x_label=self.date_name,
            y_label=gettext("Score under %(rule)s") % {"rule": self.rule_name},
            x_text=str,
            is_log=False,
            is_less_better=True,
            is_low_better=self.is_low_better,
            ticks=date_ticks,
        )

    @cached_property
    def rank_chart(self) -> RankLines | None:
        """The ranks of the first systems of today over time; None before there are two dates."""
        days = [moment.day for moment in self.course.moments]
        if len(days) < 2 or not self.course.followed:
            return None
        least, span = days[0], days[-1] - days[0]
        return rank_lines(
            gettext("Ranks under %(rule)s over time") % {"rule": self.rule_name},
            gettext(
                "One line a system, through its rank at each date; rank 1 at the top, the newest date at the right."
            ),
            [moment.text for moment in self.course.moments],
            [
                RankedSystem(
                    key=system.key,
                    name=system.name,
                    ranks=ranks,
                    said=f"{system.name}: {self.course.ranks_in_words(self.course.rank_texts(system, ranks))}",
                    url=f"../systems/{system.key}/",
                    pinned=number + 1 if number < MAX_PINNED else 0,
                )
                for number, (system, ranks) in enumerate(self.course.followed)
            ],
            is_named_last=True,
            along=[(day - least) / span for day in days],
            ticks=[((day - least) / span, text) for day, text in date_ticks(days[0], days[-1])],
        )


def time_page(audience: Audience, *, by: str = "", rule: str = "") -> TimePage | None:
    """The published board over time; None while nothing is published.

    Args:
        audience: who reads, who sees every system.
        by: `meta.KEY` for a field of dates, `joined` or `revision`; the release date where empty, if there is one.
        rule: the key of a rule that ranks here; the default rule where empty.

    Raises:
        UnknownChoiceError: something is asked for that there is not.
    """
    benchmark, publication = audience.benchmark, audience.benchmark.publication
    if publication is None:
        return None
    board, described = published_board(publication), described_systems_at(publication.revision)
    columns = [column for column in board.columns if column.is_ranked]
    known = {key for one in described.about.values() for key in one.metadata}
    fields = [one for one in benchmark.fields_of_systems if one.kind == "date" and one.key in known]
    dates = [(f"{META}{one.key}", one.name) for one in fields]
    dates += [(JOINED, gettext("Joined this board")), (REVISION, gettext("Revisions"))]
    chosen = by or (RELEASED if RELEASED in dict(dates) else dates[0][0] if fields else REVISION)
    if chosen not in dict(dates):
        raise UnknownChoiceError(
            gettext("There are no dates %(by)s here; there are %(fields)s.")
            % {"by": repr(by[:80]), "fields": ", ".join(key for key, _ in dates)}
        )
    wanted = rule or next((one.rule for one in columns if one.rule == benchmark.default_rule), "")
    column = next((one for one in columns if one.rule == wanted or not wanted), None)
    if column is None:
        if rule:
            raise UnknownChoiceError(gettext("There is no rule %(rule)s that ranks here.") % {"rule": repr(rule[:80])})
        return TimePage(dates, chosen, [], benchmark.default_rule, Course([], [], []))
    rules = [(one.rule, one.name) for one in columns]
    if chosen == REVISION:
        course = course_by_revisions(benchmark, column.rule, publication.revision.number)
        return TimePage(dates, chosen, rules, column.rule, course)
    days: dict[int, tuple[float, str]] = {}
    times: dict[int, datetime] = {}
    if chosen == JOINED:
        changes = SystemChange.objects.filter(
            revision__benchmark=benchmark, revision__number__lte=publication.revision.number,
            kind=SystemChange.Kind.JOINED,
        )  # fmt: skip
        for pk, at in changes.order_by("-revision__number").values_list("system_id", "revision__created_at"):
            days[pk], times[pk] = (day_of(at), moment_in_words(at)), at  # the first time that it joined
    else:
        field = next(one for one in fields if chosen == f"{META}{one.key}")
        for pk, one in described.about.items():
            value = one.metadata.get(field.key)
            if (first := field.first_day(value)) is not None:
                days[pk] = day_of(first), field.text(value)
    return TimePage(dates, chosen, rules, column.rule, course_by_dates(column, described.systems, days, times))


TIME_HEADINGS = (
    ColumnHead("date", "Date", is_text=True),
    ColumnHead("revision", "Revision"),
    ColumnHead("n_ranked", "Systems with a rank"),
    ColumnHead("leaders", "First", is_text=True),
    ColumnHead("n_leaders", "How many are first"),
    ColumnHead("leading_score", "Leading score"),
)


def time_export(page: TimePage, origin: Origin) -> ExportTable:
    """Every date with who led then, and the ranks of the first systems of today.

    Args:
        page: what is shown.
        origin: what it is of.
    """
    followed = [ColumnHead(f"rank:{system.key}", system.name) for system, _ in page.course.followed]
    rows: list[list[Value]] = [
        [
            moment.iso_text,
            moment.revision or None,
            moment.n_ranked,
            " ".join(system.key for system in moment.leaders),
            moment.n_leaders,
            moment.score,
            *(ranks[k] for _, ranks in page.course.followed),
        ]
        for k, moment in enumerate(page.course.moments)
    ]
    caption = gettext("who led under %(rule)s, by %(dates)s.") % {
        "rule": page.rule_name,
        "dates": page.date_name.lower(),
    }
    return origin.export("time", caption, [*TIME_HEADINGS, *followed], rows, rule=page.rule, by=page.by)
