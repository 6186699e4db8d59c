# What a person types. Needs Python 3.10 or later, git and make; everything else it sets up itself.

PYTHON ?= python3
SECONDS ?=
WORKERS ?= 2

# Addresses no account: the checks only want a region to be set.
export AWS_DEFAULT_REGION ?= us-east-1
export SAM_CLI_TELEMETRY := 0

PY := .venv/bin/python
SAM := .venv-sam/bin/sam
UV_COMPILE = .venv-pins/bin/uv pip compile --quiet --no-python-downloads --generate-hashes \
	--custom-compile-command "make pins" $(if $(UPGRADE),--upgrade)
UNIVERSAL := --universal --python-version 3.10

# Of pyproject.toml's project.urls
REPOSITORY := https://github.com/neuron-emf/neuron-emf

# Pythons of Lambda that the built functions are tested on: the oldest it goes on offering, and the default
RUNTIMES := 3.11 3.13

.DEFAULT_GOAL := help
.PHONY: help venvs demo test lint types unit template checkov build wheel pins clean
.PHONY: accept accept-clean proof bench chaos soak fuzz mutants audit sizes pages screenshots docs install uninstall bundle prometheus
.PHONY: docs-release release release-version packages workflows image image-index

help:
	@echo "make demo             the whole system on this machine, with its page on 127.0.0.1, until Ctrl-C; no AWS account"
	@echo "make demo SECONDS=120 the same, ends by itself, non-zero when a rollup is missing or wrong"
	@echo "make test             every check: lint, types, template, build, tests; WORKERS=2 processes"
	@echo
	@echo "make venvs            .venv (code and tests), .venv-sam (SAM CLI), .venv-embedded (embedded AWS),"
	@echo "                      .venv-docs (the site of docs/, the AWS CLI's parser), .venv-grafana (its dashboard; Python 3.11),"
	@echo "                      .venv-deploy (Helm, hadolint, shellcheck; Linux),"
	@echo "                      .venv-lambda (Lambda's own runtime client, for each tested Python; Linux)"
	@echo "make lint             ruff: rules and format"
	@echo "make types            mypy --strict"
	@echo "make unit             pytest; one folder or test: make unit TESTS=tests/wire"
	@echo "make template         sam validate --lint"
	@echo "make build            sam build, into .aws-sam/"
	@echo "make wheel            the wheel for instances and for neuron-emf deploy, into dist/"
	@echo "make proof            what is claimed, shown: the next five; RECORD=1 keeps the figures in docs/"
	@echo "make bench            what it costs: time, memory, bytes, beside what others do; CHECK=1 fails above a limit"
	@echo "make chaos            20 emitters and the stack through every trouble; SEED=N, PLAN=1 only says what would happen"
	@echo "make soak             weeks in minutes: memory, files, threads, spool"
	@echo "make fuzz SECONDS=60  broken input for every reader, found by the branches it takes; Linux"
	@echo "make accept REGION=R  the product on the account of your credentials: 50 minutes, under USD 2, removes what it made;"
	@echo "                      MODE=kinesis, KMS=1, RECORD=1 keeps what AWS answered; EMBEDDED=1 instead of REGION: no account"
	@echo "make accept-clean REGION=R removes what a killed acceptance left"
	@echo "make audit            known vulnerabilities of what is pinned; asks the Python Package Index"
	@echo "make mutants          faults planted in the rules that matter, each must be found; ALL=1 plants every one, MODULE=merging those of one"
	@echo "make sizes            files and code lines by folder, words of the pages"
	@echo "make pages            docs/explanation/benchmarks.md and docs/explanation/reliability.md of the figures that were kept"
	@echo "make screenshots      docs/images/page*.png of neuron-emf page; needs Chromium"
	@echo "make docs             the pages of docs/ as a site, into build/site; a broken link is a failure"
	@echo "make checkov          what checkov says of the template beyond .checkov.yaml; fetches 190 MB"
	@echo "make install          neuron-emf as a systemd service of this machine; CLUSTER, REGION, PREFIX, DESTDIR, PYTHON"
	@echo "make uninstall        removes the service; PURGE=1 what it kept, too"
	@echo "make bundle           what installs the service without a clone, into dist/; WHEELS=1 without a package index"
	@echo "make prometheus       Debian's Prometheus into build/prometheus, for the tests of --prometheus; installs nothing"
	@echo "make release          all that a release publishes, into dist/release, with hashes; the same bytes from the same commit"
	@echo "make release-version  the version, and where something disagrees; TAG=v1.2.3 compares it, TO=1.2.3 writes it everywhere"
	@echo "make packages         deb and rpm of the agent for this processor, into dist/packages; needs Python 3.11"
	@echo "make docs-release     the site of this version beside those before, as a commit on the branch gh-pages; pushes nothing"
	@echo "make workflows        what zizmor, actionlint and their schema say of .github/workflows"
	@echo "make image            the image of this processor; IMAGE=, VERSION=, PUSH=1; needs Docker"
	@echo "make image-index      the images of both processors under one name; IMAGE=, VERSION=; needs Docker"
	@echo "make pins             resolve the pins again; UPGRADE=1 for newer releases"
	@echo "make clean            remove environments and what was built"
	@echo
	@echo "PYTHON=/path/to/python3 chooses the Python that makes the environments."

# --- environments: one per set of pins that cannot live together ---

REHEARSAL := .venv/.editable .venv-sam/.ready .venv-embedded/.ready
CHECKS := .venv-docs/.ready .venv-grafana/.ready $(if $(filter Linux,$(shell uname -s)),.venv-deploy/.ready $(RUNTIMES:%=.venv-lambda/%/.ready))

venvs:
	@$(MAKE) --silent --no-print-directory -j3 $(REHEARSAL) $(CHECKS)

.venv/.ready: requirements/dev.txt
.venv-sam/.ready: requirements/sam.txt
.venv-embedded/.ready: requirements/embedded.txt
.venv-pins/.ready: requirements/pins.txt
.venv-fuzz/.ready: requirements/fuzz.txt
.venv-checkov/.ready: requirements/checkov.txt
.venv-pictures/.ready: requirements/pictures.txt
.venv-audit/.ready: requirements/audit.txt
.venv-deploy/.ready: requirements/deploy.txt
.venv-docs/.ready: requirements/docs.txt
.venv-grafana/.ready: requirements/grafana.txt
.venv-mutants/.ready: requirements/mutants.txt

.venv/.ready .venv-sam/.ready .venv-embedded/.ready .venv-pins/.ready .venv-fuzz/.ready .venv-checkov/.ready .venv-pictures/.ready .venv-audit/.ready .venv-mutants/.ready .venv-deploy/.ready .venv-docs/.ready .venv-grafana/.ready:
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

# What it has no use for is not fetched: the first rollup is to be seen within three minutes
demo:
	@$(MAKE) --silent --no-print-directory -j3 $(REHEARSAL)
	@$(PY) -m local.rehearsal $(if $(SECONDS),--seconds $(SECONDS))

# --- checks ---

# --built: a build that is missing or older than its source is a failure, not a skip
test: venvs
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory types
	@$(MAKE) --no-print-directory template
	@$(MAKE) --no-print-directory build
	$(PY) -m pytest --built -n $(WORKERS) --dist worksteal

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

# --- proofs: their short forms are part of the tests ---

RECORDED := $(if $(RECORD),--record)

# The figures in docs/ come from here alone: make proof RECORD=1, make mutants RECORD=1, make pages
proof:
	@$(MAKE) --no-print-directory bench CHECK=1
	@$(MAKE) --no-print-directory chaos
	@$(MAKE) --no-print-directory soak
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory audit

bench: .venv/.editable
	@$(PY) -m benchmarks.scraping $(RECORDED)
	@$(PY) -m benchmarks $(if $(CHECK),--check) $(RECORDED)

chaos: .venv/.editable
	@$(PY) -m proof.chaos $(if $(SEED),--seed $(SEED)) $(if $(PLAN),--plan) $(RECORDED)

soak: .venv/.editable .venv-pictures/.ready
	@$(PY) -m proof.soak $(if $(WEEKS),--weeks $(WEEKS)) $(RECORDED)

# Not part of proof: it needs an account, and costs
accept: .venv/.editable $(if $(EMBEDDED),.venv-embedded/.ready)
	@mkdir -p build/accept/release
	@$(PY) deploy/wheel/carried.py build/accept/release
	@$(PY) -m proof.accept $(if $(EMBEDDED),--embedded,$(REGION:%=--region %)) $(MODE:%=--mode %) \
		$(if $(KMS),--kms) $(RECORDED)

accept-clean: .venv/.editable
	@$(PY) -m proof.accept --clean $(REGION:%=--region %)

fuzz: .venv-fuzz/.ready
	@.venv-fuzz/bin/python -m proof.fuzz --seconds $(or $(SECONDS),60) $(RECORDED)

mutants: .venv-mutants/.ready
	@.venv-mutants/bin/python -m proof.mutants $(if $(ALL),--all) $(MODULE:%=--module %) \
		$(if $(SEED),--seed $(SEED)) $(RECORDED)

audit: .venv/.editable .venv-audit/.ready
	@$(PY) -m proof.audit

sizes:
	@$(PYTHON) -m proof.sizes

pages: .venv/.editable
	@$(PY) -m benchmarks.page
	@$(PY) -m proof.reliability

screenshots: .venv/.editable
	@$(PY) -m tests.neuron_emf.page.pictures

# --- the pages as a site ---

docs: .venv-docs/.ready
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet
	@echo "build/site/index.html: the pages; it opens from the disk, search included"

# The commit is made here, and pushed by whoever may
docs-release: .venv-docs/.ready
	@version=$$($(PYTHON) deploy/release/versions.py) && export NO_MKDOCS_2_WARNING=1 && \
		DOCS_SOURCE="$(REPOSITORY)/blob/v$$version/docs/" \
		PATH="$(CURDIR)/.venv-docs/bin:$$PATH" .venv-docs/bin/mike deploy --config-file mkdocs.versions.yml --update-aliases "$$version" latest && \
		.venv-docs/bin/mike set-default --config-file mkdocs.versions.yml latest && \
		echo "gh-pages: the site of $$version"

checkov: .venv-checkov/.ready
	@.venv-checkov/bin/checkov --config-file .checkov.yaml --file template.yaml

# --- what is delivered ---

# build/ first: what setuptools left there of an older tree would get into the wheel
wheel: .venv/.editable
	@rm -rf build
	@# what it carries for `neuron-emf deploy` is not left behind: a later installation would take it, stale
	$(PY) deploy/wheel/carried.py neuron_emf/deploy
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .; \
		ended=$$?; rm -f neuron_emf/deploy/template.yaml neuron_emf/deploy/functions.zip; exit $$ended
	@ls dist/*.whl

# The jobs of .github/workflows are these targets, and each runs here, too; a test compares
release: .venv/.editable .venv-deploy/.ready
	@$(PY) deploy/release/artefacts.py dist/release

release-version: .venv/.ready
	@$(PY) deploy/release/versions.py $(TAG:%=--tag %) $(TO:%=--set %)

packages: .venv/.editable .venv-deploy/.ready
	@mkdir -p dist/packages
	@$(PY) deploy/release/packages.py dist/packages

# Without network: what they say needs none
workflows: .venv-deploy/.ready
	@.venv-deploy/bin/zizmor --offline --quiet .github
	@.venv-deploy/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@.venv-deploy/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@deploy/release/actionlint.sh

# For this machine's processor, and then both under one name: needs Docker
image:
	docker buildx build --file deploy/container/Containerfile --provenance=false \
		--tag $(IMAGE):$(VERSION)-$(shell uname -m) $(if $(PUSH),--push,--load) .

image-index:
	docker buildx imagetools create --tag $(IMAGE):$(VERSION) $(IMAGE):$(VERSION)-x86_64 $(IMAGE):$(VERSION)-aarch64

# As a systemd service of this machine, with a Python of its own; without .venv: these run where nothing else does
install uninstall:
	@deploy/systemd/install.sh $@

bundle:
	@deploy/systemd/bundle.sh $(if $(WHEELS),--wheels)

# --- upkeep ---

# Unpacked, not installed: its service must not start
prometheus:
	@mkdir -p build/prometheus
	@cd build/prometheus && apt-get download --quiet prometheus && dpkg --extract prometheus_*.deb . && rm prometheus_*.deb
	@ls build/prometheus/usr/bin/*

pins: .venv-pins/.ready
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --extra prometheus --output-file requirements/emitter.txt
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --extra top --extra prometheus --group tests --group lint --group rehearsal --group benchmarks --output-file requirements/dev.txt
	$(UV_COMPILE) $(UNIVERSAL) --group sam --output-file requirements/sam.txt
	$(UV_COMPILE) $(UNIVERSAL) --group embedded --output-file requirements/embedded.txt
	$(UV_COMPILE) $(UNIVERSAL) --group pins --output-file requirements/pins.txt
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --group fuzz --output-file requirements/fuzz.txt
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --extra prometheus --group tests --group benchmarks --group mutants --output-file requirements/mutants.txt
	$(UV_COMPILE) $(UNIVERSAL) --group lambda --output-file requirements/lambda.txt
	$(UV_COMPILE) $(UNIVERSAL) --group checkov --output-file requirements/checkov.txt
	$(UV_COMPILE) $(UNIVERSAL) --group pictures --output-file requirements/pictures.txt
	$(UV_COMPILE) $(UNIVERSAL) --group audit --output-file requirements/audit.txt
	$(UV_COMPILE) $(UNIVERSAL) --group deploy --output-file requirements/deploy.txt
	$(UV_COMPILE) $(UNIVERSAL) --group docs --output-file requirements/docs.txt
	$(UV_COMPILE) $(UNIVERSAL) --group grafana --output-file requirements/grafana.txt
	@# the functions' run on Lambda alone: releases that the oldest Python reads, without markers
	$(UV_COMPILE) --python-version 3.10 --python-platform linux --group functions --output-file lambda/requirements.txt

clean:
	rm -rf .venv .venv-sam .venv-embedded .venv-pins .venv-fuzz .venv-lambda .venv-checkov .venv-pictures .venv-audit .venv-mutants .venv-deploy .venv-docs .venv-grafana .aws-sam build dist *.egg-info demo.json
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find benchmarks emitter lambda local tests -name __pycache__ -type d -prune -exec rm -rf {} +
