#!/bin/sh
# Starts Plurank on a Space by the name that the Space gives it. Settings of the Space count before these.
set -eu
export PLURANK_HOSTS="${PLURANK_HOSTS:-$SPACE_HOST}"
export PLURANK_ORIGINS="${PLURANK_ORIGINS:-https://$SPACE_HOST}"
# With a key of its own each start signs everyone out. Where the disk is not kept, their accounts are gone anyway.
export PLURANK_SECRET_KEY="${PLURANK_SECRET_KEY:-$(python -c 'import secrets; print(secrets.token_urlsafe(50))')}"
if [ -n "${DJANGO_SUPERUSER_EMAIL:-}" ]; then
  python manage.py migrate --noinput --verbosity 0
  python manage.py createsuperuser --noinput --email "$DJANGO_SUPERUSER_EMAIL" || true  # it may be there already
fi
exec python manage.py serve --prepare --demonstration
