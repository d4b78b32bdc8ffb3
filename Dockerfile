# One image for every process of Plurank. Run alone it is the whole site on SQLite; in docker-compose.yml each container
# runs one process of it.
# The tag moves with fixes of Python 3.13 and of Debian trixie, whose postgresql-client is of the version of the server in
# docker-compose.yml: pg_dump must not be older. To build on the very same image each time, write its digest behind it, as
# in python:3.13-slim-trixie@sha256:...; `docker buildx imagetools inspect python:3.13-slim-trixie` shows today's.
FROM python:3.13-slim-trixie

ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PLURANK_VAR=/var/lib/plurank HOST=0.0.0.0 PORT=8000

# pg_dump and pg_restore, for `manage.py backup` and `restore`.
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 plurank \
    && useradd --uid 10001 --gid 10001 --create-home --home-dir /home/plurank plurank \
    && install --directory --owner plurank --group plurank --mode 700 /var/lib/plurank
WORKDIR /srv/plurank
COPY requirements.lock requirements-scoring.lock ./
RUN pip install --require-hashes --requirement requirements.lock
# With --build-arg SCORING=1 also the libraries of all metrics of predictions; scikit-learn is there without.
ARG SCORING=
RUN if [ -n "$SCORING" ]; then pip install --require-hashes --requirement requirements-scoring.lock; fi
COPY . .
USER plurank
VOLUME /var/lib/plurank
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--prepare"]
