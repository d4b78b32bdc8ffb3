"""From scores to published rankings: revisions, configurations, score matrices, reports and verdicts."""
