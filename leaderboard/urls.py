"""The pages' addresses. `tests/leaderboard/site/permissions/table.txt` has a row for every name."""

from django.urls import include, path

from leaderboard.accounts import views as accounts, views_people as people
from leaderboard.accounts.organisations import views as organisations
from leaderboard.benchmarks import views as benchmarks, views_dashboard as dashboards, views_metadata as metadata
from leaderboard.benchmarks.identities import views as identities
from leaderboard.boards import (
    views as boards,
    views_exports as exports,
    views_rule as rule,
    views_rules as rules,
    views_scores as scores,
)
from leaderboard.boards.open_data import views as open_data
from leaderboard.boards.pareto import views as pareto
from leaderboard.boards.public import views as public
from leaderboard.boards.submitters import views as submitters
from leaderboard.boards.timeline import views as timelines
from leaderboard.comparisons import views as comparisons, views_history as histories
from leaderboard.evaluation import (
    views_phases as phases,
    views_predictions as evaluation,
    views_references as references,
    views_teams as teams,
)
from leaderboard.explore import (
    views as explore,
    views_compare as compare,
    views_search as searches,
    views_task as task,
    views_try_table as try_table,
    views_try_votes as try_votes,
)
from leaderboard.explore.identities import views as models
from leaderboard.explore.meta_boards import views as meta_boards
from leaderboard.notifications import views as notifications
from leaderboard.operations import views as operations, views_crawlers as crawlers, views_styleguide as styleguides
from leaderboard.papers import views as papers
from leaderboard.studies import views as studies
from leaderboard.studies.experiments import views as experiments
from leaderboard.studies.prospects import views as prospects
from leaderboard.submissions import views as submissions
from leaderboard.submissions.following import views as following
from leaderboard.submissions.importing import views as uploads
from leaderboard.submissions.moderation import views as moderation
from leaderboard.votes import views as votes

urlpatterns = [
    path("", benchmarks.home, name="home"),
    path("b/<slug:key>/", boards.board, name="board"),
    path("b/<slug:key>/board.csv", boards.board_csv, name="board_csv"),
    path("b/<slug:key>/board.<slug:extension>", boards.board_download, name="board_download"),
    path("b/<slug:key>/exports/<slug:table>.<slug:extension>", exports.export, name="export"),
    path("b/<slug:key>/badge.svg", public.badge, name="badge"),
    path("b/<slug:key>/card.png", public.card, name="card"),
    path("b/<slug:key>/embed/", public.embed, name="embed"),
    path("b/<slug:key>/feed.atom", public.feed, name="feed"),
    path("feed.atom", public.feed_of_all, name="feed_of_all"),
    path("b/<slug:key>/upload/", uploads.upload, name="upload"),
    path("b/<slug:key>/scores/", scores.scores, name="scores"),
    path("b/<slug:key>/tasks/<slug:task>/", task.task, name="task"),
    path("b/<slug:key>/agreement/", comparisons.agreement, name="agreement"),
    path("b/<slug:key>/head-to-head/", comparisons.head_to_head, name="head_to_head"),
    path("b/<slug:key>/pareto/", pareto.pareto, name="pareto"),
    path("b/<slug:key>/submitters/", submitters.submitters, name="submitters"),
    path("b/<slug:key>/time/", timelines.timeline, name="timeline"),
    path("b/<slug:key>/prospects/", prospects.prospects, name="prospects"),
    path("b/<slug:key>/what-if/", explore.what_if, name="what_if"),
    path("b/<slug:key>/what-if/data.json", explore.what_if_data_json, name="what_if_data"),
    path("b/<slug:key>/what-if/profiles/", explore.what_if_profiles, name="what_if_profiles"),
    path("b/<slug:key>/stability/", studies.stability, name="stability"),
    path("b/<slug:key>/stability/<slug:study>.npz", studies.distribution, name="distribution"),
    path("b/<slug:key>/experiments/", experiments.experiments, name="experiments"),
    path("b/<slug:key>/experiments/<int:number>/", experiments.experiment, name="experiment"),
    path("b/<slug:key>/experiments/<int:number>.npz", experiments.experiment_arrays, name="experiment_arrays"),
    path("b/<slug:key>/instances/", studies.instances, name="instances"),
    path("b/<slug:key>/rules/<str:rule_key>/", rule.rule, name="rule"),
    path("b/<slug:key>/votes/", votes.votes, name="votes"),
    path("b/<slug:key>/votes/send/", votes.send_votes, name="send_votes"),
    path("b/<slug:key>/votes.<slug:extension>", votes.votes_file, name="votes_file"),
    path("b/<slug:key>/submit/", submissions.submit, name="submit"),
    path("b/<slug:key>/predictions/", evaluation.predictions, name="predictions"),
    path("b/<slug:key>/predictions/new/", evaluation.new_predictions, name="new_predictions"),
    path("b/<slug:key>/predictions/rescore/", evaluation.rescore_predictions, name="rescore_predictions"),
    path(
        "b/<slug:key>/predictions/examples/<slug:task>/<slug:split>.csv",
        evaluation.example_predictions,
        name="example_predictions",
    ),
    path("predictions/<uuid:uuid>/", evaluation.prediction, name="prediction"),
    path("predictions/<uuid:uuid>/progress/", evaluation.prediction_progress, name="prediction_progress"),
    path("predictions/<uuid:uuid>/step/", evaluation.prediction_step, name="prediction_step"),
    path("b/<slug:key>/correct/<uuid:uuid>/", submissions.correct, name="correct"),
    path("b/<slug:key>/systems/<slug:system_key>/", boards.system, name="system"),
    path("b/<slug:key>/systems/<slug:system_key>/baseline/", boards.baseline, name="baseline"),
    path("b/<slug:key>/systems/<slug:system_key>/badge.svg", public.system_badge_svg, name="system_badge"),
    path("b/<slug:key>/history/", histories.history, name="history"),
    path("b/<slug:key>/history/compare/", histories.history_compare, name="history_compare"),
    path("b/<slug:key>/releases/<slug:release_key>/", boards.release, name="release"),
    path("b/<slug:key>/releases/<slug:release_key>/data.zip", open_data.release_data, name="release_data"),
    path("b/<slug:key>/template/", benchmarks.use_template, name="use_template"),
    path("b/<slug:key>/manage/", benchmarks.manage, name="manage"),
    path("b/<slug:key>/manage/tasks/", benchmarks.manage_tasks, name="manage_tasks"),
    path("b/<slug:key>/manage/references/", references.manage_references, name="manage_references"),
    path(
        "b/<slug:key>/manage/references/<slug:task>/",
        references.manage_task_references,
        name="manage_task_references",
    ),
    path("b/<slug:key>/manage/phases/", phases.manage_phases, name="manage_phases"),
    path("b/<slug:key>/manage/metadata/", metadata.manage_metadata, name="manage_metadata"),
    path("b/<slug:key>/manage/models/", identities.manage_models, name="manage_models"),
    path("b/<slug:key>/manage/clusters/", benchmarks.manage_clusters, name="manage_clusters"),
    path("b/<slug:key>/manage/releases/", benchmarks.manage_releases, name="manage_releases"),
    path("b/<slug:key>/manage/studies/", studies.manage_studies, name="manage_studies"),
    path("b/<slug:key>/manage/studies/run/", studies.run_study, name="run_study"),
    path("b/<slug:key>/manage/compute/", studies.compute_board, name="compute_board"),
    path("b/<slug:key>/manage/compute/<int:number>/", studies.compute_ranks, name="compute_ranks"),
    path("b/<slug:key>/manage/votes/", votes.manage_votes, name="manage_votes"),
    path("b/<slug:key>/manage/edition/", benchmarks.manage_edition, name="manage_edition"),
    path("b/<slug:key>/manage/queue/", moderation.manage_queue, name="manage_queue"),
    path("b/<slug:key>/manage/queue/<uuid:uuid>/", moderation.manage_decide, name="manage_decide"),
    path("b/<slug:key>/manage/people/", people.manage_people, name="manage_people"),
    path("b/<slug:key>/manage/webhooks/", notifications.manage_webhooks, name="manage_webhooks"),
    path("b/<slug:key>/manage/following/", following.manage_following, name="manage_following"),
    path("b/<slug:key>/manage/audit/", people.manage_audit, name="manage_audit"),
    path("b/<slug:key>/manage/audit.csv", people.manage_audit_csv, name="manage_audit_csv"),
    path("b/<slug:key>/team/", teams.team, name="team"),
    path("join-team/<str:secret>/", teams.join_team, name="join_team"),
    path("join/<str:secret>/", people.join, name="join"),
    path("submissions/<uuid:uuid>/step/", moderation.batch_step, name="batch_step"),
    path("submissions/<uuid:uuid>/takedown/", moderation.takedown, name="takedown"),
    path("b/<slug:key>/manage/announcements/", benchmarks.manage_announcements, name="manage_announcements"),
    path("b/<slug:key>/manage/archive/", benchmarks.manage_archive, name="manage_archive"),
    path("new/", benchmarks.new, name="new"),
    path("new/<uuid:uuid>/", benchmarks.new_draft, name="new_draft"),
    path("drafts/<uuid:uuid>/", submissions.draft, name="draft"),
    path("submissions/<uuid:uuid>/", submissions.batch, name="batch"),
    path("votes/<uuid:uuid>/", votes.vote_batch, name="vote_batch"),
    path("submissions/<uuid:uuid>/progress/", submissions.batch_progress, name="batch_progress"),
    path("search/", searches.search_page, name="search"),
    path("rules/", rules.rules, name="rules"),
    path("rules/choose/", rules.choose_rule, name="choose_rule"),
    path("rules/<slug:rule_key>/", rules.rule_page, name="rule_page"),
    path("s/<slug:model_key>/", models.model, name="model"),
    path("compare/", compare.compare_page, name="compare"),
    path("meta/", meta_boards.meta_boards, name="meta_boards"),
    path("meta/new/", meta_boards.new_meta_board, name="new_meta_board"),
    path("meta/<slug:meta_key>/", meta_boards.meta_board, name="meta_board"),
    path("meta/<slug:meta_key>/manage/", meta_boards.manage_meta_board, name="manage_meta_board"),
    path("try/", try_table.try_page, name="try"),
    path("try/votes/", try_votes.try_votes_page, name="try_votes"),
    path("landscape/", studies.landscape, name="landscape"),
    path("papers/", papers.papers, name="papers"),
    path("papers/results.json", papers.papers_json, name="papers_json"),
    path("docs/", operations.documents, name="documents"),
    path("docs/files/<path:path>", operations.document_file, name="document_file"),
    path("docs/<path:path>/", operations.document, name="document"),
    path("status/", operations.status, name="status"),
    path("account/organisations/", organisations.organisations, name="organisations"),
    path("o/<slug:organisation_key>/", organisations.organisation, name="organisation"),
    path("o/<slug:organisation_key>/manage/", organisations.manage_organisation, name="manage_organisation"),
    path("o/<slug:organisation_key>/leave/", organisations.leave_organisation, name="leave_organisation"),
    path("organisations/join/<str:secret>/", organisations.join_organisation_page, name="join_organisation"),
    path("account/", dashboards.dashboard, name="dashboard"),
    path("account/profile/", accounts.profile, name="profile"),
    path("account/close/", accounts.close_account, name="close_account"),
    path("account/data.zip", accounts.own_data_zip, name="own_data"),
    path("account/tokens/", accounts.tokens, name="tokens"),
    path("account/tokens/revoke/", accounts.revoke, name="revoke_token"),
    path("account/notices/", notifications.notices, name="notices"),
    path("account/notices/choices/", notifications.notice_choices, name="notice_choices"),
    path("unsubscribe/<str:token>/", notifications.stop, name="unsubscribe"),
    path("account/sessions/", accounts.sessions, name="sessions"),
    path("account/second-factor/picture.svg", accounts.second_factor_picture, name="second_factor_picture"),
    path("api/", include("leaderboard.api.urls")),
    path("styleguide/", styleguides.styleguide, name="styleguide"),
    path("robots.txt", crawlers.robots, name="robots"),
    path("sitemap.xml", crawlers.sitemap, name="sitemap"),
    path(".well-known/security.txt", crawlers.security, name="security_txt"),
    path("healthz/", operations.healthz, name="healthz"),
    path("readyz/", operations.readyz, name="readyz"),
    path("metrics/", operations.metrics, name="metrics"),
]
