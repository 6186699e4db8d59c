# What a person types. Needs Python 3.10 or later, git and make; everything else it sets up itself.

PYTHON ?= python3
SECONDS ?=

# Addresses no account: the checks only want a region to be set.
export AWS_DEFAULT_REGION ?= us-east-1
export SAM_CLI_TELEMETRY := 0

PY := .venv/bin/python
SAM := .venv-sam/bin/sam
UV_COMPILE = .venv-pins/bin/uv pip compile --quiet --no-python-downloads --generate-hashes \
	--custom-compile-command "make pins" $(if $(UPGRADE),--upgrade)
UNIVERSAL := --universal --python-version 3.10

# Pythons of Lambda that the built functions are tested on: the oldest it goes on offering, and the default
RUNTIMES := 3.11 3.13

.DEFAULT_GOAL := help
.PHONY: help venvs demo test lint types unit template checkov build wheel bench fuzz pins clean

help:
	@echo "make demo             the whole system on this machine, until Ctrl-C; no AWS account"
	@echo "make demo SECONDS=120 the same, ends by itself, non-zero when a rollup is missing or wrong"
	@echo "make test             every check: lint, types, template, build, tests"
	@echo
	@echo "make venvs            .venv (code and tests), .venv-sam (SAM CLI), .venv-embedded (embedded AWS),"
	@echo "                      .venv-lambda (Lambda's own runtime client, for each tested Python; Linux)"
	@echo "make lint             ruff: rules and format"
	@echo "make types            mypy --strict"
	@echo "make unit             pytest; one folder or test: make unit TESTS=tests/wire"
	@echo "make template         sam validate --lint"
	@echo "make build            sam build, into .aws-sam/"
	@echo "make wheel            the wheel for instances, into dist/"
	@echo "make bench            what it costs: time, memory, bytes; CHECK=1 fails above a limit, JSON=FILE keeps it"
	@echo "make fuzz SECONDS=60  broken reports, found by the branches they take; Linux"
	@echo "make checkov          what checkov says of the template beyond .checkov.yaml; fetches 190 MB"
	@echo "make pins             resolve the pins again; UPGRADE=1 for newer releases"
	@echo "make clean            remove environments and what was built"
	@echo
	@echo "PYTHON=/path/to/python3 chooses the Python that makes the environments."

# --- environments: one per set of pins that cannot live together ---

venvs:
	@$(MAKE) --silent --no-print-directory -j3 .venv/.editable .venv-sam/.ready .venv-embedded/.ready \
		$(if $(filter Linux,$(shell uname -s)),$(RUNTIMES:%=.venv-lambda/%/.ready))

.venv/.ready: requirements/dev.txt
.venv-sam/.ready: requirements/sam.txt
.venv-embedded/.ready: requirements/embedded.txt
.venv-pins/.ready: requirements/pins.txt
.venv-fuzz/.ready: requirements/fuzz.txt
.venv-checkov/.ready: requirements/checkov.txt

.venv/.ready .venv-sam/.ready .venv-embedded/.ready .venv-pins/.ready .venv-fuzz/.ready .venv-checkov/.ready:
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) was not found: expected Python 3.10 or later; install it or name one with make PYTHON=/path/to/python3" >&2; \
		exit 2; }
	@$(PYTHON) requirements/environment.py $(@D) $<

# AWS's runtime client for a Python of Lambda that need not be the one that runs pip: it is compiled
.venv-lambda/%/.ready: requirements/lambda.txt | .venv/.ready
	@rm -rf $(@D)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
		--require-hashes --no-deps --only-binary=:all: --implementation cp --python-version $* \
		--platform manylinux2014_$(shell uname -m) --platform manylinux_2_28_$(shell uname -m) \
		--target $(@D) --requirement $<
	@touch $@
	@echo "$(@D): ready"

# neuron-emf itself, from this folder: nothing is fetched
.venv/.editable: pyproject.toml .venv/.ready
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# --- the rehearsal ---

demo: venvs
	@$(PY) -m local.rehearsal $(if $(SECONDS),--seconds $(SECONDS))

# --- checks ---

# --built: a build that is missing or older than its source is a failure, not a skip
test: venvs
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory types
	@$(MAKE) --no-print-directory template
	@$(MAKE) --no-print-directory build
	$(PY) -m pytest --built

lint: .venv/.editable
	$(PY) -m ruff check
	$(PY) -m ruff format --check

types: .venv/.editable
	$(PY) -m mypy

template: .venv-sam/.ready
	$(SAM) validate --lint

# the environment's Python surely has pip; the machine's may not
build: .venv-sam/.ready
	PYTHON=$(CURDIR)/.venv-sam/bin/python $(SAM) build

unit: venvs
	$(PY) -m pytest $(TESTS)

# --- measurements and searches: not part of the checks ---

bench: .venv/.editable
	@$(PY) -m benchmarks $(if $(CHECK),--check) $(if $(JSON),--json $(JSON))

fuzz: .venv-fuzz/.ready
	@.venv-fuzz/bin/python tests/emitter/reports/fuzz_decoder.py $(or $(SECONDS),60)

checkov: .venv-checkov/.ready
	@.venv-checkov/bin/checkov --config-file .checkov.yaml --file template.yaml

# --- what is delivered ---

# build/ first: what setuptools left there of an older tree would get into the wheel
wheel: .venv/.editable
	@rm -rf build
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

# --- upkeep ---

pins: .venv-pins/.ready
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --output-file requirements/emitter.txt
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --group tests --group lint --group rehearsal --output-file requirements/dev.txt
	$(UV_COMPILE) $(UNIVERSAL) --group sam --output-file requirements/sam.txt
	$(UV_COMPILE) $(UNIVERSAL) --group embedded --output-file requirements/embedded.txt
	$(UV_COMPILE) $(UNIVERSAL) --group pins --output-file requirements/pins.txt
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --group fuzz --output-file requirements/fuzz.txt
	$(UV_COMPILE) $(UNIVERSAL) --group lambda --output-file requirements/lambda.txt
	$(UV_COMPILE) $(UNIVERSAL) --group checkov --output-file requirements/checkov.txt
	@# the functions' run on Lambda alone: releases that the oldest Python reads, without markers
	$(UV_COMPILE) --python-version 3.10 --python-platform linux --group functions --output-file lambda/requirements.txt

clean:
	rm -rf .venv .venv-sam .venv-embedded .venv-pins .venv-fuzz .venv-lambda .venv-checkov .aws-sam build dist *.egg-info demo.json
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find benchmarks emitter lambda local tests -name __pycache__ -type d -prune -exec rm -rf {} +
