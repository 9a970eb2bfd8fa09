#!/usr/bin/env bash
# Packages the published crates, and builds each from its package alone.
#
#   scripts/package.sh            the crates; also the npm package if wasm/dist is built
#   scripts/package.sh publish    as the release workflow does: to crates.io, then to npm
#
# The command line depends on the library and the library on the core, so all are packaged
# in one call: cargo then takes each from the package just made, not from a registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
crates=(-p weighbridge-core -p weighbridge -p weighbridge-cli)

if [ "${1:-}" = publish ]; then
  scripts/wasm.sh
  cargo publish "${crates[@]}"
  cd wasm
  exec npm publish --provenance --access public
fi

# Cargo keeps the files it unpacked from that temporary registry (whose folder has no
# host in its name) and does not notice that the same version has changed.
rm -rf -- "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weighbridge-[0-9]* \
  "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weighbridge-core-[0-9]* \
  "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weighbridge-cli-[0-9]*

# A dry run does everything but the upload: it also fails if a dependency is neither
# published nor packaged in the same call.
cargo publish --dry-run "${crates[@]}" "$@"

# Files that a package must contain, and files it must not.
for package in weighbridge-core weighbridge weighbridge-cli; do
  files=$(cargo package --list --allow-dirty -p "$package")
  for wanted in Cargo.toml README.md LICENSE-MIT LICENSE-APACHE; do
    grep -qx "$wanted" <<<"$files" || { echo "package: $package has no $wanted" >&2; exit 1; }
  done
  ! grep -E '^(tests|target)/' <<<"$files" || { echo "package: $package contains test files" >&2; exit 1; }
  echo "package: $package has $(wc -l <<<"$files") files"
done

if [ -e wasm/dist/index.js ]; then
  files=$(cd wasm && npm pack --dry-run --json 2>/dev/null | node -e '
    const [{ files }] = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log(files.map(({ path }) => path).join("\n"));')
  for wanted in package.json README.md dist/index.js dist/index.d.ts dist/base_bg.wasm dist/full_bg.wasm dist/compute_bg.wasm dist/summary_bg.wasm \
    dist/{base,full,compute,summary,rules,every-rule,accumulators,models}.js dist/LICENSE-MIT dist/LICENSE-APACHE; do
    grep -qx "$wanted" <<<"$files" || { echo "package: the npm package has no $wanted" >&2; exit 1; }
  done
  echo "package: the npm package has $(wc -l <<<"$files") files"
else
  left_out "the npm package: scripts/wasm.sh builds it"
fi
