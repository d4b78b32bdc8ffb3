"""Results of single instances that come with a submission."""
