# The only list of commands. `make` alone prints it.

VENV    := .venv
SMOKE   := .venv-smoke
BENCH   := .venv-bench
PY      := $(VENV)/bin/python
PYTHON  ?=
ARGS    ?=
NEWEST   = $(shell tools/find-python --newest)
# One worker more than there are cores: tests wait for things to happen, and their servers and services compute beside them.
WORKERS ?= $(shell echo $$((1 + $$(getconf _NPROCESSORS_ONLN))))

# Silent on success, loud on failure, patient with a slow index.
INSTALL := -m pip install -qq --require-hashes --requirement
PROJECT := -m pip install -qq --no-deps --no-build-isolation --editable .
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_RETRIES := 5
export PIP_ROOT_USER_ACTION := ignore

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test soak soak-jobs cluster bench pages soak-pages mutants smoke smoke-newest check lint types imports tidy format lock reference dist system-deps clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## Real documents all the way through, on servers started for it (ARGS=--exit: end when done)
	@$(VENV)/bin/armka demo $(ARGS)

test: $(VENV)/.dev ## The whole suite, then `make smoke` (ARGS: passed on to pytest)
	$(PY) -m pytest -n $(WORKERS) --dist worksteal $(ARGS)
	@$(MAKE) --no-print-directory smoke

soak: $(VENV)/.dev ## Documents pass while everything is killed, frozen, restarted; then a reckoning (SEED=, ARGS=--help)
	$(PY) -m chaos $(if $(SEED),--seed $(SEED)) $(ARGS)

soak-jobs: $(VENV)/.dev ## 5,000 jobs on each transport while servers are harmed at random: equal in the end? (ARGS=--help)
	$(PY) -m chaos.jobs $(ARGS)

cluster: $(VENV)/.dev ## Jobs pass through three NATS nodes whose leader is killed, frozen, restarted (ARGS=--help)
	$(PY) -m chaos.cluster $(ARGS)

bench: $(BENCH)/.made ## Speed beside its peers: medians, ratios, a verdict (ARGS: see docs/operate/performance.md)
	@OMP_THREAD_LIMIT=1 $(BENCH)/bin/python -m bench $(ARGS)

pages: $(BENCH)/.made ## Scanned pages read against the truth, by kind and resolution; speed beside others (ARGS=--help)
	@OMP_THREAD_LIMIT=1 PYTHONPATH=src $(BENCH)/bin/python -m bench.pages $(ARGS)

soak-pages: $(BENCH)/.made ## Scans all the way to their lines: wrong values in documents that are done (ARGS=--help)
	@OMP_THREAD_LIMIT=1 PYTHONPATH=src $(BENCH)/bin/python -m bench.silent $(ARGS)

mutants: $(VENV)/.dev ## Every deliberate fault, of the core, a service and scan-gateway, against every check: which see it
	$(PY) -m pytest tests/conformance/matrix.py tests/conformance/service/matrix.py tests/scan_gateway/test_mutants.py -n $(WORKERS) -rP $(ARGS)

smoke: $(VENV)/.made ## The tests marked `smoke`, on the newest Python present
	@if [ "$$($(PY) -V)" = "$$($(NEWEST) -V)" ]; then \
	    echo "smoke: $$($(PY) -V) is the newest Python present, and the whole suite runs on it: nothing to add."; \
	else \
	    [ "$$($(SMOKE)/bin/python -V 2>/dev/null)" = "$$($(NEWEST) -V)" ] || rm -rf $(SMOKE); \
	    $(MAKE) --no-print-directory smoke-newest NEWEST="$(NEWEST)"; \
	fi

smoke-newest: $(SMOKE)/.test
	$(SMOKE)/bin/python -m pytest -m smoke

check: lint types imports tidy ## Lint, format, types, import rules, the house's own rules (make -k check: all findings)

lint: $(VENV)/.dev
	$(PY) -m ruff check
	$(PY) -m ruff format --check

types: $(VENV)/.dev
	$(PY) -m mypy

imports: $(VENV)/.dev
	$(VENV)/bin/lint-imports --no-logo

tidy: $(VENV)/.dev
	$(PY) -m pytest tests/architecture --quiet

format: $(VENV)/.dev ## Mend what the linter can mend, then format
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

# Names, versions, hashes; never an index. The other files only select from dev.txt, so nothing is pinned twice; of all
# files bench.txt alone adds packages of its own, the peers.
LOCK   = $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
         --no-emit-index-url --no-emit-find-links $(UPGRADE) pyproject.toml
SELECT = $(LOCK) --no-annotate --constraint requirements/dev.txt
lock: $(VENV)/.dev ## Pin the requirements again after a change of pyproject.toml (UPGRADE=--upgrade: newest versions)
	$(LOCK) --all-extras --group dev --output-file requirements/dev.txt
	$(SELECT) --all-extras --group test --output-file requirements/test.txt
	$(SELECT) --all-extras --group build --output-file requirements/demo.txt
	$(SELECT) --extra core --output-file requirements/core.txt
	$(SELECT) --extra scan --output-file requirements/scan.txt
	$(SELECT) --extra tabular --output-file requirements/tabular.txt
	$(SELECT) --extra core --extra scan --extra stack --extra tabular --group bench --output-file requirements/bench.txt

reference: $(VENV)/.dev ## The generated pages of docs/reference
	$(PY) tools/reference.py > docs/reference/settings.md
	PYTHONPATH=src $(PY) -m tests.conformance.page > docs/reference/scenarios.md
	PYTHONPATH=src $(PY) -m tests.conformance.service.page > docs/reference/checks.md
	$(PY) tools/messages.py > docs/reference/messages.md
	$(PY) tools/asyncapi.py docs/contracts

dist: $(VENV)/.dev ## A wheel and an sdist in dist/
	$(PY) -m hatchling build --target sdist --target wheel

system-deps: ## Check what the machine itself must bring; fetch Tesseract's Russian data and fonts
	@PYTHON="$(PYTHON)" tools/system-deps

clean: ## Remove what these commands have made
	rm -rf $(VENV) $(SMOKE) $(BENCH) dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests chaos -name __pycache__ -type d -prune -exec rm -rf {} +

# The environments. A stamp is younger than what was installed from; a changed lock or pyproject.toml installs again.

$(VENV)/.made:
	@$(PY) -c 'import pip' 2>/dev/null || { \
	    python=$$(tools/find-python $(PYTHON)) && \
	    echo "Making $(VENV) with $$python" && \
	    "$$python" -m venv --clear $(VENV); }
	@touch $@

$(VENV)/.demo: $(VENV)/.made requirements/demo.txt pyproject.toml
	@echo "Installing the locked packages into $(VENV)"
	@$(PY) $(INSTALL) requirements/demo.txt
	@$(PY) $(PROJECT)
	@touch $@

$(VENV)/.dev: $(VENV)/.made requirements/dev.txt pyproject.toml
	@echo "Installing the locked packages and the tools into $(VENV)"
	@$(PY) $(INSTALL) requirements/dev.txt
	@$(PY) $(PROJECT)
	@touch $@ $(VENV)/.demo

$(SMOKE)/.test: requirements/test.txt pyproject.toml
	@echo "Making $(SMOKE) with $(NEWEST) and installing the locked packages"
	@$(NEWEST) -m venv --clear $(SMOKE)
	@$(SMOKE)/bin/python $(INSTALL) requirements/test.txt
	@$(SMOKE)/bin/python $(PROJECT)
	@touch $@

$(BENCH)/.made: requirements/bench.txt pyproject.toml
	@python=$$(tools/find-python $(PYTHON)) && \
	    echo "Making $(BENCH) with $$python and installing the locked packages" && \
	    "$$python" -m venv --clear $(BENCH)
	@$(BENCH)/bin/python $(INSTALL) requirements/bench.txt
	@$(BENCH)/bin/python $(PROJECT)
	@touch $@
