# `make lab` sets everything up and runs the main job; `make test` checks all of it. Both need root on Debian or Ubuntu.
.NOTPARALLEL:
.PHONY: help lab lab-down lab-status standin test test-full full test-down environment lint unit sanity contract fleet bench

PYTHON ?= python3
BIN := .venv/bin
COLLECTION := collections/ansible_collections/modelshelf/fleet
RESULTS := .test-results
PYTEST = $(BIN)/pytest --junitxml=$(RESULTS)/$@.xml
# On two processors; a file's tests share its fixtures, and stay together.
PARALLEL = --numprocesses=2 --dist=loadfile

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make lab          three test hosts, the fleet on them, a completion from the served model
lab:
	@$(PYTHON) -m lab up

## make lab-down     end the hosts; the caches stay
lab-down:
	@$(PYTHON) -m lab down

## make lab-status   what runs
lab-status:
	@$(PYTHON) -m lab status

## make test         lint, unit, sanity, contract and fleet tests
test: environment
	@rm -rf $(RESULTS)
	@$(MAKE) --no-print-directory lint unit sanity contract fleet || { $(PYTHON) tests/summary.py $(RESULTS); exit 1; }
	@$(PYTHON) tests/summary.py $(RESULTS)

## make test-full    also from empty caches in a fresh clone, and on the oldest ansible-core, units by ansible-test, the engine's contract on vLLM, the store from every source, faults of swaps (three hours; no lab may run)
test-full: test
	@$(MAKE) --no-print-directory full
	@$(PYTHON) tests/summary.py $(RESULTS)

full: environment
	$(BIN)/python -m tests.ansible_test units
	$(PYTEST) -q -s tests/full
	CONTRACT_VLLM=1 $(BIN)/pytest --junitxml=$(RESULTS)/full-engine.xml -q tests/contract -k vllm
	@$(PYTHON) -m lab hosts --name test
	$(BIN)/pytest --junitxml=$(RESULTS)/full-store.xml -q molecule/store/full
	$(BIN)/pytest --junitxml=$(RESULTS)/full-rotation.xml -q molecule/rotation/full
	@$(PYTHON) -m lab down --name test
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/molecule test --scenario-name swap
	@$(PYTHON) -m lab hosts --name swap
	MODELSHELF_LAB=swap $(BIN)/pytest --junitxml=$(RESULTS)/full-swap.xml -q molecule/swap/full
	@$(PYTHON) -m lab down --name swap

environment:
	@$(PYTHON) -m lab environment

## make lint         ruff, mypy, yamllint and ansible-lint
lint: environment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/ansible-lint --offline --strict

unit: environment
	$(PYTEST) -q $(PARALLEL) $(COLLECTION)/tests/unit tests/unit tests/render tests/test_roles_arguments.py

## make sanity       ansible-test sanity
sanity: environment
	$(BIN)/python -m tests.ansible_test sanity

# A server that RUSTFS_URL names is one for all tests, which compare what it has before and after: one after the other.
contract: environment
	@$(PYTHON) -m lab packages
	$(PYTEST) -q $(if $(RUSTFS_URL),,$(PARALLEL)) tests/contract

## make fleet        molecule: hosts, site.yml twice, faults, on a subnet of their own; the scenario swap is in test-full
fleet: environment
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/molecule reset 2> /dev/null # molecule takes the hosts of a killed run to be there still
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/molecule test --all --exclude swap

## make standin      a stand-in for RustFS in the foreground; takes RUSTFS_ADDRESS, _ACCESS_KEY, _SECRET_KEY, _VOLUMES
standin:
	@$(PYTHON) -m tests.standin.foreground

## make test-down    end the hosts that a killed `make test` left
test-down:
	@$(PYTHON) -m lab down --name test
	@$(PYTHON) -m lab down --name swap

## make bench NAME=x run benchmarks/x.py; its last line is one JSON object with the figures
bench: environment
	@PYTHONPATH=.:collections $(BIN)/python benchmarks/$(NAME).py
