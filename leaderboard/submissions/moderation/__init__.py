"""Decisions of moderators: accepting, rejecting, and taking scores down."""
