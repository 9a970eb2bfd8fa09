# Every target does its own set-up; `make help` lists them.
# CI calls these same targets, so what passes here passes there.

CARGO ?= cargo
.DEFAULT_GOAL := help
.PHONY: help test check tree lint doc bench package clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# `cargo test` comes last, so that its summaries are the closing lines.
test: tree ## the checks of the tree, then every test of the workspace
	$(CARGO) test --workspace

check: ## type-check everything, quickly
	$(CARGO) check --workspace --all-targets

tree: ## look for machine paths, registry addresses and overlong files
	scripts/check-tree.sh

lint: ## formatting, clippy, each feature alone, a target without std
	scripts/lint.sh

doc: ## build the documentation; a warning is an error
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

bench: ## the benchmarks, against the crates in use today
	$(CARGO) bench -p weighbridge-tests

package: ## prove that the published crates build from what they ship
	scripts/package.sh

clean: ## remove what was built
	$(CARGO) clean
