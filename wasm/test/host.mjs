// Runs the command line on files, and finds the files.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');

/** The command line, built by scripts/wasm.sh. */
export const weighbridge = join(target, 'debug', process.platform === 'win32' ? 'weighbridge.exe' : 'weighbridge');

/** The folder where scripts/wasm.sh had the fixtures written. */
export const fixtures = join(target, 'wasm-fixtures');

/** The corpus of real and broken files, which is not part of the project. */
export function corpus() {
  const folder = process.env.WEIGHBRIDGE_CORPUS ?? join(root, '..', 'shared', 'corpus');
  if (existsSync(folder)) {
    return folder;
  }
  if (process.env.WEIGHBRIDGE_CORPUS !== undefined) {
    throw new Error(`WEIGHBRIDGE_CORPUS is ${folder}: no folder`);
  }
  console.error(`no corpus at ${folder}: its tests check nothing`);
  return undefined;
}

const KNOWN = new Set(['.bt', '.gguf', '.idv', '.oinf', '.safetensors', '.stb', '.zt']);

/** All files below a folder that have a format's extension. */
export function files(folder) {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile() && KNOWN.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** Parses one JSON object per line; integers become bigints, so that they keep their digits. */
function lines(text) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(marked(line), unmark));
}

/** A prefix that no string in a file has. */
const MARK = 'integer outside of strings: ';

/** Turns integers outside strings into marked texts, because JSON.parse would round them. */
export function marked(line) {
  return line.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d+$/.test(token) ? `"${MARK}${token}"` : token,
  );
}

export function unmark(_, value) {
  return typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value;
}

/** Runs the command; the exit codes 1 and 3 are verdicts. */
function run(args) {
  try {
    return execFileSync(weighbridge, args, { maxBuffer: 1 << 30, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if ((error.status === 1 || error.status === 3) && error.stdout !== undefined) {
      return error.stdout;
    }
    throw error;
  }
}

/** Runs `check --json` on many files. */
export function check(paths) {
  const all = [];
  for (let from = 0; from < paths.length; from += 200) {
    all.push(...lines(run(['check', '--json', ...paths.slice(from, from + 200)])));
  }
  return all;
}

/** Runs `inspect --json --values` on one file. */
export function inspect(path, values) {
  return lines(run(['inspect', '--json', '--values', String(values), path]))[0];
}
