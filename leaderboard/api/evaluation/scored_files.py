"""What the site computed the scores of a submission from."""

from rest_framework import serializers as s

from leaderboard.api.protocol.fields import Shape


class ScoredFileSerializer(Shape):
    """A file of predictions that the site computed scores from; there is none where the submitter stated scores."""

    system = s.CharField(source="system_name", help_text="Its name.")
    task = s.CharField(source="task_key", help_text="Its key.")
    sha256 = s.CharField(help_text="Of the file.")
    metric = s.CharField(help_text="Its key.")
    library = s.CharField(allow_blank=True, help_text="The library that computed it, with its version.")
    references = s.IntegerField(help_text="The number of the references.")
