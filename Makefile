# Needs Python, make and a package index; everything goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
DEMO ?=
# What runs against other versions of the dependencies.
TESTS ?= tests
# In a process of its own: thinc looks for a GPU as soon as it is imported.
FAKE_DEVICE = -p tests.fake_device.plugin --gpu tests/test_gpu.py tests/fake_device
NEWEST ?= .venv-newest
OLDEST ?= .venv-oldest
PIP = $(VENV)/bin/python -m pip install --disable-pip-version-check --quiet

.PHONY: demo demo-full test pytest test-newest test-oldest fake-device gpu-check bench lint format docs dist clean configs

# Variables of project/project.yml may be changed: make demo DEMO="--vars.demo_seeds 1"
demo: $(VENV)/installed-experiments
	cd project && $(abspath $(VENV))/bin/python -m spacy project run demo . $(DEMO)
	@echo "The report: project/metrics/demo/comparison.html"

demo-full: $(VENV)/installed-experiments
	cd project && $(abspath $(VENV))/bin/python -m spacy project run demo-full . $(DEMO)
	@echo "The report: project/metrics/demo-full/comparison.html"

# All at once: what waits for a process leaves its core to the others.
test: $(VENV)/installed-dev
	$(MAKE) --jobs 3 pytest fake-device lint

pytest: $(VENV)/installed-dev
	$(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal

# Without spacy-transformers, and with the newest release of everything else.
test-newest: $(NEWEST)/installed
	$(NEWEST)/bin/python -m pip freeze | grep -iE "^(numpy|spacy|thinc|tokenizers|torch|transformers)=="
	$(NEWEST)/bin/python -m pytest --numprocesses auto --dist worksteal $(TESTS)

# With the lowest versions that setup.cfg admits.
test-oldest: $(OLDEST)/installed
	$(OLDEST)/bin/python -m pip freeze | grep -iE "^(numpy|spacy|spacy-transformers|thinc|tokenizers|torch|transformers)=="
	$(OLDEST)/bin/python -m pytest --numprocesses auto --dist worksteal $(TESTS)

fake-device: $(VENV)/installed-dev
	$(VENV)/bin/python -m pytest $(FAKE_DEVICE)

gpu-check: $(VENV)/installed-dev
	$(VENV)/bin/python -m benchmarks.gpu

# What needs no data: what the rest needs, python -m benchmarks.speed --help says.
BENCH ?=
bench: $(VENV)/installed-bench
	$(VENV)/bin/python -m benchmarks.speed run $(BENCH)
	$(VENV)/bin/python -m benchmarks.speed page

lint: $(VENV)/installed-dev
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache

format: $(VENV)/installed-dev
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

# Warnings are errors; the pages are in docs/_build/html.
docs: $(VENV)/installed-dev
	$(VENV)/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html

# A source distribution and a wheel, checked as an index would.
dist: $(VENV)/installed-dev
	rm -rf build dist
	$(VENV)/bin/python -m build
	$(VENV)/bin/python -m twine check --strict dist/*

$(VENV)/installed: setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --constraint constraints.txt --editable ".[spacy-transformers]"
	touch $@

$(NEWEST)/installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --disable-pip-version-check --quiet --upgrade \
		--editable ".[all,test]"
	touch $@

$(OLDEST)/installed: setup.cfg pyproject.toml scripts/lowest_versions.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) scripts/lowest_versions.py all spacy-transformers test > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --disable-pip-version-check --quiet \
		--constraint $(OLDEST)/constraints.txt --editable ".[all,spacy-transformers,test]"
	touch $@

$(VENV)/installed-experiments: $(VENV)/installed
	$(PIP) --constraint constraints.txt --editable ".[experiments]"
	touch $@

$(VENV)/installed-bench: $(VENV)/installed-dev
	$(PIP) --constraint constraints.txt --editable ".[bench]"
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) --constraint constraints.txt --editable ".[dev,docs]"
	touch $@

clean:
	rm -rf $(VENV) $(NEWEST) $(OLDEST) build dist docs/_build *.egg-info .mypy_cache .ruff_cache .pytest_cache

# What spacy train is shown with, as init writes it.
INIT = $(VENV)/bin/python -m spacy spanft init --force
configs: $(VENV)/installed-dev
	$(INIT) configs/textcat_baseline.cfg --pipeline textcat --encoder spacy-transformers --gpu --no-spans
	$(INIT) configs/textcat_spanft.cfg --pipeline textcat --encoder spacy-transformers --gpu
	$(INIT) configs/ner_baseline.cfg --pipeline ner --encoder spacy-transformers --gpu --no-spans
	$(INIT) configs/ner_spanft.cfg --pipeline ner --encoder spacy-transformers --gpu
