"""Single instances as items of a test: how hard each is, how well it separates systems, which ones stand for all."""
