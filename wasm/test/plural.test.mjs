// Messages in JavaScript use the singulars of the core.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The words of each list in a source file, in pairs of plural and singular. */
function lists(path, list, pair) {
  const source = readFileSync(new URL(path, import.meta.url), 'utf8');
  return [...source.matchAll(list)].map(([, name, words]) => [name, [...words.matchAll(pair)].map(([, plural, singular]) => [plural, singular])]);
}

test('nouns and verbs are those of the core', () => {
  const ours = lists('../dist/unpack.js', /^const (NOUNS|VERBS) = \{(.*?)^\};/gms, /(\w+): '(\w+)'/g);
  const core = lists('../../core/src/file/plural.rs', /^const (NOUNS|VERBS): .*?\[\n(.*?)^\];/gms, /\("(\w+)", "(\w+)"\)/g);
  assert.deepEqual(core.map(([name, words]) => [name, words.length > 0]), [['NOUNS', true], ['VERBS', true]]);
  assert.deepEqual(ours, core);
});
