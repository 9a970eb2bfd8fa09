#!/usr/bin/env bash
# Builds the Python package: a wheel with the library, its types and the command. Works below
# target; the command goes to python/weighbridge.data (ignored by git), where maturin looks for it.
#
#   scripts/python.sh quick    the wheel that compiles fastest, installed into a separate
#                              environment, and its tests except for the slowest
#   scripts/python.sh test     a wheel without optimised linking, all tests, including the
#                              corpus, and mypy --strict
#   scripts/python.sh engines  tests with Ray and Spark, of 1.4 GB and Java 17
#   scripts/python.sh torch    tests with PyTorch, of 540 MB and more, and the tests of
#                              `safetensors` itself, loading with this package
#   scripts/python.sh notebook the widget in a real JupyterLab in Chromium, which installs 260 MB
#   scripts/python.sh wheel    the published wheel; fails above the budget
#   scripts/python.sh bench    the published wheel against the crate and `safetensors`
#
# PYTHON may name an interpreter, 3.9 or newer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out python

# Budget of the published wheel, in bytes.
budget=$(awk '$1 == "wheel" { print $2 }' scripts/budgets.txt)

work=$target_dir/python
data=python/weighbridge.data/scripts
mkdir -p "$work" "$data"
export PYTHONDONTWRITEBYTECODE=1

# environment NAME REQUIREMENTS...: a virtual environment with these packages, recreated if they
# have changed.
environment() {
  local name=$1 folder=$work/$1 wanted
  shift
  wanted="$("${PYTHON:-python3}" -V) $(cat "$@" | cksum)"
  [ "$(cat "$folder/made-of" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$folder"
  if "${PYTHON:-python3}" -m venv "$folder" >"$work/$name.log" 2>&1 &&
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
      $(printf -- '-r %s ' "$@") >>"$work/$name.log" 2>&1; then
    echo "$wanted" >"$folder/made-of"
    return
  fi
  tail -n 3 "$work/$name.log" >&2
  left_out "the Python package: the packages to build and test it cannot be installed"
  [ "${WEIGHBRIDGE_REQUIRE:-}" = 0 ] || exit 1
  exit 0
}

# deep_environment: with the packages for all tests and the benchmarks.
deep_environment() {
  environment deep python/requirements.txt python/requirements-deep.txt
}

# install ENVIRONMENT: installs the wheel that was built.
install() {
  "$work/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --force-reinstall "$work"/wheels/*.whl
}

# test_wheel PROFILE: builds a wheel, and the files and command for its tests.
test_wheel() {
  environment venv python/requirements.txt
  host_programs
  wheel "$target_dir/debug/weighbridge" --profile "$1" --compatibility linux
  "$target_dir/debug/examples/fixtures" "$work/fixtures"
  export WEIGHBRIDGE_COMMAND=$target_dir/debug/weighbridge WEIGHBRIDGE_FIXTURES=$work/fixtures
}

# viewer: puts the viewer for notebooks where maturin finds it; git ignores it.
viewer() {
  scripts/web.sh embed
  cp web/dist/single/weighbridge-viewer.js python/weighbridge/viewer.js ||
    left_out "the notebook viewer: building it requires Node"
}

# wheel COMMAND OPTION...: builds a wheel with this command.
wheel() {
  local bin=$work/venv/bin command=$1
  shift
  strip -o "$data/weighbridge" "$command" 2>/dev/null || cp "$command" "$data/weighbridge"
  rm -rf "$work/wheels"
  "$bin/maturin" build --quiet --locked --manifest-path python/Cargo.toml --target-dir "$target_dir" \
    --interpreter "$bin/python" --out "$work/wheels" "$@"
  echo "python: $(basename "$work"/wheels/*.whl), $(wc -c <"$(echo "$work"/wheels/*.whl)") bytes"
}

case ${1:-} in
  quick)
    test_wheel quick
    install venv
    cd python
    WEIGHBRIDGE_CORPUS=none "$work/venv/bin/pytest" -p no:cacheprovider -m 'not deep' "${@:2}"
    ;;
  test)
    viewer
    test_wheel dev
    deep_environment
    install deep
    cd python
    "$work/deep/bin/mypy" --cache-dir "$work/mypy"
    "$work/deep/bin/pytest" -p no:cacheprovider "${@:2}"
    ;;
  engines)
    command -v java >/dev/null || {
      left_out "the Spark tests: Java 17 is not installed"
      set -- engines -k ray
    }
    test_wheel dev
    environment engines python/requirements-engines.txt
    install engines
    # Workers import from their working folder.
    (cd "$work" && "$work/engines/bin/pytest" -c "$root/python/pyproject.toml" \
      -p no:cacheprovider "$root/python/tests/engines.py" "${@:2}")
    ;;
  torch)
    test_wheel dev
    environment torch python/requirements-torch.txt
    install torch
    bin=$work/torch/bin
    (cd python && "$bin/pytest" -p no:cacheprovider tests/with_torch.py tests/with_checkpoints.py "${@:2}")
    # The tests are only in the source package, whose version pip reads with maturin.
    theirs=$work/safetensors
    rm -rf "$theirs"
    mkdir -p "$theirs"
    PATH=$bin:$PATH "$bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
      --no-binary safetensors --no-build-isolation --dest "$theirs" \
      "$(grep '^safetensors==' python/requirements-torch.txt)"
    tar -xzf "$theirs"/safetensors-*.tar.gz -C "$theirs" --strip-components 1
    cd "$theirs/bindings/python"
    PYTHONPATH=$root/python/tests "$bin/pytest" -q -p no:cacheprovider -p drop_in \
      -W ignore::pytest.PytestAssertRewriteWarning tests
    ;;
  notebook)
    viewer
    test_wheel dev
    environment notebook python/requirements-notebook.txt
    install notebook
    CHROMIUM=$(chromium_path)
    JUPYTER=$work/notebook/bin/jupyter
    export CHROMIUM JUPYTER
    cd web
    npx playwright test --config playwright.jupyter.ts "${@:2}"
    ;;
  wheel | bench)
    environment venv python/requirements.txt
    viewer
    cargo build --quiet --release -p weighbridge-cli
    wheel "$target_dir/release/weighbridge" --release
    size=$(wc -c <"$(echo "$work"/wheels/*.whl)")
    [ "$size" -le "$budget" ] || {
      echo "the wheel has $size bytes, above the budget of $budget" >&2
      exit 1
    }
    [ "$1" = bench ] || exit 0
    deep_environment
    install deep
    cargo build --quiet --locked --release --manifest-path python/Cargo.toml --example check
    "$work/deep/bin/python" python/bench/bench.py "$work/bench" "$target_dir/release/examples/check"
    ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
