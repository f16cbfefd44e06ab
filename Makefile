# zmysql: `make demo` shows the main job, `make test` proves it. Both set up all they need.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint unit faults fuzz bench accuracy tracing clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BROWSER_PACKAGES := chromium chromium-driver poppler-utils
MANUAL_PACKAGES := mandoc
TESTBED_PACKAGES := mmdebstrap e2fsprogs openssh-client qemu-system-x86 uidmap
ENGINE := $(wildcard engine/Cargo.*) $(shell find engine/src -name '*.rs')
# Each worker boots a guest of its own, so the tests of a file stay together, and the long ones come first.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder
CARGO := cargo
# Each target ends at the first of the two.
FUZZ_RUNS ?= 10000000
FUZZ_SECONDS ?= 1800
MANIFEST := --manifest-path engine/Cargo.toml
# The golden plans among them have no first line that names their shell.
SHELL_SCRIPTS := .ci/run $(shell git ls-files '*.sh' 2>/dev/null)

help:
	@echo 'make setup   the virtual environment .venv, with the engine built and zmysql in it'
	@echo 'make demo    the main job for real: pool, MySQL, sysbench, DTrace and the report, in a virtual machine'
	@echo 'make test    every check, unit tests and tests on real pools in the virtual machine'
	@echo 'make unit    the part of it that needs no virtual machine'
	@echo 'make faults  kill -9 and power cuts at every step of every template; an hour or more (FAULTS="--seed 1 hybrid")'
	@echo 'make fuzz    hostile input for the readers, half an hour a target at most (FUZZ_SECONDS=60)'
	@echo 'make bench   what the engine and create-pool cost, as ratios to a peer in the same run (BENCH=engine)'
	@echo 'make accuracy  the simulation against the real ARC in the virtual machine, an hour (ACCURACY="--from DIR --write-docs")'
	@echo 'make tracing what the scripts cost sysbench, and how far the report of a sample is off; hours when emulated (TRACING=overhead)'

setup: $(VENV)/done

$(VENV)/done: setup.cfg pyproject.toml tools/install-packages.sh $(ENGINE)
	@sh tools/install-packages.sh python3-venv
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'setup: Python packages and the engine (the first time takes a minute)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'setuptools>=77' 'setuptools-rust>=1.9' wheel
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[test]'
	@$(BIN)/python -c 'import zmysql.locality._engine' || { echo 'setup: the engine was not built: is cargo in PATH?' >&2; exit 1; }
	@touch $@

demo: setup
	@sh tools/install-packages.sh $(TESTBED_PACKAGES)
	@$(BIN)/python tools/demo.py

test: lint
	@sh tools/install-packages.sh $(TESTBED_PACKAGES) fio $(BROWSER_PACKAGES) $(MANUAL_PACKAGES)
	$(CARGO) test --quiet $(MANIFEST)
	$(BIN)/zmysql testbed build
	$(PYTEST)

unit: setup
	@sh tools/install-packages.sh fio $(BROWSER_PACKAGES) $(MANUAL_PACKAGES)
	$(CARGO) test --quiet $(MANIFEST)
	$(PYTEST) -m 'not vm'

lint: setup
	@sh tools/install-packages.sh shellcheck
	@$(CARGO) clippy --version >/dev/null 2>&1 && $(CARGO) fmt --version >/dev/null 2>&1 || \
		rustup component add clippy rustfmt || sh tools/install-packages.sh rust-clippy rustfmt
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(CARGO) fmt $(MANIFEST) --check
	$(CARGO) clippy --quiet $(MANIFEST) --all-targets --all-features -- -D warnings
	shellcheck --shell=sh $(SHELL_SCRIPTS)

faults: setup
	@sh tools/install-packages.sh $(TESTBED_PACKAGES)
	PYTHONPATH=tools $(BIN)/python -m faults $(FAULTS)

# Without a sanitizer, so that stable Rust will do: the engine has next to no unsafe code that one could watch.
fuzz:
	@cargo fuzz --version >/dev/null 2>&1 || $(CARGO) install --quiet cargo-fuzz
	@cd engine && for target in $$(cargo fuzz list); do \
		mkdir -p fuzz/corpus/$$target && \
		cargo fuzz run -s none $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
			-runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -rss_limit_mb=512 || exit 1; \
	done

bench: setup
	@sh tools/install-packages.sh $(TESTBED_PACKAGES)
	PYTHONPATH=tools $(BIN)/python -m bench $(BENCH)

accuracy: setup
	@sh tools/install-packages.sh $(TESTBED_PACKAGES)
	PYTHONPATH=tools $(BIN)/python -m accuracy $(ACCURACY)

tracing: setup
	@sh tools/install-packages.sh $(TESTBED_PACKAGES)
	PYTHONPATH=tools $(BIN)/python -m tracing $(TRACING)

clean:
	rm -rf $(VENV) build dist engine/target *.egg-info zmysql/locality/*.so
