"""The root of the URLs."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("leaderboard.urls")),
    path("account/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
]
