/** Checkpoints of PyTorch larger than memory: only their directory and their pickle are read. */

import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { written } from './files.ts';
import { expect, openFiles, settled, test, within } from './page.ts';

const STORAGES = 5;
/** Floats of a storage of 1 GiB. */
const ELEMENTS = 1 << 28;
const BYTES = 4 * ELEMENTS;

const number = (width: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes.subarray(0, width);
};
const text = (value: string): Buffer => Buffer.concat([Buffer.from('X'), number(4, value.length), Buffer.from(value)]);

/** The pickle of a dictionary of tensors, each all of its storage. */
function pickle(): Buffer {
  const elements = Buffer.concat([Buffer.from('J'), number(4, ELEMENTS)]);
  const tensors = Array.from({ length: STORAGES }, (_, i) =>
    Buffer.concat([
      text(`layers.${i}.weight`),
      Buffer.from('ctorch._utils\n_rebuild_tensor_v2\n(('),
      text('storage'),
      Buffer.from('ctorch\nFloatStorage\n'),
      text(String(i)),
      text('cpu'),
      elements,
      Buffer.from('tQK\0('),
      elements,
      Buffer.from('t(K\x01t\x89ccollections\nOrderedDict\n)RtR', 'latin1'),
    ]),
  );
  return Buffer.concat([Buffer.from('\x80\x02}(', 'latin1'), ...tensors, Buffer.from('u.')]);
}

/** Writes a checkpoint of 5 GiB whose storages are holes of the file. */
function checkpoint(): string {
  const [path] = written({ 'large.pt': '' });
  const file = openSync(path, 'w');
  const directory: Buffer[] = [];
  let at = 0;
  const record = (name: string, len: number, content?: Buffer) => {
    const names = Buffer.from(`large/${name}`);
    const head = at + 34 + names.length;
    const fill = Math.ceil(head / 64) * 64 - head;
    const extra = Buffer.concat([Buffer.from('FB'), number(2, fill), Buffer.alloc(fill, 'Z')]);
    const local = Buffer.concat([Buffer.from('PK\x03\x04\0\0\x08\x08', 'latin1'), Buffer.alloc(18), number(2, names.length), number(2, extra.length), names, extra]);
    writeSync(file, local, 0, local.length, at);
    if (content !== undefined) {
      writeSync(file, content, 0, len, at + local.length);
    }
    const sizes = Buffer.concat([number(4, 0), number(4, len), number(4, len)]);
    const after = Buffer.concat([Buffer.from('PK\x07\x08'), sizes]);
    writeSync(file, after, 0, after.length, at + local.length + len);
    const far = Buffer.concat([number(2, 1), number(2, 8), number(8, at)]);
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\0\0\0\0\x08\x08', 'latin1'), Buffer.alloc(6), sizes, number(2, names.length), number(2, far.length), Buffer.alloc(10), number(4, 0xffffffff), names, far]),
    );
    at += local.length + len + after.length;
  };
  const object = pickle();
  record('data.pkl', object.length, object);
  record('byteorder', 6, Buffer.from('little'));
  Array.from({ length: STORAGES }, (_, i) => record(`data/${i}`, BYTES));
  record('version', 2, Buffer.from('3\n'));
  const listed = Buffer.concat(directory);
  const [count, len] = [directory.length, listed.length];
  const end = Buffer.concat([
    listed,
    Buffer.from('PK\x06\x06'),
    number(8, 44),
    Buffer.from([0x1e, 3, 45, 0]),
    Buffer.alloc(8),
    number(8, count),
    number(8, count),
    number(8, len),
    number(8, at),
    Buffer.from('PK\x06\x07'),
    Buffer.alloc(4),
    number(8, at + len),
    number(4, 1),
    Buffer.from('PK\x05\x06'),
    Buffer.alloc(4),
    number(2, count),
    number(2, count),
    number(4, len),
    number(4, 0xffffffff),
    Buffer.alloc(2),
  ]);
  writeSync(file, end, 0, end.length, at);
  ftruncateSync(file, at + end.length);
  closeSync(file);
  return path;
}

/** Counts the bytes that workers take from files. */
async function counting(page: Page): Promise<() => Promise<number>> {
  for (const worker of page.workers()) {
    await worker.evaluate(() => {
      const counted = self as unknown as { taken: number };
      counted.taken = 0;
      const slice = Blob.prototype.slice;
      Blob.prototype.slice = function (from, to, type) {
        const part = slice.call(this, from, to, type);
        counted.taken += part.size;
        return part;
      };
    });
  }
  return async () => {
    const taken = await Promise.all(page.workers().map((worker) => worker.evaluate(() => (self as unknown as { taken?: number }).taken ?? 0)));
    return taken.reduce((sum, one) => sum + one, 0);
  };
}

test('a checkpoint of 5 GiB opens at once, and less than a hundredth of it is read', { tag: ['@deep', '@bench'] }, async ({ page }) => {
  test.setTimeout(120_000);
  // Loads the modules.
  await openFiles(page, 'dist/local/samples/digits.pt');
  await settled(page);
  const taken = await counting(page);
  await page.evaluate(() => performance.clearMarks());
  await page.locator('input[type=file]').setInputFiles(checkpoint());
  await expect(page.locator('.verdict-facts')).toContainText('5.00 GiB');
  const milliseconds = await page.evaluate(() => {
    const [opened] = performance.getEntriesByName('open');
    const painted = performance.getEntriesByName('rows').find(({ startTime }) => startTime > opened.startTime)!;
    return painted.startTime - opened.startTime;
  });
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('5 tensors');
  const read = await taken();
  console.log(`5 GiB: open to rows ${milliseconds.toFixed(1)} ms, ${read} bytes read`);
  expect(read).toBeGreaterThan(1000);
  expect(read).toBeLessThan((STORAGES * BYTES) / 100);
  within(milliseconds, 150);
  await page.getByRole('tab', { name: /^Storages/ }).click();
  await expect(page.getByRole('table', { name: 'Storages' }).locator('tbody tr')).toHaveCount(STORAGES);
});
