"""Who may see and do what on a benchmark: audiences, roles, invitations, bans, and the trail of what was done."""
