"""How scores arrive: drafts, tables, result files, checks, quotas, corrections and decisions."""
