// The README's example runs as printed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { fixtures, inspect } from './host.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [, code] = /```js\n([^]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'));

test('the first example of the README', (t) => {
  assert.ok(code.trim().split('\n').length <= 10, 'ten lines');
  // Inside a package, its own name can be imported.
  const example = join(root, 'dist', 'example.mjs');
  writeFileSync(example, code);
  t.after(() => rmSync(example));
  for (const format of readdirSync(fixtures)) {
    const path = join(fixtures, format, readdirSync(join(fixtures, format))[0]);
    const said = execFileSync(process.execPath, [example, path], { encoding: 'utf8' });
    const { tensors } = inspect(path, 0);
    assert.match(said, new RegExp(`^\\S.* (valid|invalid|unsupported)\n${tensors.length} tensors`), path);
    assert.doesNotMatch(said, /undefined|null|NaN|\[object/, path);
  }
});
