"""Permissions on a benchmark: audiences, roles, invitations, bans, and the audit trail."""
