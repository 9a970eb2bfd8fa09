#!/usr/bin/env bash
# Verifies that the core depends only on the approved packages and on what they need.
#
#   scripts/dependencies.sh
#   scripts/dependencies.sh deny   licences, bans, sources and advisories of everything
#                                  that is built, with cargo-deny, which it installs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready host

# deny MANIFEST CHECK...: runs cargo-deny on a workspace.
deny() {
  local manifest=$1
  shift
  echo "cargo-deny: $manifest"
  cargo deny --log-level error --locked --manifest-path "$manifest" --config deny.toml \
    check --hide-inclusion-graph "$@" || failed=1
}

if [ "${1:-}" = deny ]; then
  failed=0
  if ! cargo deny --version >/dev/null 2>&1; then
    echo "setup: cargo install cargo-deny" >&2
    cargo install --quiet --locked cargo-deny
  fi
  checks=(bans licenses sources)
  if cargo deny --config deny.toml fetch db >/dev/null 2>&1; then
    checks+=(advisories)
  else
    left_out "the advisory database, which cannot be downloaded"
  fi
  for manifest in Cargo.toml fuzz/Cargo.toml firmware/Cargo.toml c/Cargo.toml python/Cargo.toml wasm/bindgen/Cargo.toml; do
    deny "$manifest" "${checks[@]}"
  done
  exit "$failed"
fi

# Packages in the core's manifest and, after a colon, their dependencies, including
# those needed to build (rustc_version) or on some other target (crunchy).
decided='
nom: memchr
half: cfg-if crunchy
bytemuck:
crc: crc-catalog
crc32c: rustc_version semver
crc32fast: cfg-if
defmt: bitflags defmt-macros defmt-parser proc-macro2 quote syn thiserror thiserror-impl unicode-ident
embedded-storage:
heapless: byteorder hash32 stable_deref_trait
miniz_oxide: adler2
ruzstd:
sha2: block-buffer cfg-if cpufeatures crypto-common digest hybrid-array libc typenum
twox-hash:
'
# The packages of features that use neither a heap nor a standard library.
default='nom half miniz_oxide crc sha2 twox-hash'

tree() {
  cargo tree --locked -p weighbridge-core --edges normal,build --target all --prefix none \
    --format '{p}' "$@" | awk '{ print $1 }' | sort -u | grep -v '^weighbridge-core$'
}

# allowed PACKAGE...: the packages and their dependencies.
allowed() {
  local package
  for package; do
    printf '%s\n' "$package"
    sed -n "s/^$package: *//p" <<<"$decided" | tr ' ' '\n'
  done | grep . | sort -u
}

failed=0
# compare TITLE ALLOWED FEATURES...
compare() {
  local title=$1 list=$2 extra
  shift 2
  extra=$(comm -23 <(tree "$@") <(echo "$list"))
  if [ -n "$extra" ]; then
    printf 'the core %s has unapproved dependencies:\n%s\n' "$title" "$extra" >&2
    failed=1
  else
    echo "dependencies: the core $title has $(tree "$@" | wc -l) dependencies"
  fi
}
# shellcheck disable=SC2086
compare "as built for firmware" "$(allowed nom half)" --no-default-features --features formats
# shellcheck disable=SC2086
compare "by default" "$(allowed $default)"
# shellcheck disable=SC2046
compare "with every feature" "$(allowed $(sed -n 's/:.*//p' <<<"$decided"))" --all-features

# Our build scripts write only what they are given.
for script in $(git ls-files '*build.rs'); do
  if grep -nE 'http|TcpStream|Command|curl|reqwest|ureq' "$script"; then
    echo "$script must not use the network or run commands" >&2
    failed=1
  fi
done
exit "$failed"
