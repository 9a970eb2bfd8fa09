// Settings reach the summary unchanged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../dist/index.js';

/** The facts of these settings by name. */
async function facts(config) {
  const { summarise } = await load('summary');
  const found = summarise([], { config: Object.entries({ model_type: 'llama', ...config }) }).facts;
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}

test('numbers keep their digits', async () => {
  for (const value of [10000, 1e6, 0.1, 1e-7, 1.7976931348623157e308, 5e-324, 9007199254740993n, -0.5, 1e21, 123456789012345680000]) {
    const { rope_base: found } = await facts({ rope_theta: value });
    assert.equal(found, Number(value), String(value));
  }
  for (const [value, text] of [[NaN, 'NaN'], [Infinity, 'Infinity'], [-Infinity, '-Infinity']]) {
    assert.equal((await facts({ rope_theta: value })).rope_base, text);
  }
});

test('lists keep their items', async () => {
  const lists = [
    [8, 4, 0],
    [1.5, -2, 1e300],
    ['a', 'b,c', ''],
  ];
  for (const value of lists) {
    assert.deepEqual((await facts({ num_key_value_heads: value })).head_count_kv, value);
  }
  const { head_count_kv: found } = await facts({ num_key_value_heads: [true, null, 3n, NaN, 0.25] });
  assert.deepEqual(found, [true, null, 3, 'NaN', 0.25]);
});
