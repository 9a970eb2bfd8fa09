// The 32-bit build reports the same about every file as the command line.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { test } from 'node:test';
import { fromBytes, load, open, settle } from '../dist/index.js';
import { check, corpus, files, fixtures, inspect } from './host.mjs';
import { describe, judge } from './facts.mjs';

/** Every file in deep runs (`scripts/wasm.sh deep`), otherwise every eighth. */
const STEP = process.env.DEEP === '1' ? 1 : 8;

/** The formats of the first module. */
const FIRST = (await load()).formats().map(({ name }) => name);

/** Number of elements compared per tensor. */
const VALUES = 40;

/** Small windows, so that every file is read in pieces. */
const WINDOWS = { budget: 64 << 10, granule: 512 };

async function opened(path, goal, module = 'full') {
  const source = fromBytes(readFileSync(path));
  const document = await open(source, { ...WINDOWS, name: path, goal, module });
  const ask = (call) => settle(document, source, call);
  return { document, ask };
}

async function compare(folder) {
  const paths = files(folder).filter((_, i) => i % STEP === 0);
  assert.ok(paths.length > 0, `no files in ${folder}`);
  const verdicts = check(paths);
  assert.equal(verdicts.length, paths.length);
  const differences = [];
  for (const [i, path] of paths.entries()) {
    try {
      await compareFile(path, verdicts[i]);
    } catch (error) {
      differences.push(`${relative(folder, path)}: ${error.message}`);
    }
  }
  assert.ok(differences.length === 0, `${differences.length} files differ\n${differences.slice(0, 10).join('\n')}`);
  return paths.length;
}

async function compareFile(path, verdict) {
  const checked = await opened(path, 'payloads');
  const validated = await judge(checked.document, checked.ask);
  assert.deepEqual(validated, verdictOf(whole(verdict, validated)));
  checked.document.free();

  const listed = await opened(path, 'structure');
  const expected = inspect(path, VALUES);
  const { metadata, tensors } = await describe(listed.document, listed.ask, VALUES);
  assert.deepEqual(metadata, expected.metadata, 'metadata');
  assert.equal(tensors.length, expected.tensors.length, 'tensors');
  for (const [k, tensor] of tensors.entries()) {
    assert.deepEqual(tensor, unbounded(expected.tensors[k]), `tensor ${k}`);
  }
  if (FIRST.includes(listed.document.format)) {
    await compareModules(path, validated, { metadata, tensors });
  }
  listed.document.free();
}

/** Whatever the first module opens, or leaves to the other, has the same findings and values. */
async function compareModules(path, validated, described) {
  const checked = await opened(path, 'payloads', 'base');
  assert.deepEqual(await judge(checked.document, checked.ask), validated, 'the modules differ');
  checked.document.free();
  const listed = await opened(path, 'structure', 'base');
  assert.deepEqual(await describe(listed.document, listed.ask, VALUES), described, 'the modules differ');
  listed.document.free();
}

/**
 * A tensor as the module can represent it: an extent of 2^64 - 1, which only broken tensors have,
 * looks like a variable one, unpaired surrogates are replaced, and complex numbers have no values.
 */
function unbounded({ values, ...tensor }) {
  const shape = tensor.shape.map((extent) => (extent === 0xffff_ffff_ffff_ffffn ? null : extent));
  const isComplex = ['c64', 'c128'].includes(tensor.dtype);
  return lossy(isComplex || values === undefined ? { ...tensor, shape } : { ...tensor, shape, values });
}

function lossy(value) {
  if (Array.isArray(value)) {
    return value.map(lossy);
  }
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (Array.isArray(value.utf16)) {
    return String.fromCharCode(...value.utf16.map(Number)).toWellFormed();
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, lossy(member)]));
}

/** A report in which names that the command line has cut off are replaced by the full ones of `validated`. */
function whole(verdict, validated) {
  const uncut = (list, others) =>
    list.map((item, i) => {
      const name = others[i]?.entry;
      const cut = typeof name === 'string' && item.entry?.endsWith?.('…') && name.startsWith(item.entry.slice(0, -1));
      return cut ? { ...item, entry: name } : item;
    });
  return { ...verdict, findings: uncut(verdict.findings, validated.findings), unchecked: uncut(verdict.unchecked, validated.unchecked) };
}

/** What violations leave open: the gate says it, and the package reads the file. */
const OPEN = [
  'the whole set: a part is missing, broken, or of another set',
  'what the chat template runs through the internals of Python',
];

/** The part of a report that the package provides: it sees one file, and does not guess what else a file may be. */
function verdictOf({ format, version, size, verdict, diagnosis, checked, unchecked, findings }) {
  return {
    format,
    version,
    size,
    verdict,
    diagnosis,
    checked,
    // The command also gives the reason, and answers for what readers do.
    unchecked: unchecked.filter((it) => !OPEN.includes(it.why)).map((it) => ({ ...it, why: it.why.replace(/^(the other parts of its set .*): .*/, '$1') })),
    findings,
  };
}

test('fixtures', async (t) => {
  t.diagnostic(`${await compare(fixtures)} files`);
});

test('corpus', async (t) => {
  const folder = corpus();
  t.diagnostic(`${folder === undefined ? 0 : await compare(folder)} files`);
});
