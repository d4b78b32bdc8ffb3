"""The pages' addresses. Every name has a row in the permission matrix (`tests/leaderboard/test_permissions.py`)."""

from django.urls import include, path

from leaderboard.views import (
    board,
    health,
    history,
    home,
    manage,
    new,
    prospects,
    rule,
    status,
    submit,
    system,
    tokens,
    upload,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("b/<slug:key>/", board.board, name="board"),
    path("b/<slug:key>/board.csv", board.board_csv, name="board_csv"),
    path("b/<slug:key>/upload/", upload.upload, name="upload"),
    path("b/<slug:key>/prospects/", prospects.prospects, name="prospects"),
    path("b/<slug:key>/rules/<slug:rule_key>/", rule.rule, name="rule"),
    path("b/<slug:key>/submit/", submit.submit, name="submit"),
    path("b/<slug:key>/systems/<slug:system_key>/", system.system, name="system"),
    path("b/<slug:key>/history/", history.history, name="history"),
    path("b/<slug:key>/releases/<slug:release_key>/", history.release, name="release"),
    path("b/<slug:key>/manage/", manage.manage, name="manage"),
    path("b/<slug:key>/manage/tasks/", manage.manage_tasks, name="manage_tasks"),
    path("b/<slug:key>/manage/releases/", manage.manage_releases, name="manage_releases"),
    path("b/<slug:key>/manage/edition/", manage.manage_edition, name="manage_edition"),
    path("b/<slug:key>/manage/archive/", manage.manage_archive, name="manage_archive"),
    path("new/", new.new, name="new"),
    path("new/<uuid:uuid>/", new.new_draft, name="new_draft"),
    path("drafts/<uuid:uuid>/", submit.draft, name="draft"),
    path("submissions/<uuid:uuid>/", submit.batch, name="batch"),
    path("submissions/<uuid:uuid>/progress/", submit.batch_progress, name="batch_progress"),
    path("status/", status.status, name="status"),
    path("account/tokens/", tokens.tokens, name="tokens"),
    path("account/tokens/revoke/", tokens.revoke, name="revoke_token"),
    path("api/", include("leaderboard.api.urls")),
    path("healthz/", health.healthz, name="healthz"),
]
