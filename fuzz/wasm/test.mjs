// The fuzz bodies see the same in every seed in 32 bits as on a host:
//
//   node --test fuzz/wasm/test.mjs
//
// MODULE is the compiled module, and INPUTS the folder written by the example
// `kept` of weighbridge-tests: `digests.tsv` and the inputs. `scripts/fuzz.sh
// wasm` creates both.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const { MODULE, INPUTS } = process.env;

class Bodies {
  #module = new WebAssembly.Module(readFileSync(MODULE));
  #exports;
  #said = '';

  /** Starts a fresh instance: one that panicked may not be reused. */
  #start() {
    const complain = (at, length) => {
      this.#said = new TextDecoder().decode(new Uint8Array(this.#exports.memory.buffer, at, length));
    };
    this.#exports = new WebAssembly.Instance(this.#module, { env: { complain } }).exports;
  }

  digest(target, input) {
    if (this.#exports === undefined) {
      this.#start();
    }
    const name = Buffer.from(target);
    const at = this.#exports.room(name.length + input.length) >>> 0;
    const room = new Uint8Array(this.#exports.memory.buffer, at, name.length + input.length);
    room.set(name);
    room.set(input, name.length);
    try {
      return BigInt.asUintN(64, this.#exports.digest(name.length));
    } catch (error) {
      this.#exports = undefined;
      throw new Error(this.#said || error.message);
    }
  }
}

test('every seed and regression file', (t) => {
  const rows = readFileSync(join(INPUTS, 'digests.tsv'), 'utf8').trim().split('\n');
  const bodies = new Bodies();
  const counts = new Map();
  const differences = [];
  for (const [i, row] of rows.entries()) {
    const [target, name, digest] = row.split('\t');
    try {
      const seen = bodies.digest(target, readFileSync(join(INPUTS, String(i))));
      assert.equal(seen.toString(16), digest, 'sees something else than a host');
    } catch (error) {
      differences.push(`${target}: ${name}: ${error.message}`);
    }
    counts.set(target, (counts.get(target) ?? 0) + 1);
  }
  assert.ok(differences.length === 0, `${differences.length} of ${rows.length} differ\n${differences.slice(0, 10).join('\n')}`);
  t.diagnostic([...counts].map(([target, count]) => `${target} ${count}`).join(', '));
  assert.ok(counts.size >= 10, 'targets are missing');
});
