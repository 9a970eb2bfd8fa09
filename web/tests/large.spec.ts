/** Data that takes many reads: nothing may hang. */

import { safetensors, written } from './files.ts';
import { expect, openFiles, openTensor, panelTab, settled, test } from './page.ts';
import { PATIENCE, patiently } from '../src/worker/timeout.ts';
import { fromFile } from '../src/worker/sources.ts';

/** Number of elements of a 20 MiB tensor. */
const ELEMENTS = 5 << 20;
const NAMES = ['a', 'b', 'c', 'd'];

/** A checkpoint of several tensors, each larger than 16 MiB. */
function checkpoint(change: number): Buffer {
  const data = Float32Array.from({ length: ELEMENTS }, (_, i) => (i % 1009) / 1009);
  const changed = data.slice();
  changed[ELEMENTS - 1] += change;
  return safetensors(Object.fromEntries(NAMES.map((name) => [name, { dtype: 'F32', data: name === 'c' ? changed : data }])));
}

test('all values of pairs longer than 16 MiB are compared to the end', { tag: '@deep' }, async ({ page }) => {
  test.setTimeout(180_000);
  const paths = written({ 'before.safetensors': checkpoint(0), 'after.safetensors': checkpoint(0.5) });
  await openFiles(page, paths);
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await page.getByRole('tab', { name: 'Compare' }).click();
  // One pair alone, then all, several times: a stall is intermittent.
  for (let round = 0; round < 2; round++) {
    await page.getByRole('button', { name: 'Compare all values' }).click();
    await expect(page.locator('.compare .list-summary')).toContainText('1 changed · 3 unchanged · 0 not compared', { timeout: 50_000 });
    await expect(page.locator('.compare .list-summary')).toContainText(`1 of ${(4 * ELEMENTS).toLocaleString('en-GB')} values differ`);
    await page.getByRole('button', { name: 'Close after.safetensors' }).click();
    await page.locator('input[type=file]').setInputFiles(paths[1]);
    await settled(page);
    await page.getByRole('tab', { name: 'Compare' }).click();
  }
});

test('statistics of tensors longer than a read come to the end', { tag: '@deep' }, async ({ page }) => {
  await openFiles(page, written({ 'model.safetensors': checkpoint(0) }));
  for (const name of NAMES) {
    await openTensor(page, name);
    await panelTab(page, 'Statistics');
    await expect(page.locator('.statistics')).toContainText(ELEMENTS.toLocaleString('en-GB'));
  }
});

test('pieces are read ahead of each other, in order, and to the last byte', async () => {
  const bytes = new Uint8Array((9 << 20) + 5).map((_, i) => i % 251);
  const file = new File([bytes], 'x');
  const slices: number[] = [];
  const slice = file.slice.bind(file);
  file.slice = (from, to) => {
    slices.push(from!);
    return slice(from, to);
  };
  const seen: number[] = [];
  const parts: Uint8Array[] = [];
  for (const [ahead, expected] of [[1, [2, 3, 4, 5, 5]], [3, [4, 5, 5, 5, 5]]] as const) {
    [slices.length, seen.length, parts.length] = [0, 0, 0];
    for await (const piece of fromFile(file, PATIENCE, 2 << 20, ahead).pieces(3n, BigInt(bytes.length - 3), new AbortController().signal)) {
      seen.push(slices.length);
      parts.push(piece.slice()); // a piece is only valid until the next step
    }
    expect(seen).toEqual(expected);
    expect(Buffer.concat(parts).equals(Buffer.from(bytes.subarray(3)))).toBe(true);
  }
});

test('a read that does not answer is given up, and says what was read', async () => {
  const file = new File([new Uint8Array(100)], 'slow.bin');
  file.slice = () => ({ arrayBuffer: () => new Promise(() => undefined) }) as unknown as Blob;
  await expect(fromFile(file, 1).read(4n, 10)).rejects.toThrow('Reading 10 bytes at offset 4 of slow.bin took longer than 1 s.');
  const pieces = fromFile(file, 1).pieces(0n, 50n, new AbortController().signal);
  await expect(pieces.next()).rejects.toThrow(/slow\.bin took longer/);
  // Cancelling ends the wait, too.
  const stop = new AbortController();
  const waiting = patiently(new Promise(() => undefined), 'nothing', stop.signal);
  stop.abort();
  await expect(waiting).rejects.toThrow(/abort/);
});
