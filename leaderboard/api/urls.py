"""The API's addresses. Every one has a row in the API's permission matrix (`tests/leaderboard/api`)."""

from django.urls import include, path, re_path

from leaderboard.api.views import (
    benchmarks,
    figures,
    instances,
    prospects,
    revisions,
    rules,
    schema,
    studies,
    submissions,
)

app_name = "api"
version_1 = [
    path("benchmarks/", benchmarks.Benchmarks.as_view(), name="benchmarks"),
    path("benchmarks/<slug:key>/", benchmarks.Benchmark.as_view(), name="benchmark"),
    path("benchmarks/<slug:key>/tasks/", benchmarks.Tasks.as_view(), name="tasks"),
    path("benchmarks/<slug:key>/systems/", benchmarks.Systems.as_view(), name="systems"),
    path("benchmarks/<slug:key>/systems/<slug:system_key>/", benchmarks.System.as_view(), name="system"),
    path("benchmarks/<slug:key>/scores/", figures.Scores.as_view(), name="scores"),
    path("benchmarks/<slug:key>/rankings/", figures.Rankings.as_view(), name="rankings"),
    path("benchmarks/<slug:key>/rankings/<slug:rule>/", figures.Ranking.as_view(), name="ranking"),
    path("benchmarks/<slug:key>/prospects/", prospects.Prospects.as_view(), name="prospects"),
    path("benchmarks/<slug:key>/prospects/<slug:system_key>/", prospects.Prospect.as_view(), name="prospect"),
    path("benchmarks/<slug:key>/studies/", studies.Studies.as_view(), name="studies"),
    path("benchmarks/<slug:key>/studies/<slug:study>/", studies.Study.as_view(), name="study"),
    path("benchmarks/<slug:key>/instances/", instances.Instances.as_view(), name="instances"),
    path("benchmarks/<slug:key>/revisions/", revisions.Revisions.as_view(), name="revisions"),
    path("benchmarks/<slug:key>/revisions/<int:number>/", revisions.Revision.as_view(), name="revision"),
    path("benchmarks/<slug:key>/submissions/", submissions.Submissions.as_view(), name="submit"),
    path("submissions/<uuid:uuid>/", submissions.SubmissionDetail.as_view(), name="submission"),
    path("submissions/<uuid:uuid>/withdraw/", submissions.Withdraw.as_view(), name="withdraw"),
    path("submissions/<uuid:uuid>/accept/", submissions.Accept.as_view(), name="accept"),
    path("submissions/<uuid:uuid>/reject/", submissions.Reject.as_view(), name="reject"),
    path("rules/", rules.Rules.as_view(), name="rules"),
    path("schema/", schema.Schema.as_view(), name="schema"),
]
urlpatterns = [
    path("v1/", include(version_1)),
    path("docs/", schema.Docs.as_view(), name="docs"),
    re_path("", schema.Nothing.as_view(), name="nothing"),
]
