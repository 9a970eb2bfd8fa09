/** Small usability problems. */

import { fileName } from '../src/views/export.ts';
import { folder, safetensors, written } from './files.ts';
import { holdBack } from './late.ts';
import { drop, expect, openFiles, openSample, openTensor, sampleFile, settled, test } from './page.ts';

const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });

test('a dropped folder opens the tensor files in it', async ({ page }) => {
  const path = folder({
    'b.safetensors': safetensors({ b: f32(1) }),
    'a.safetensors': safetensors({ a: f32(1) }),
    'config.json': '{}',
    'README.md': 'none of ours',
  });
  await page.goto('./');
  await drop(page, path);
  await expect(page.locator('.file-name')).toHaveText(['a.safetensors', 'b.safetensors']);
  await settled(page);
  await expect(page.locator('.verdict-head')).toHaveText('Structure valid');
});

test('a dropped folder without tensor files says so', async ({ page }) => {
  const path = folder({ 'README.md': 'none of ours' });
  await page.goto('./');
  await drop(page, path);
  await expect(page.getByRole('alert')).toHaveText(/^The folder weighbridge-\w+ contains no tensor files\./);
});

test('the keyboard is in the list once a file is open', async ({ page }) => {
  await page.goto('./');
  await page.locator('[data-sample="oinf"]').click();
  await settled(page);
  await expect(page.getByRole('grid', { name: 'Tensors' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.panel-name')).not.toBeEmpty();
  // For a broken file, the findings are shown first and get the focus.
  await page.goto('about:blank');
  await page.goto('./');
  await page.locator('[data-sample="oinf-broken"]').focus();
  await page.keyboard.press('Enter');
  await settled(page);
  await expect(page.getByRole('tab', { name: /^Findings/ })).toBeFocused();
});

test('of many files the one that is shown is in sight', { tag: '@deep' }, async ({ page }) => {
  const names = Array.from({ length: 66 }, (_, i) => `model-${i + 1}-of-66.safetensors`);
  const bytes = safetensors({ w: f32(1) });
  await openFiles(page, written(Object.fromEntries(names.map((name) => [name, bytes]))));
  await expect(page.locator('.file-tab')).toHaveCount(66);
  const current = page.locator('.file-name[aria-current=true]');
  await expect(current).toHaveText(names[65]);
  await expect(current).toBeInViewport({ ratio: 0.9 });
  await page.locator('.file-name').first().click();
  await expect(current).toHaveText(names[0]);
  await expect(current).toBeInViewport({ ratio: 0.9 });
  await page.goBack();
  await expect(current).toHaveText(names[65]);
  await expect(current).toBeInViewport({ ratio: 0.9 });
});

test('all of a header sorts', async ({ page }) => {
  await openSample(page, 'oinf');
  for (const name of ['Name', 'Stored']) {
    const header = page.getByRole('columnheader', { name });
    const box = (await header.boundingBox())!;
    for (const [x, order] of [[3, 'ascending'], [box.width - 3, 'descending'], [box.width / 2, 'none']] as const) {
      await page.mouse.click(box.x + x, box.y + box.height / 2);
      await expect(header).toHaveAttribute('aria-sort', order);
    }
  }
});

test('the mark of a finding is whole at the start of the bar', async ({ page }) => {
  // The first finding refers to the first byte of the file.
  const bytes = safetensors({ a: f32(1) });
  bytes.writeBigUInt64LE(1n << 40n, 0);
  await openFiles(page, written({ 'broken.safetensors': bytes }));
  await openSample(page, 'oinf-broken');
  await expect(page.locator('.strip')).toHaveAttribute('data-kinds', /finding/);
  // The marker is symmetric around its tip, wherever it is.
  const widths = await page.locator('.strip canvas').evaluate((canvas: HTMLCanvasElement) => {
    const paint = canvas.getContext('2d')!;
    const row = (y: number) => paint.getImageData(0, y, canvas.width, 1).data;
    const runs = (data: Uint8ClampedArray) => {
      const found: [number, number][] = [];
      for (let x = 0; x < canvas.width; x++) {
        if (data[4 * x + 3] > 128) {
          const last = found.at(-1);
          if (last !== undefined && last[1] === x) {
            last[1] = x + 1;
          } else {
            found.push([x, x + 1]);
          }
        }
      }
      return found;
    };
    return runs(row(0)).map(([from, to]) => to - from);
  });
  expect(widths.length).toBeGreaterThan(0);
  expect(Math.min(...widths)).toBeGreaterThanOrEqual(4);
});

test('an overlap names what it is shared with', async ({ page }) => {
  const [path] = written({ 'overlap.safetensors': safetensors({ first: f32(1, 2, 3, 4), second: { ...f32(1, 2, 3, 4), from: 8 } }) });
  await openFiles(page, path);
  await page.getByRole('tab', { name: /^Findings/ }).click();
  await expect(page.locator('.finding[data-rule=OVERLAP] .partner')).toHaveText('Shared with first.');
  await page.getByRole('tab', { name: /^Layout/ }).click();
  await expect(page.locator('.layout-table .v-list [role=row]', { hasText: 'second' }).locator('.note')).toHaveText('8 B shared with first');
});

test('a saved tensor is called by its name, in characters that every system takes', async ({ page }) => {
  expect(fileName('model.layers.0.attn/q_proj:weight')).toBe('model.layers.0.attn_q_proj_weight');
  expect(fileName('../../etc/passwd')).toBe('etc_passwd');
  expect(fileName('größe 語')).toBe('größe_語');
  expect(fileName('con')).toBe('_con');
  expect(fileName('\u202e<>|"')).toBe('');
  expect(fileName('n'.repeat(65_536)).length).toBe(120);
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as .npy' }).click();
  expect((await download).suggestedFilename()).toBe('test.ramp.npy');
});

test('the export menu closes at once', async ({ page }) => {
  await openSample(page, 'oinf');
  const release = await holdBack(page, 'indexJson');
  const menu = page.locator('summary', { hasText: 'Export' });
  const item = page.getByRole('button', { name: 'Index as JSON' });
  await menu.click();
  await item.click();
  await expect(item).toBeHidden();
  await expect(menu).toBeFocused();
  await menu.click();
  const download = page.waitForEvent('download');
  await release(1);
  await download;
  await expect(item).toBeVisible();
});

test('saving a tensor, or reading a value, ends when the file is closed', async ({ page }) => {
  for (const method of ['npy', 'metaValue']) {
    await openSample(page, 'oinf');
    await openTensor(page, 'test.ramp');
    await holdBack(page, method);
    if (method === 'npy') {
      await page.getByRole('button', { name: 'Save as .npy' }).click();
    } else {
      await page.getByRole('tab', { name: /^Metadata/ }).click();
      await page.locator('.meta-table .v-list').getByText('rope.frequencies').click();
    }
    await expect(page.locator('.task')).toHaveCount(1);
    await page.getByRole('button', { name: /^Close tiny-lm/ }).click();
    await expect(page.locator('.task')).toHaveCount(0);
  }
});

for (const [width, height] of [[640, 400], [390, 500]] as const) {
  test(`at ${width} × ${height}, as at 200 % zoom, there is a list to work with`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await openSample(page, 'oinf');
    const list = page.locator('.tensor-table .v-list');
    await list.scrollIntoViewIfNeeded();
    await page.locator('.file').evaluate((file) => file.scrollTo(0, file.scrollHeight));
    const shown = await page.locator('.tensor-table .v-list [role=row]').evaluateAll((rows) => {
      const bottom = innerHeight - 26;
      return rows.filter((row) => row.getBoundingClientRect().bottom <= bottom && row.getBoundingClientRect().top >= 40).length;
    });
    expect(shown).toBeGreaterThanOrEqual(7);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await openTensor(page, 'test.ramp');
    await page.getByRole('tab', { name: 'Values' }).click();
    await expect(page.locator('.value-grid .v-list .value').first()).toBeVisible();
  });
}

test('keys of metadata stay distinct on a narrow screen', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openSample(page, 'gguf');
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  const table = page.locator('.meta-table');
  const key = table.locator('.name', { hasText: /^llama\.embedding_length$/ });
  await expect(key).toBeVisible();
  expect(await key.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).toBe(0);
  await key.click();
  await expect(page.locator('.meta-value .facts')).toContainText('u32');
});

test('files that are dropped one after the other are all kept', async ({ page }) => {
  await page.goto('./');
  await drop(page, ...['micro.stb', 'digits.bt'].map((name) => `${process.cwd()}/${sampleFile(name)}`));
  await expect(page.locator('.file-name')).toHaveText(['micro.stb', 'digits.bt']);
});
