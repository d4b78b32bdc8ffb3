"""The pages' addresses."""

urlpatterns: list = []
