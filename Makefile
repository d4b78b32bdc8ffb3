# Needs make and a Python from 3.11 to 3.13; everything else goes into .venv. All paths are relative to the
# checkout, so that a folder with spaces in its name works.
#
# Variables: PORT=8123, PYTHON=/path/to/python3.12, and ARGS="..." for pytest.

.PHONY: help demo production-like test slowest test-slow faults fuzz cost schemathesis check audit bench bench-peers papers calibration screenshots messages wheel lock install-dev
.DEFAULT_GOAL := help
SHELL = /bin/sh
VENV_PYTHON = .venv/bin/python

help:
	@echo "make demo    run the whole site with demonstration data at http://127.0.0.1:8000/ (PORT=8123 make demo)"
	@echo "make production-like   run it as in production: PostgreSQL, Redis, gunicorn, workers, without containers"
	@echo "make test    run the tests (make test ARGS='-k borda')"
	@echo "make slowest   run the tests one after the other and list those that take a processor longest"
	@echo "make test-slow   run the tests that take long"
	@echo "make faults   kill, stall and starve running sites on 300 random schedules and in single experiments (ARGS='--seed 7')"
	@echo "make fuzz    send every importer of result files, and every reader of predictions, 100,000 inputs"
	@echo "make cost    send every route of a running site the largest inputs it takes, and measure what each costs"
	@echo "make schemathesis   send the API some fifteen minutes of requests that its schema allows"
	@echo "make check   lint, types, import contracts, indentation of templates, missing migrations"
	@echo "make audit   compare the packages with the lock, and ask about known holes in them"
	@echo "make bench   measure the speed of the engine and the site"
	@echo "make bench-peers   measure it against other packages, which it downloads; some minutes (ARGS='--peer ranky')"
	@echo "make papers  recompute the tables of four papers and write docs/papers.md (ARGS='--section rofin-glue')"
	@echo "make calibration   simulate how often intervals and tests are right, and write docs/calibration.md (ARGS='--boards 50')"
	@echo "make screenshots   take the pictures of docs/screenshots (ARGS='board prospects' for some)"
	@echo "make wheel   build the distribution plurank, wheel and source, into dist/"
	@echo "make messages   write locale/django.pot, the texts of the pages that can be translated"
	@echo "make lock    pin the newest versions that pyproject.toml allows, with hashes"

demo:
	@python=$$(sh config/installation/find_python.sh) && exec "$$python" -m config.installation.bootstrap demo

production-like: install-dev
	@exec $(VENV_PYTHON) -m config.processes.production_like $(ARGS)

install-dev:
	@python=$$(sh config/installation/find_python.sh) && "$$python" -m config.installation.bootstrap install-dev

# With as many processes as the machine has processors. The tests start hundreds of others, which read what Python has
# compiled once.
test: install-dev
	@PYTHONDONTWRITEBYTECODE= exec $(VENV_PYTHON) -m pytest $(SIDE_BY_SIDE) $(ARGS)

SIDE_BY_SIDE = --numprocesses auto --maxprocesses 8 --dist loadscope --no-loadscope-reorder

slowest: install-dev
	@PYTHONDONTWRITEBYTECODE= exec $(VENV_PYTHON) -m tests.slowest $(ARGS)

test-slow: install-dev
	@exec $(VENV_PYTHON) -m pytest -m slow $(ARGS)

# PostgreSQL, Redis, PgBouncer and the sites are these runs' own, on ports of their own. Takes about two hours. As root a
# small disk is mounted, so that it can become full.
faults: install-dev
	@$(VENV_PYTHON) -m tests.faults --schedules 200 $(ARGS)
	@$(VENV_PYTHON) -m tests.faults --stack sqlite --schedules 60 $(ARGS)
	@$(VENV_PYTHON) -m tests.faults --stack pooled --schedules 40 $(ARGS)
	@$(VENV_PYTHON) -m tests.faults --stack postgresql --experiment all
	@$(VENV_PYTHON) -m tests.faults --experiment too_few_connections
	@$(VENV_PYTHON) -m tests.faults --stack pooled --experiment all
	@$(VENV_PYTHON) -m tests.faults --stack sqlite --experiment all

fuzz: install-dev
	@PLURANK_FUZZ_INPUTS=100000 exec $(VENV_PYTHON) -m pytest tests/ranking_engine/importers/test_fuzz.py \
		tests/ranking_engine/evaluation/test_fuzz.py tests/leaderboard/evaluation/test_fuzz.py $(ARGS)

# About an hour: 3,000 drawn requests beside every bomb that is known.
cost: install-dev
	@PLURANK_COST_REQUESTS=3000 exec $(VENV_PYTHON) -m pytest tests/cost $(ARGS)

schemathesis: install-dev
	@exec $(VENV_PYTHON) -m pytest -m slow tests/leaderboard/api/test_schemathesis.py $(ARGS)

check: install-dev
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check --quiet .
	$(VENV_PYTHON) -m mypy
	$(VENV_PYTHON) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"
	$(VENV_PYTHON) -m djhtml --check --tabwidth 2 templates
	$(VENV_PYTHON) manage.py makemigrations --check --dry-run

audit: install-dev
	@exec $(VENV_PYTHON) -m config.installation.audit

bench: install-dev
	@for file in performance/*.py performance/votes/*.py performance/scoring/*.py; do \
		case "$$file" in */_*|*/peers.py|"performance/*.py") continue ;; esac; \
		echo "== $$file"; \
		PYTHONPATH=. $(VENV_PYTHON) "$$file" || exit 1; \
	done

# Not among the others: it installs other packages, each into an environment of its own that is deleted afterwards.
bench-peers: install-dev
	@PYTHONPATH=. $(VENV_PYTHON) performance/peers.py $(ARGS)

# The texts of pages that are marked for translation.
messages: install-dev
	@DJANGO_SETTINGS_MODULE=config.settings exec $(VENV_PYTHON) -m tests.languages.extraction

# A run that is cut short goes on where it stopped; PLURANK_REFERENCE_DATA names the folder with the papers' own data.
papers: install-dev
	@exec $(VENV_PYTHON) -m reproduction $(ARGS)

# Takes about half an hour of two cores.
calibration: install-dev
	@exec $(VENV_PYTHON) -m performance.calibration $(ARGS)

# Needs Chromium. A site of its own is made for it, with boards, a history and a queue; that takes some minutes.
screenshots: install-dev
	@exec $(VENV_PYTHON) -m tests.browser.screenshots $(ARGS)

# Without isolation: the build needs no network.
wheel: install-dev
	@exec $(VENV_PYTHON) -m hatchling build --target sdist --target wheel $(ARGS)

# The runtime lock first: the others keep its versions and add the libraries of metrics, and the tools.
lock: install-dev
	$(VENV_PYTHON) -m uv pip compile $(LOCK_OPTIONS) pyproject.toml --upgrade --group site \
		--output-file requirements.lock
	$(VENV_PYTHON) -m uv pip compile $(LOCK_OPTIONS) pyproject.toml --upgrade --group scoring \
		--constraint requirements.lock --output-file requirements-scoring.lock
	$(VENV_PYTHON) -m uv pip compile $(LOCK_OPTIONS) pyproject.toml --upgrade --group dev \
		--constraint requirements.lock --constraint requirements-scoring.lock --output-file requirements-dev.lock

LOCK_OPTIONS = --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock"
