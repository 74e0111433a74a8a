# run: open the app on its embedded models. test: every check and test. check: format, lint, types, imports.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# llama-cpp-python is compiled on the first install: let it use every core.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc 2>/dev/null || echo 4)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: run test check format clean portaudio

run: $(VENV)/.run portaudio
	@$(BIN)/predtui

test: $(VENV)/.dev portaudio check
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $@ $(VENV)/.run

# Live sound needs PortAudio. Installed where this user may; named where not; nothing else needs it.
portaudio:
	@ldconfig -p 2>/dev/null | grep -q libportaudio && exit 0; \
	if [ "$$(uname)" = Linux ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  (apt-get install -qq -y libportaudio2 || (apt-get update -qq && apt-get install -qq -y libportaudio2)) >/dev/null 2>&1 && exit 0; fi; \
	if [ "$$(uname)" = Linux ]; then echo "note: no PortAudio, so no live sound; everything else works. Debian, Ubuntu: sudo apt install libportaudio2"; fi

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
