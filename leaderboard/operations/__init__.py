"""Running the site: backups, health, metrics, retention, the pages of errors and of the site’s own documents."""
