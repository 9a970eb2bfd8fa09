#!/usr/bin/env bash
# The GitHub Action of action.yml: downloads the command from a release, and checks files.
#
#   INPUT_PATHS          files and folders, one per line
#   INPUT_ARGS           more options, separated by white space
#   INPUT_SARIF          path of a SARIF log to write, if any
#   INPUT_VERSION        the release
#   WEIGHBRIDGE_RELEASES base of the releases: VERSION/weighbridge-cli-TARGET.tar.xz below it
#   WEIGHBRIDGE_COMMAND  the command, if it is already installed
set -euo pipefail

# target: the target of the archive for this machine.
target() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-gnu ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    *) echo "weighbridge: there is no release for $(uname -s) on $(uname -m)" >&2 && return 2 ;;
  esac
}

# digest_matches FILE: whether the archive matches its digest.
digest_matches() {
  if command -v sha256sum >/dev/null; then sha256sum --check --quiet "$1"; else shasum -a 256 --check "$1"; fi >&2
}

# fetch FOLDER: downloads the command of the release and verifies its digest. Steps are joined with
# &&, because `set -e` has no effect where the caller tests the result.
fetch() {
  local releases=${WEIGHBRIDGE_RELEASES:?where releases lie}/${INPUT_VERSION:?the release}
  for file in "$name.tar.xz" "$name.tar.xz.sha256"; do
    curl --fail --silent --show-error --location --retry 3 --output "$1/$file" "$releases/$file" || return 2
  done
  (cd "$1" && digest_matches "$name.tar.xz.sha256") && tar -xJf "$1/$name.tar.xz" -C "$1"
}

work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/weighbridge.XXXXXX") || exit 2
trap 'rm -rf -- "$work"' EXIT
command=${WEIGHBRIDGE_COMMAND:-}
if [ -z "$command" ]; then
  name=weighbridge-cli-$(target) || exit 2
  fetch "$work" || {
    echo "weighbridge: the release ${INPUT_VERSION:-} cannot be downloaded and verified" >&2
    exit 2
  }
  command=$work/$name/weighbridge
fi

paths=() args=()
while IFS= read -r path; do
  [ -z "$path" ] || paths+=("$path")
done <<<"${INPUT_PATHS:-.}"
read -r -d '' -a args <<<"${INPUT_ARGS:-}" || true

# check KIND: after `--`, no path is taken for an option.
check() {
  "$command" check --output "$1" ${args[@]+"${args[@]}"} -- "${paths[@]}"
}

# The log of an earlier run must not be checked as a model.
[ -z "${INPUT_SARIF:-}" ] || rm -f -- "$INPUT_SARIF"
code=0
check github || code=$?
if [ -n "${INPUT_SARIF:-}" ]; then
  # Its findings were reported above; failing to write the log is a separate failure. The log is
  # written to its path only after the walk, which would otherwise find it.
  log=$work/log.sarif
  check sarif >"$log" || [ -s "$log" ]
  cat "$log" >"$INPUT_SARIF"
fi
[ -z "${GITHUB_OUTPUT:-}" ] || echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
