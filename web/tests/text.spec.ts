import { expect, test } from '@playwright/test';
import type { Values } from 'weighbridge';
import { valueList } from '../src/worker/text.ts';

const list = (dtype: string, data: bigint[], width = 1) =>
  valueList({ dtype, data: BigInt64Array.from(data), width, missing: new Uint32Array(0) } as unknown as Values);

test('date-times are dates; ticks out of range stay ticks', () => {
  expect(list('datetime', [0n, 638396640000000000n, 638396640000000001n, 3155378975999999999n])).toEqual([
    '0001-01-01 00:00:00',
    '2024-01-01 00:00:00',
    '2024-01-01 00:00:00.0000001',
    '9999-12-31 23:59:59.9999999',
  ]);
  expect(list('datetime', [-1n, 3155378976000000000n])).toEqual(['-1', '3155378976000000000']);
});

test('local times have their offset', () => {
  expect(list('datetimeoffset', [637266114000000000n, 840n, 637266114000000000n, -210n, -1n, 0n], 2)).toEqual([
    '2020-06-01 12:30:00 +14:00',
    '2020-06-01 12:30:00 -03:30',
    '(-1, 0)',
  ]);
});

test('time spans have days, and tenths of microseconds', () => {
  expect(list('timespan', [0n, 36000000000n, 900000000000n, -1n, -(2n ** 63n)])).toEqual([
    '00:00:00',
    '01:00:00',
    '1.01:00:00',
    '-00:00:00.0000001',
    '-10675199.02:48:05.4775808',
  ]);
});
