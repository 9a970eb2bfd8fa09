# Every target does its own set-up; `make help` lists them.
# CI calls these same targets, so what passes here passes there.

CARGO ?= cargo
.DEFAULT_GOAL := help
.PHONY: help view web test-wasm test-web test check tree firmware lint doc bench bench-wasm peers package fuzz fuzz-smoke hard dependencies clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

view: ## build the inspector, serve it, and print its address
	scripts/web.sh view

web: ## build the page; prints its sizes and fails above the budget
	scripts/web.sh build

test-wasm: ## build the JavaScript package and test it in Node
	scripts/wasm.sh test
	scripts/fuzz.sh wasm

test-web: ## build the page and test it in Chromium
	scripts/web.sh test

# `cargo test` comes last, so that its summaries are the closing lines.
test: tree dependencies firmware test-wasm test-web ## the checks of the tree, then every test: Cortex-M, Node, Chromium, host
	$(CARGO) test --workspace

check: ## type-check everything, quickly
	$(CARGO) check --workspace --all-targets

tree: ## look for machine paths, registry addresses and overlong files
	scripts/check-tree.sh

firmware: ## the microcontroller: panics, size, stack, and a model in QEMU
	scripts/firmware.sh

lint: ## formatting, clippy, each feature alone, a target without std
	scripts/lint.sh

doc: ## build the documentation; a warning is an error
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

bench: ## the benchmarks, against the crates in use today
	$(CARGO) bench -p weighbridge-tests

fuzz: ## fuzz every target, FUZZ_S seconds each (60)
	scripts/fuzz.sh run

fuzz-smoke: ## seeds and regression files with steps counted, on stable Rust
	scripts/fuzz.sh smoke

hard: ## what the hardest files take, in seconds and MiB
	scripts/hard.sh

dependencies: ## the core depends on what was decided, and on nothing else
	scripts/dependencies.sh

bench-wasm: ## opening in Node, against JSON.parse
	scripts/wasm.sh bench

peers: ## sound and broken files through other readers of safetensors and GGUF
	scripts/peers.sh

package: ## prove that the published crates build from what they ship
	scripts/package.sh

clean: ## remove what was built
	$(CARGO) clean
