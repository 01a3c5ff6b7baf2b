# `make demo` and `make test` are all that a newcomer needs; both begin with `make setup`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := runs/demo-$(shell date +%Y%m%d-%H%M%S)

.PHONY: setup demo test test-slow lint lock clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $(STAMP)

demo: setup
	$(BIN)/surpass run -s quick -a nop -a oracle -a tuner:trials=6 -o $(DEMO)
	$(BIN)/surpass report $(DEMO) >/dev/null
	@echo "report: $(CURDIR)/$(DEMO)/report.html"

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-slow: setup
	$(BIN)/python -m pytest -m slow

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pins, with hashes, everything that `make setup` installs. Run it after changing dependencies.
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet pip-tools
	$(VENV)-lock/bin/python -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
	  --no-emit-find-links --extra dev --all-build-deps --output-file requirements.lock pyproject.toml
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
