"""What the board's template reads: the board, and the links that change one thing about it."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.access.audience import Audience
from leaderboard.benchmarks.announcements import announcements_of
from leaderboard.boards.answers import (
    agreement_answer,
    camp_lines,
    certainty_answer,
    coverage_text,
    intervals_answer,
)
from leaderboard.boards.board import ORDERS, Board
from leaderboard.boards.filter_form import filter_form, narrowed_by
from leaderboard.boards.open_data.metadata import doi_url
from leaderboard.boards.query import FILTERED, META, BoardQuery, changed, query_text
from leaderboard.common.files import FORMAT_NAMES, export_links, export_url
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.markdown import render_markdown
from leaderboard.common.names import cut_apart
from leaderboard.common.text import as_sentence
from leaderboard.evaluation.phases import newest_of, offers_trials, why_no_phase
from leaderboard.models import Job
from leaderboard.queue.kinds import BOOTSTRAP, INSTANCES
from leaderboard.queue.places import places
from leaderboard.queue.queries import board_job, jobs_of, visible_error
from leaderboard.queue.retry import GIVEN_UP_OR_RESTING
from leaderboard.rankings.agreement import agreements
from leaderboard.rankings.confidence.dependence import overlap_text
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import Column
from leaderboard.rankings.redaction import hidden_text
from leaderboard.rankings.revision_parameter import revision_query
from leaderboard.rankings.text import (
    AGGREGATION_NAMES,
    AGGREGATION_SHORT_NAMES,
    POLICY_NAMES,
    POLICY_SHORT_NAMES,
    PREDICTED_MARK,
    TIE_NAMES,
    precision_sentence,
)
from leaderboard.rankings.verdict import short_headline
from leaderboard.submissions.quotas import submission_door
from leaderboard.votes.content import collects_votes
from leaderboard.votes.queries import is_rating
from ranking_engine import MISSING_POLICIES, TIES
from ranking_engine.catalogue.omission import NATIVE_RULES, policy_sentence
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.aggregation import AGGREGATIONS

SHOWN_FIELDS = ("key", "name", "kind", "source_url", "licence", "citation", "doi", "organisation")  # of benchmarks
OWN_TIES = gettext_noop("Each rule’s own default, as in its literature; see the rule’s page.")
SMITH_NAMED = 5  # of a larger Smith set the number is said


class BoardPage:
    """The board and its links."""

    may_pin = True  # whether systems can be ticked, that are shown first

    def __init__(
        self,
        audience: Audience,
        query: BoardQuery,
        board: Board | None,
    ) -> None:
        benchmark = audience.benchmark
        self._query, self._key, self._is_restricted = query, benchmark.key, audience.is_restricted
        self.hidden_text, self.sees_others = hidden_text(audience), audience.sees_others
        self.benchmark = {
            **{name: getattr(benchmark, name) for name in SHOWN_FIELDS},
            "doi_url": doi_url(benchmark),
            "description_html": render_markdown(benchmark.description),
        }
        self.latest_revision_number = benchmark.last_revision_number
        is_newer = benchmark.last_revision_number > benchmark.published_number
        # Of votes, ratings come before the first revision.
        self.is_computing = is_newer or (not benchmark.last_revision_number and is_rating(benchmark))
        self.collects_votes = collects_votes(benchmark)
        self.job = board_job(benchmark) if is_newer else None
        is_waiting = self.job is not None and self.job.state == Job.State.WAITING
        self.place = places(Job.Queue.RANKINGS).get(self.job.pk) if self.job and is_waiting else None
        self.may_retry = audience.may_administer and self.job is not None and self.job.state in GIVEN_UP_OR_RESTING
        self.job_error = visible_error(self.job, sees_all=not audience.is_restricted) if self.job else ""
        self.submit_url, self.submit_label = submission_door(audience)
        self.predictions_url = ""
        if self.submit_url and getattr(benchmark, "evaluation_mode", None):
            predictions_url = reverse("new_predictions", args=[benchmark.key])
            if not why_no_phase(benchmark) or offers_trials(benchmark, newest_of(benchmark)):
                self.predictions_url = predictions_url
            elif self.submit_url == predictions_url:
                self.submit_url = ""
        self.ban_text = audience.ban_text
        self.revision_number = board.published.revision.number if board else None
        self.published_number = benchmark.published_number
        self.is_archived = benchmark.is_archived
        self.announcements = announcements_of(benchmark)
        # Only who manages the benchmark is told how many submissions wait, and is led to them first.
        self.n_waiting = getattr(benchmark, "n_undecided", None) or 0 if audience.may_moderate else 0
        manage = "manage_queue" if self.n_waiting or not audience.may_administer else "manage"
        self.manage_url = reverse(manage, args=[benchmark.key]) if audience.may_moderate else ""
        self.is_earlier = bool(query.revision) and query.revision != benchmark.published_number
        self._revision_query = revision_query(benchmark, board.published.revision if board else None)
        if board is None or benchmark.publication is None:
            return
        self.published_at = benchmark.publication.published_at
        kinds = [] if audience.is_restricted else [BOOTSTRAP, INSTANCES]
        jobs = jobs_of(benchmark.publication.revision_id, kinds) if kinds else {}
        self.has_instances = INSTANCES in jobs
        self.intervals = intervals_answer(board, jobs.get(BOOTSTRAP))
        self._fill_figures(board)
        self._fill_table(board)

    def _fill_figures(self, board: Board) -> None:
        """What is said of the whole board, and of each of its rules."""
        self._board, facts = board, board.published.facts
        self.sentence, self.camps = board.sentence, camp_lines(board.camps)
        winner, has_majority = facts["condorcet_winner"], board.published.has_majority
        self.short_sentence = board.sentence
        if board.camps and facts["n_systems"] > 1:
            self.short_sentence = short_headline(
                board.camps, winner, has_majority=has_majority, n_apart=board.published.n_apart
            )
        elects_nobody = [column for column in board.columns if not column.elects]
        self.without_winner = [column.name for column in [*elects_nobody, *board.undefined]]
        self.smith_names = [] if winner else board.smith_names
        self.smith_text = ", ".join(self.smith_names)
        if len(self.smith_names) > SMITH_NAMED:
            self.smith_text = gettext("%(n)s of %(n_systems)s systems") % {
                "n": len(self.smith_names), "n_systems": facts["n_systems"],
            }  # fmt: skip
        self.n_systems, self.n_tasks = facts["n_systems"], facts["n_tasks"]
        self.n_voting_tasks, self.n_missing = facts["n_voting_tasks"], facts["n_missing"]
        self.n_shown, self.n_on_board = board.n_shown, board.n_on_board
        # The other way to rank a filtered view: by the rules computed on what is shown, or among all again.
        self.among_url = ""
        if self._query.is_filtered and not self._is_restricted and board.n_shown:
            self.among_url = self._url(ranks="" if board.n_on_board else FILTERED)
        self.coverage_text = coverage_text(board.columns, facts["n_systems"])
        self.has_predictions, self.prediction = board.has_predictions, in_page_language(board.prediction)
        self.separability, self.saturation = board.separability, board.saturation
        self.winning_guests = board.winning_guests
        self.precision_text = precision_sentence(configuration_of(board.published.revision).precisions)
        self.reference = {"key": board.reference.rule, "name": board.reference.name}
        self._agreements = agreements(board.columns, board.reference)
        self.agreement = agreement_answer(self._agreements, board)
        self.certainty = certainty_answer(board)
        self.tests_url = ""  # of the tests behind these sentences; some readers and boards have none
        if self._key and not self._is_restricted:
            parameters = {"rule": board.reference.rule}
            parameters |= {"revision": str(self._query.revision)} if self._query.revision else {}
            self.tests_url = f"{reverse('stability', args=[self._key])}?{urlencode(parameters)}#significance"
        self.dependence_text = overlap_text(board.published)
        self.dependence_url = self.tests_url.replace("#significance", "#dependence")
        self.all_columns = [self._column(column, board) for column in board.columns]
        by_rule = {column["key"]: column for column in self.all_columns}
        self.columns = [by_rule[column.rule] for column in board.visible]
        self.fields = [
            {
                "name": field.name,
                "unit": field.unit,
                "is_number": field.kind == "number",
                "sort_url": self._sort_url(f"{META}{field.key}"),
                "sort_state": self._sort_state(f"{META}{field.key}"),
            }
            for field in board.shown_fields
        ]
        self.undefined = [self._column(column, board) for column in board.undefined]
        self.marks = board.marks

    def _fill_table(self, board: Board) -> None:
        """The rows in the order and the way that the reader chose, and what else they can choose."""
        self.policy = self._policy(board.policy, is_active=True)
        native = [column.name for column in board.columns if not get_rule(column.rule).needs_complete]
        self.native_text = gettext(NATIVE_RULES) % {"names": ", ".join(native)} if native else ""
        policies = configuration_of(board.published.revision).policies
        self.policies = [self._policy(policy, is_active=policy == board.policy) for policy in policies]
        self.has_groups = bool(configuration_of(board.published.revision).groups)
        self.aggregation = self._aggregation(board.aggregation, is_active=True)
        self.aggregations = [self._aggregation(key, is_active=key == board.aggregation) for key in AGGREGATIONS]
        self.ties = self._tie(self._query.ties)
        self.tie_choices = [self._tie(key) for key in ("", *TIES)]
        self.reference_choices = [
            {
                "key": column.rule,
                "name": column.name,
                "url": self._url(reference=column.rule),
                "is_active": column is board.reference,
            }
            for column in board.columns
            if column.is_ranked or column is board.reference
        ]
        short_names = cut_apart([row.name for row in board.rows])
        self.rows = [
            replace(
                row,
                # Restricted readers have pages of their own systems only; those of other boards have none.
                url=reverse("system", args=[self._key, row.key]) + self._revision_query
                if self._key and (row.is_own or not self._is_restricted)
                else "",
                short_name=short_name,
            )
            for row, short_name in zip(board.rows, short_names, strict=True)
        ]
        self.n_pinned, self.ordered_by = board.n_pinned, board.ordered_by
        self.places_of = board.ordering.name  # whose ranks the column # shows
        self.show_scores = self._query.scores
        self.show_scores_url = self._url(scores=not self._query.scores)
        self.is_simultaneous, self.is_measured = board.published.is_simultaneous, board.published.is_measured
        at_once, again = not self.is_simultaneous, not self.is_measured
        has_both = any(column.simultaneous_lower is not None for column in board.columns)
        has_measured = any(column.measured_lower is not None for column in board.columns)
        self.simultaneous_url = self._url(scores=True, simultaneous=at_once, measured=False) if has_both else ""
        self.measured_url = self._url(scores=True, simultaneous=False, measured=again) if has_measured else ""
        self.sort_urls = {name: self._sort_url(name) for name in ORDERS}
        self.sort_states = {name: self._sort_state(name) for name in ORDERS}
        self.pages: dict[str, Any] = {
            "number": board.page,
            "n_pages": board.n_pages,
            "previous_url": self._url(page=board.page - 1) if board.page > 1 else "",
            "next_url": self._url(page=board.page + 1) if board.page < board.n_pages else "",
            "first_row": board.first_row,
            "last_row": board.last_row,
        }

    @property
    def count_text(self) -> str:
        """How many systems the table shows, and of how many."""
        figures = {
            "n": self.n_shown,
            "n_on_board": self.n_on_board,
            "n_systems": self.n_systems,
            "reference": self.reference["name"],
            "first": self.pages["first_row"],
            "last": self.pages["last_row"],
        }
        if self.pages["n_pages"] > 1:
            if self.n_on_board:
                return gettext("Systems %(first)s–%(last)s of %(n)s; ranks are among these %(n)s alone") % figures
            return gettext("Systems %(first)s–%(last)s of %(n)s") % figures
        if self.n_on_board:
            return gettext("%(n)s of %(n_on_board)s systems; ranks are among these %(n)s alone") % figures
        if self.n_shown != self.n_systems:
            return gettext("%(n)s of %(n_systems)s systems; ranks are among all %(n_systems)s") % figures
        if self.n_systems > 1:
            return gettext("All %(n_systems)s systems, compared with %(reference)s") % figures
        return gettext("1 system") if self.n_systems else gettext("0 systems")

    @property
    def caption(self) -> str:
        """What the table shows, and what its ranks rest on."""
        n_rules, n_shown = len(self.all_columns), len(self.columns)
        rules = ngettext("%(n)s rule", "%(n)s rules", n_rules) % {"n": n_rules}
        if n_shown != n_rules:
            rules = ngettext("%(n)s of %(n_rules)s rule", "%(n)s of %(n_rules)s rules", n_rules) % {
                "n": n_shown, "n_rules": n_rules,
            }  # fmt: skip
        what = {"benchmark": self.benchmark["name"], "rules": rules, "revision": self.revision_number}
        if self.revision_number:
            head = gettext("Ranks of %(benchmark)s under %(rules)s, revision %(revision)s.") % what
        else:
            head = gettext("Ranks of %(benchmark)s under %(rules)s.") % what
        basis = [gettext("Changes are against %(reference)s") % {"reference": self.reference["name"]}]
        basis.append(gettext("missing scores: %(policy)s") % {"policy": self.policy["name"]})
        if self.has_groups:
            basis.append(gettext("task groups: %(aggregation)s") % {"aggregation": self.aggregation["name"]})
        if self.ties["key"]:
            basis.append(gettext("ties in a task: %(ties)s") % {"ties": self.ties["name"]})
        predicted = f" {gettext(PREDICTED_MARK)} {self.prediction}" if self.has_predictions else ""
        return f"{head} {'; '.join(basis)}.{predicted}".strip()

    @cached_property
    def downloads(self) -> list[dict[str, Any]]:
        """What is to be had as files: the data first, for those who may have them, then the ranks of this view."""
        if not self._key or self.revision_number is None:
            return []
        end, revision = query_text(changed(self._query)), self._query.revision
        csv = reverse("board_csv", args=[self._key])
        paths = {key: csv if key == "csv" else reverse("board_download", args=[self._key, key]) for key in FORMAT_NAMES}
        ranks = [{"label": label, "url": f"{paths[key]}{end}"} for key, label in FORMAT_NAMES.items()]
        ranks_files = [{"name": gettext("Ranks"), "about": gettext("as this page shows them"), "links": ranks}]
        if self._is_restricted:
            return ranks_files
        orders = {"label": "PrefLib", "url": export_url(self._key, "orders", "preflib", revision=revision)}
        folder = {"label": gettext("folder (zip)"), "url": export_url(self._key, "folder", "zip", revision=revision)}
        given = gettext("as they were given") if self.precision_text else ""
        scores = export_links(self._key, "scores", revision=revision)
        scores.append({"label": "Parquet", "url": export_url(self._key, "scores", "parquet", revision=revision)})
        scores.append({"label": "Every Eval Ever", "url": export_url(self._key, "records", "zip", revision=revision)})
        return [
            {"name": gettext("Scores"), "about": given, "links": scores},
            *ranks_files,
            {"name": gettext("Orders"), "about": gettext("of the systems in every task"), "links": [orders]},
            {"name": gettext("Everything"), "about": gettext("to import elsewhere"), "links": [folder]},
        ]

    def _rule_url(self, rule: str) -> str:
        return f"#rule-{rule}" if self._is_restricted else reverse("rule", args=[self._key, rule])

    def _url(self, **fields: Any) -> str:  # noqa: ANN401
        return reverse("board", args=[self._key]) + query_text(changed(self._query, **fields))

    def _policy(self, key: str, *, is_active: bool) -> dict[str, Any]:
        return {
            "key": key,
            "name": POLICY_NAMES[key],
            "short_name": POLICY_SHORT_NAMES[key],
            "text": f"{gettext(MISSING_POLICIES[key])} {gettext(policy_sentence(key))}",
            "url": self._url(policy=key),
            "is_active": is_active,
        }

    def _aggregation(self, key: str, *, is_active: bool) -> dict[str, Any]:
        return {
            "key": key,
            "name": AGGREGATION_NAMES[key],
            "short_name": AGGREGATION_SHORT_NAMES[key],
            "text": gettext(AGGREGATIONS[key]),
            "url": self._url(aggregation=key),
            "is_active": is_active,
        }

    def _tie(self, key: str) -> dict[str, Any]:
        return {
            "key": key,
            "name": TIE_NAMES[key],
            "text": gettext(TIES[key] if key else OWN_TIES),
            "url": self._url(ties=key),
            "is_active": key == self._query.ties,
        }

    def _column(self, column: Column, board: Board) -> dict[str, Any]:
        state = self._sort_state(column.rule, is_default=column is board.reference)
        return {
            "key": column.rule,
            "name": column.name,
            "family": column.family,
            "summary": column.summary,
            "status": column.status,
            "reason": as_sentence(in_page_language(column.reason)),
            "remark": in_page_language(column.remark),
            "agreement": self._agreements.get(column.rule),
            "winner_names": column.winner_names,
            "n_winners": column.n_winners,
            "n_ranked": column.n_ranked,
            "url": self._rule_url(column.rule),
            "sort_url": self._sort_url(column.rule, is_default=column is board.reference),
            "sort_state": state,
            "is_reference": column is board.reference,
            "is_chosen": state != "none",
            "is_ticked": column.rule in self._query.rules,
        }

    def _sort_state(self, key: str, *, is_default: bool = False) -> str:
        if self._query.sort_key != key and not (is_default and not self._query.sort_key):
            return "none"
        return "descending" if self._query.is_descending else "ascending"

    def _sort_url(self, key: str, *, is_default: bool = False) -> str:
        is_ascending = self._sort_state(key, is_default=is_default) == "ascending"
        return self._url(sort=f"-{key}" if is_ascending else key)

    @cached_property
    def families(self) -> list[dict[str, Any]]:
        """The rules that can be chosen as columns, by family."""
        names = list(dict.fromkeys(column["family"] for column in self.all_columns))
        return [
            {
                "name": name,
                "is_ticked": name in self._query.families,
                "columns": [column for column in self.all_columns if column["family"] == name],
            }
            for name in names
        ]

    @cached_property
    def query(self) -> dict[str, Any]:
        """What the form of filters and columns shows, and what goes along with it."""
        return filter_form(self._board, self._query)

    @cached_property
    def chips(self) -> list[dict[str, str]]:
        """What narrows the view, each with the link that takes it away."""
        chips = narrowed_by(self._board, self._query, self.reference["name"])
        n_hidden = len(self.all_columns) - len(self.columns)
        text = gettext("%(n)s rules hidden") % {"n": n_hidden}
        chips += [(text, {"rules": (), "families": ()})] if n_hidden else []
        return [{"text": text, "url": self._url(**fields)} for text, fields in chips]
