# run: open the app. real: get the real models, which hear people and talk about anything. test: every check and test. check: format, lint, types, imports.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: run real test ci check portable format clean portaudio soundserver engine

run: $(VENV)/.run portaudio engine
	@$(BIN)/predtui

real: $(VENV)/.run
	@$(BIN)/predtui real

test: $(VENV)/.dev portaudio check
	@$(BIN)/python -m predtui.llm.llamacpp.compile wait
	$(BIN)/python -m pytest -n 2 --dist loadfile

# As test, on the real models too where the package index has them.
ci: $(VENV)/.dev soundserver
	@$(BIN)/predtui real || echo "ci: no real models, so the tests that need them are skipped" >&2
	@$(MAKE) test

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The types of the app, without the lab, on the systems that no test runs on.
portable: $(VENV)/.dev
	$(BIN)/mypy --platform win32 --exclude predtui/lab --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --exclude predtui/lab --cache-dir .mypy_cache/darwin

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here. predtui needs Python 3.11 or newer, as in: make run PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit("predtui needs Python 3.11 or newer, as in: make run PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "predtui: a virtual environment in $(VENV), then packages; llama.cpp is compiled behind the running app"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Compiled here as pip compiles what it installs: a confined stage cannot keep bytecode.
$(VENV)/.run: $(BIN)/python pyproject.toml
	@$(BIN)/python -m predtui.commands.install
	@$(BIN)/python -m compileall -q predtui
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	@$(BIN)/python -m predtui.commands.install dev
	@touch $@ $(VENV)/.run

# llama.cpp is compiled in the background; until it is there, numpy runs the embedded models.
engine: $(VENV)/.run
	@$(BIN)/python -m predtui.llm.llamacpp.compile start

# Live sound needs PortAudio. Installed where this user may; named where not; nothing else needs it.
portaudio:
	@ldconfig -p 2>/dev/null | grep -q libportaudio && exit 0; \
	if [ "$$(uname)" = Linux ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "predtui: installing PortAudio, for live sound"; \
	  (apt-get install -qq -y libportaudio2 || (apt-get update -qq && apt-get install -qq -y libportaudio2)) >/dev/null 2>&1 && exit 0; fi; \
	if [ "$$(uname)" = Linux ]; then echo "note: no PortAudio, so no live sound; everything else works. Debian, Ubuntu: sudo apt install libportaudio2"; fi

# Tests of live sound play on a sound server without hardware, one of a day's use in tmux; where these cannot be
# installed, the tests say so and are skipped.
soundserver:
	@command -v pulseaudio >/dev/null && command -v tmux >/dev/null && exit 0; \
	if [ "$$(uname)" = Linux ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "predtui: installing PulseAudio and tmux, for the tests of live sound and terminals"; \
	  set -- tmux pulseaudio pulseaudio-utils libasound2-plugins libportaudio2; \
	  (apt-get install -qq -y "$$@" || (apt-get update -qq && apt-get install -qq -y "$$@")) >/dev/null 2>&1 && exit 0; fi; \
	echo "note: no PulseAudio or no tmux, so the tests of live sound or terminals are skipped"

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
