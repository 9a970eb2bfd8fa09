/** Arrays of text, dates and records: what NumPy's own types hold. */

import { readFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';
import { written } from './files.ts';
import { expect, openFiles, panelTab, test } from './page.ts';
import type { Page } from '@playwright/test';

/** A NumPy array as `numpy.save` writes it. */
function npy(descr: string, shape: number[], data: Buffer, fortran = false): Buffer {
  const extents = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const dictionary = `{'descr': ${descr}, 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': (${extents}), }`;
  const text = Buffer.from(`${dictionary.padEnd(Math.ceil((dictionary.length + 11) / 64) * 64 - 11)}\n`);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(text.length);
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), length, text, data]);
}

/** An archive with one deflated member. */
function npz(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const about = Buffer.alloc(26);
  about.writeUInt16LE(20, 0);
  about.writeUInt16LE(8, 4);
  about.writeUInt16LE(33, 8);
  about.writeUInt32LE(crc32(content), 10);
  about.writeUInt32LE(packed.length, 14);
  about.writeUInt32LE(content.length, 18);
  about.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, Buffer.from(name), packed]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, Buffer.from('PK\x05\x06'), end]);
}

/** Code points of four bytes each, padded with zeros. */
function text(width: number, ...all: string[]): Buffer {
  const points = all.flatMap((one) => {
    const own = Array.from(one, (c) => c.codePointAt(0)!);
    return [...own, ...Array<number>(width - own.length).fill(0)];
  });
  return Buffer.from(Uint32Array.from(points).buffer);
}

const days = (...all: bigint[]) => Buffer.from(BigInt64Array.from(all).buffer);

async function values(page: Page, name: string, file: Buffer): Promise<void> {
  await openFiles(page, written({ [name]: file }));
  await page.locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
  await panelTab(page, 'Values');
}

const row = (page: Page, at: number) => page.locator('.value-grid .v-list [role=row]:not([hidden])').nth(at).locator('.value');
const heads = (page: Page) => page.locator('.value-grid .grid-head .value');

for (const how of ['npy', 'npz'] as const) {
  test(`text of an array is shown and saved: ${how}`, async ({ page }) => {
    const array = npy("'<U5'", [3], text(5, 'cat', 'é😀', 'a\u202eb'));
    await values(page, `labels.${how}`, how === 'npy' ? array : npz('labels.npy', array));
    await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
    await expect(row(page, 0)).toHaveText('cat');
    await expect(row(page, 1)).toHaveText('é😀');
    await expect(row(page, 2)).toHaveText('a\\u{202e}b');
    await panelTab(page, 'Overview');
    await expect(page.locator('.panel-facts')).toContainText('utf32<5>');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as .npy' }).click();
    expect(readFileSync(await (await download).path())).toEqual(array);
  });
}

test('text in columns is shown by row and column', async ({ page }) => {
  await values(page, 'labels.npy', npy("'<U2'", [2, 3], text(2, 'a', 'd', 'b', 'e', 'c', 'f'), true));
  await expect(row(page, 0)).toHaveText(['a', 'b', 'c']);
  await expect(row(page, 1)).toHaveText(['d', 'e', 'f']);
});

test('dates are those of ISO 8601, time spans have their unit', async ({ page }) => {
  await values(page, 'dates.npy', npy("'<M8[D]'", [3], days(19782n, -1n, -(2n ** 63n))));
  for (const [at, date] of ['2024-02-29', '1969-12-31', 'NaT'].entries()) {
    await expect(row(page, at)).toHaveText(date);
  }
  await values(page, 'spans.npy', npy("'<m8[25us]'", [1], days(3n)));
  await expect(row(page, 0)).toHaveText('75 us');
});

test('fields of records are columns, and pages show them all', async ({ page }) => {
  const pair = Buffer.from(Float32Array.of(0.5, -1).buffer);
  const record = (name: string, id: number) => Buffer.concat([text(3, name), Buffer.of(id), days(19782n), pair]);
  const descr = "[('name', '<U3'), ('<b>id', '|u1'), ('day', '<M8[D]'), ('xy', '<f4', (2,))]";
  await values(page, 'records.npy', npy(descr, [2], Buffer.concat([record('cat', 4), record('emu', 2)])));
  await expect(heads(page).first()).toHaveText('name');
  const shown = await heads(page).count();
  const all = ['name', '<b>id', 'day', 'xy'];
  const cells = ['emu', '2', '2024-02-29', '[0.5,-1.0]'];
  await expect(heads(page)).toHaveText(all.slice(0, shown));
  await expect(row(page, 1)).toHaveText(cells.slice(0, shown));
  if (shown < all.length) {
    await page.getByRole('button', { name: 'Next columns' }).click();
    await expect(heads(page).last()).toHaveText('xy');
    await expect(row(page, 1).last()).toHaveText('[0.5,-1.0]');
  }
});

test('long floats have no values, and are saved', async ({ page }) => {
  const array = npy("'<f16'", [1], Buffer.alloc(16, 1));
  await values(page, 'long.npy', array);
  await expect(page.locator('.panel-values')).toContainText('Values are not available for longdouble<16>.');
  await panelTab(page, 'Overview');
  await expect(page.getByRole('button', { name: 'Save as .npy' })).toBeEnabled();
});
