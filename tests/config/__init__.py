"""Tests of what runs the site: its environment, its installation, its processes."""
