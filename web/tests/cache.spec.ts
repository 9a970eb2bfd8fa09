/** The cache of results. */

import { Kept } from '../src/cache.ts';
import { expect, test } from './page.ts';

test('a result that is replaced is weighed once', () => {
  const kept = new Kept<string, number>(10, (value) => value);
  kept.set('a', 4);
  for (let i = 0; i < 5; i++) {
    kept.set('b', 6);
  }
  expect([kept.get('a'), kept.get('b')]).toEqual([4, 6]);
});

test('the least recently used goes first, and the newest stays whatever it weighs', () => {
  const kept = new Kept<string, number>(10, (value) => value);
  kept.set('a', 5);
  kept.set('b', 5);
  kept.get('a');
  kept.set('c', 3);
  expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([5, undefined, 3]);
  kept.set('d', 11);
  expect([kept.get('a'), kept.get('c'), kept.get('d')]).toEqual([undefined, undefined, 11]);
});
