# Every target does its own set-up; `make help` lists them.
# CI calls these same targets, so what passes here passes there.

CARGO ?= cargo
.DEFAULT_GOAL := help
.PHONY: help c setup view web test-wasm test-web test test-deep check tree firmware firmware-write lint doc bench bench-wasm bench-web figures figures-check peers package fuzz fuzz-smoke miri zstd hard dependencies deny gates test-remote advisories test-python test-python-engines test-python-torch test-notebook wheel bench-python clean
# Targets share a build folder, and the order below matters.
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

view: ## build the inspector, serve it on the next free port, and print its address
	scripts/web.sh view

web: ## build the page; prints its sizes and fails above the budget
	scripts/web.sh build

test-wasm: ## build the JavaScript package and test it in Node
	scripts/wasm.sh test

test-web: ## build the page and test it in Chromium
	scripts/web.sh test

setup: ## check for what `make test` needs, and install it or print how to
	scripts/setup.sh host firmware c wasm web python

test: setup tree dependencies ## every part: Cortex-M, C, Node, Chromium, the wheel, host; over 20 minutes from scratch on 2 cores
	scripts/test.sh

# The same, with the tests that change every byte of every file.
test-deep: setup ## the slow tests: all files and changed bytes, large files in Chromium, all of the wheel, files on servers, counted steps, seeds in 32 bits, opt-level 3
	scripts/test-deep.sh

check: ## type-check everything, quickly
	$(CARGO) check --workspace --all-targets

tree: ## look for machine paths, registry addresses, overlong files and tables that differ from the figures
	scripts/check-tree.sh
	scripts/figures.sh tables

firmware: ## the microcontroller: panics, size, stack, and a model in QEMU
	scripts/firmware.sh

c: ## the library for C: its headers, symbols, and verdicts under sanitizers
	scripts/c.sh

firmware-write: ## measure, and rewrite the budgets and figures of the microcontroller
	scripts/firmware.sh write

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

miri: ## Miri over the decoders, with nightly
	scripts/fuzz.sh miri

zstd: ## zstd against C: a million changed frames, every level and strategy up to 20 MB
	WEIGHBRIDGE_MUTATIONS=1000000 $(CARGO) test --release -p weighbridge-tests \
		--features deep --test it codec:: -- --skip deflate --skip zlib --nocapture

hard: ## time and memory of the hardest files, in seconds and MiB
	scripts/hard.sh

dependencies: ## the core has no dependencies except the approved ones
	scripts/dependencies.sh

test-python: ## build the Python wheel and test it in a separate environment
	scripts/python.sh test

test-python-engines: ## the Python package in real local Ray and Spark, over S3 on the loopback
	scripts/python.sh engines

test-notebook: ## the widget in a real JupyterLab in Chromium; installs 260 MB
	scripts/python.sh notebook

test-python-torch: ## the Python package with PyTorch, and the tests of safetensors that load
	scripts/python.sh torch

wheel: ## build the published Python wheel; fails above its budget
	scripts/python.sh wheel

bench-python: ## the wheel against the crate and the package `safetensors`
	scripts/python.sh bench

deny: ## licences, advisories and sources of every dependency, with cargo-deny
	scripts/dependencies.sh deny

bench-wasm: ## opening in Node, against JSON.parse
	scripts/wasm.sh bench

bench-web: ## how soon the page shows large files, checked against its budgets
	scripts/web.sh bench

figures: ## measure, and write the tables of docs/performance.md; on an idle machine
	scripts/figures.sh

figures-check: ## few rounds: no ratio to a peer falls by more than a third
	scripts/figures.sh check

peers: ## sound and broken files through other readers of safetensors, GGUF and ONNX
	scripts/peers.sh

test-remote: ## files on servers: the tests, and a bucket on a third-party server
	$(CARGO) test -p weighbridge-cli --features remote
	scripts/remote.sh

gates: ## the action, the pre-commit hook and the image's static build, as users run them
	scripts/gates.sh

advisories: ## print docs/advisories.md: published advisories, our rules, and other readers
	scripts/advisories.sh

package: ## prove that the published crates build from what they contain
	scripts/package.sh

clean: ## remove the build output
	$(CARGO) clean
