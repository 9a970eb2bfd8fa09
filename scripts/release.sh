#!/usr/bin/env bash
# The steps of .github/workflows/release.yml that can also be run locally.
#
#   scripts/release.sh version          the version of all packages; must match a tag
#   scripts/release.sh semver           cargo-semver-checks against the last release
#   scripts/release.sh archive TARGET   the command, including servers, as an archive in
#                                       target/release-archives, named and laid out as
#                                       cargo-dist does, and its SHA-256
#   scripts/release.sh notes            the section of CHANGELOG.md about the version
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)

case ${1:-} in
  version)
    npm=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' wasm/package.json)
    [ "$npm" = "$version" ] || { echo "release: wasm/package.json has $npm, Cargo.toml $version" >&2; exit 1; }
    case ${GITHUB_REF:-} in
      refs/tags/*) [ "$GITHUB_REF" = "refs/tags/v$version" ] || { echo "release: $GITHUB_REF is not v$version" >&2; exit 1; } ;;
    esac
    echo "$version"
    ;;
  semver)
    last=$(git tag --list 'v[0-9]*' --sort=-v:refname | { grep -Fvx "v$version" || true; } | head -n 1)
    if [ -z "$last" ]; then
      echo "release: there is no earlier release to compare with"
      exit
    fi
    cargo semver-checks --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-semver-checks
    for crate in weighbridge-core weighbridge; do
      cargo semver-checks -p "$crate" --baseline-rev "$last"
    done
    ;;
  archive)
    target=${2:?which target?}
    name=weighbridge-cli-$target
    out=$target_dir/release-archives
    cargo build --release --locked -p weighbridge-cli --features remote --target "$target"
    rm -rf "$out"
    mkdir -p "$out/$name"
    cp "$target_dir/$target/release/weighbridge"* README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$out/$name/"
    rm -f "$out/$name/"*.d "$out/$name/"*.pdb
    cd "$out"
    case $target in
      *windows*) file=$name.zip && (cd "$name" && 7z a -bso0 "../$file" .) ;;
      *) file=$name.tar.xz && tar -cJf "$file" "$name" ;;
    esac
    rm -rf "$name"
    if command -v sha256sum >/dev/null; then sha256sum "$file"; else shasum -a 256 "$file"; fi >"$file.sha256"
    echo "release: $(wc -c <"$file") bytes, $(cat "$file.sha256")"
    ;;
  notes)
    awk '/^## /{ if (seen++) exit; next } seen' CHANGELOG.md
    ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' scripts/release.sh >&2
    exit 2
    ;;
esac
