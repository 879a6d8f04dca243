# make lab    try it: JupyterLab with the extension, on examples/ (more arguments: make lab LAB_ARGS="--port=9999")
# make test   every check, and the default tests; continuous integration runs this
# make test-full  the same with every test: all combinations and variants (run it each night)
# make check  formatting, lint, types, layers     make bench  the figures of docs/benchmarks.md
# make bench-rivals  the figures of docs/benchmarks-rivals.md: software by others beside ours, installed from PyPI (long)
# make sweep  kill the server at every crash point of scripted turns and at 200 random moments, damage its files (long)
# make versions  install the lowest and the newest allowed versions and run the main workflow with each (minutes)
# make build  after a change of the lab extension     make clean  remove everything these made
# make gen    after a change of the wire format, of texts or of configuration: update generated files
#
# Needs Python 3.11 or newer, or uv. Node and every other tool are installed into .venv; nothing is installed outside
# this directory, except a browser, LibreOffice and Debian's python3-venv where they are missing.

.PHONY: lab test test-full check check-python check-quick check-slow check-page test-page format build gen bench bench-rivals versions sweep clean env browser libreoffice
.DELETE_ON_ERROR:

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export NPM_CONFIG_UPDATE_NOTIFIER := false
# Playwright's own Node needs libatomic, which a small Debian lacks.
export PLAYWRIGHT_NODEJS_PATH := $(CURDIR)/.venv/bin/node
# Container images of Python often set it; then every server, kernel and worker compiles its imports again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv/.ready
NODE_MODULES := labextension/node_modules/.package-lock.json
BUNDLE := jupyter_ai_shoulders/labextension/static/style.js
WIDGET := jupyter_ai_shoulders/kernel/panel/static/panel.js
INSTALLED := .venv/.installed
NPM := npm --prefix labextension

ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
PAGE_SOURCES := $(shell find labextension/src labextension/style labextension/schema -type f -not -path '*/__tests__/*') \
	labextension/package.json labextension/tsconfig.json labextension/tsconfig.build.json \
	labextension/rspack.config.cjs $(wildcard labextension/bundler/*) labextension/vite.widget.config.mts

lab: build
	cd examples && jupyter-lab --ip=127.0.0.1 --LabApp.default_url=/lab/tree/tour.ipynb $(ALLOW_ROOT) $(LAB_ARGS)

# pytest's plugins import jsonschema, too: see tests/import_stubs.
PYTEST := PYTHONPATH=tests/import_stubs pytest
# A failed test is run again, at most twice, and listed; too many of them fail the run (tests/support/flaky_tests.py).
AGAIN := --reruns 2 --reruns-delay 1
# Tests mostly wait for other processes: this many keep two cores busy. A browser needs more CPU.
WORKERS := 4
BROWSERS := 3

# The quick checks come first. Single-core checks run in pairs, each with its output in one piece; the page's unit
# tests fill the core that is free first.
# Browser tests run separately, and those of one file in sequence, because they share servers.
test-full: SUITE := --full
test test-full:
	$(MAKE) check-quick
	$(MAKE) -j 2 --output-sync=target build browser libreoffice check-slow check-page test-page
ifdef PYTEST_ARGS
	$(PYTEST) $(PYTEST_ARGS)
else
	$(PYTEST) -n $(WORKERS) --dist worksteal $(AGAIN) $(SUITE) --ignore=tests/ui
	$(PYTEST) -n $(BROWSERS) --dist loadfile --no-loadscope-reorder $(AGAIN) $(SUITE) tests/ui
endif

check: check-python check-page

check-python: check-quick check-slow

check-quick: env
	ruff format --check
	ruff check
	lint-imports

check-slow: env
	pyright

check-page: $(NODE_MODULES)
	$(NPM) run check

test-page: $(NODE_MODULES)
	$(NPM) test

format: env $(NODE_MODULES)
	ruff format
	ruff check --fix
	$(NPM) run format

build: $(INSTALLED)

gen: env $(NODE_MODULES)
	python -m jupyter_ai_shoulders.wire.schema
	python -m jupyter_ai_shoulders.server.config_reference docs/configuration.md
	$(NPM) run gen:wire
	python .ci/messages.py

bench: build
	python -m tests.bench $(BENCH_ARGS)

bench-rivals: build
	python -m tests.bench.rivals $(RIVALS_ARGS)

versions: build
	python -m tests.dependency_versions $(VERSIONS_ARGS)

sweep: build
	python -m tests.crash_sweep $(SWEEP_ARGS)
	python -m tests.crash_sweep --random 200 $(SWEEP_ARGS)
	python -m tests.crash_sweep.schedule_kills --kills 120
	python -m tests.crash_sweep.watcher_kills --kills 35
	python -m tests.storage_damage --count 400

env: $(VENV)

browser: $(VENV)
	@python .ci/browser.py

libreoffice: $(VENV)
	@python .ci/libreoffice.py

clean:
	rm -rf .venv .venv-rivals labextension/node_modules labextension/lib jupyter_ai_shoulders/labextension dist htmlcov
	rm -rf jupyter_ai_shoulders/kernel/panel/static
	rm -rf .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage* tests/ui/failures
	find jupyter_ai_shoulders tests -name __pycache__ -prune -exec rm -rf {} +

$(VENV): .ci/constraints.txt .ci/collab.txt .ci/voila.txt .ci/env
	.ci/env

$(NODE_MODULES): labextension/package-lock.json labextension/.npmrc | $(VENV)
	$(NPM) ci
	@touch $@

# One bundle for trying and testing: the released one. `npm run watch` builds faster while working on it.
$(BUNDLE): $(PAGE_SOURCES) $(NODE_MODULES)
	$(NPM) run build:prod
	@touch $@ $(WIDGET)

# Where it alone is missing.
$(WIDGET): | $(BUNDLE)
	$(NPM) run build:widget

$(INSTALLED): $(BUNDLE) $(WIDGET) $(VENV) pyproject.toml jupyter_ai_shoulders/__init__.py $(wildcard jupyter_ai_shoulders/server-config/*)
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
