# Starling. The two commands of a new user: `make demo` and `make test`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.tools/uv/bin:$(PATH)
# A project is the checkout itself unless the caller says otherwise.
PYTEST_ARGS ?=

.PHONY: help setup demo up test test-env lint types imports sizes fast k8s-render docs screenshots clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## Install the locked environment (with the packaged model's server)
	@scripts/setup.sh --extra local-model

demo: setup ## Set everything up and run the main job over the bundled papers
	@.venv/bin/starling demo

up: setup ## Serve the Dagster UI and watch the drop folder
	@.venv/bin/starling up

test-env:
	@scripts/setup.sh --extra local-model --extra clickhouse --extra milvus --group dev --group stores

test: test-env lint types imports sizes ## Set up the test environment and pass all checks and tests
	.venv/bin/pytest -n 2 --dist loadfile $(PYTEST_ARGS)

lint:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types:
	.venv/bin/mypy

imports:
	.venv/bin/lint-imports

sizes:
	.venv/bin/python scripts/module_sizes.py

fast: test-env ## The tests that take seconds
	.venv/bin/pytest -m "not slow and not model" -n 2 $(PYTEST_ARGS)

k8s-render: test-env ## Render and validate the cluster manifests offline
	@k8s/render.sh

clean: ## Remove what the project made (papers, models and datasets under .starling included)
	rm -rf .starling .venv .tools dbt/target dbt/logs
