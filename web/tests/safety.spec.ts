import { BY_URL, LOCAL, TRIALS, expect, openFiles, openSample, openTensor, settled, test } from './page.ts';

test('the policy forbids everything that is not our own', { tag: '@tries' }, async ({ page, request }) => {
  const response = await request.get('./');
  const header = response.headers()['content-security-policy'];
  const html = await response.text();
  const meta = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)![1].replaceAll('&#39;', "'");
  for (const policy of [header, meta]) {
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
    for (const kind of ['worker', 'style', 'img', 'manifest', 'connect']) {
      expect(policy).toMatch(new RegExp(`${kind}-src 'self'(;|$)`));
    }
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:/);
  }
  expect(header).toContain("frame-ancestors 'none'");
  expect(html).not.toMatch(/<style|style="|<script>|javascript:/);
  // The browser enforces it.
  await page.goto('./');
  const outcome = await page.evaluate((other) => fetch(other).then(() => 'sent', () => 'blocked'), BY_URL).catch(() => 'blocked');
  expect(outcome).toBe('blocked');
});

test('hostile names stay text', async ({ page }) => {
  await openFiles(page, `${TRIALS}/hostile.bt`);
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  const rows = page.locator('.tensor-table .v-list [role=row]:not([hidden])');
  await expect(rows).toHaveCount(10);
  const names = await rows.locator('.name bdi').allTextContents();
  expect(names.join('')).not.toMatch(/[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/);
  expect(names.some((name) => name.includes('<script>'))).toBe(true);
  expect(names).toContain('__proto__');
  expect(names.some((name) => name.length > 256 && name.length < 300)).toBe(true);
  expect(await page.locator('main script, main img').count()).toBe(0);
  for (let i = 0; i < 10; i++) {
    await rows.nth(i).click();
    await expect(rows.nth(i)).toHaveAttribute('aria-selected', 'true');
    await expect(page.locator('.facts-list')).toContainText('f32');
  }
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  await page.locator('.meta-table .v-list').getByText('__proto__').click();
  await expect(page.locator('.value-text')).toHaveText('<b>bold</b>\\u{202e}');
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('a CSV of hostile names starts no formula', async ({ page }) => {
  await openFiles(page, `${TRIALS}/hostile.bt`);
  const text = await exported(page, 'Index as CSV');
  expect(text).toContain("'=HYPERLINK(");
  expect(text).not.toMatch(/(^|,)=/m);
});

async function exported(page: import('@playwright/test').Page, item: string): Promise<string> {
  await page.locator('.menu summary').click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: item }).click();
  const stream = await (await download).createReadStream();
  const parts: Buffer[] = [];
  for await (const part of stream) {
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString();
}

test('the index as JSON and CSV', async ({ page }) => {
  await openSample(page, 'oinf');
  const index = JSON.parse(await exported(page, 'Index as JSON'));
  expect(index.format).toBe('oinf');
  expect(index.tensors).toHaveLength(30);
  const cube = index.tensors.find(({ name }: { name: string }) => name === 'test.cube');
  expect(cube).toMatchObject({ dtype: 'i32', shape: [3, 4, 5], elements: 60, stored: 240, encoding: 'raw' });
  expect(index.metadata.find(({ key }: { key: string }) => key === 'model.name').value).toBe('tiny-lm');
  const lines = (await exported(page, 'Index as CSV')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(31);
  expect(lines.find((line) => line.startsWith('test.cube,'))).toMatch(/^test\.cube,i32,3x4x5,60,/);
});

test('the index as JSON has names and values as they are, not as they are shown', async ({ page }) => {
  await openFiles(page, `${TRIALS}/hostile.bt`);
  const index = JSON.parse(await exported(page, 'Index as JSON'));
  const names: string[] = index.tensors.map(({ name }: { name: string }) => name);
  expect(names).toHaveLength(10);
  expect(names.some((name) => name.includes('\u202e'))).toBe(true);
  expect(names.some((name) => name.length > 300)).toBe(true);
  expect(names.join()).not.toMatch(/\\u\{|…/);
  expect(index.metadata.find(({ key }: { key: string }) => key === '__proto__')).toEqual({ key: '__proto__', type: 'string', value: '<b>bold</b>\u202e' });
  await openSample(page, 'oinf');
  const { metadata } = JSON.parse(await exported(page, 'Index as JSON'));
  const frequencies = metadata.find(({ key }: { key: string }) => key === 'rope.frequencies');
  expect(frequencies.value).toEqual([1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125]);
});

test('an export can be cancelled', async ({ page }) => {
  await openFiles(page, `${TRIALS}/many-100000.bt`);
  let downloads = 0;
  page.on('download', () => downloads++);
  await page.locator('.menu summary').click();
  await page.getByRole('button', { name: 'Index as JSON' }).click();
  await page.getByRole('button', { name: 'Cancel: Exporting the index' }).click();
  await expect(page.locator('.task')).toHaveCount(0);
  await expect(page.getByRole('status').filter({ hasText: 'Exporting the index: ' })).toHaveCount(1);
  // The worker is free at once and answers the next request.
  await page.locator('.tensor-table .v-list [role=row]').first().click();
  await expect(page.locator('.facts-list')).toBeVisible();
  expect(downloads).toBe(0);
});

test('the report as JSON', async ({ page }) => {
  await openSample(page, 'oinf-broken');
  const report = JSON.parse(await exported(page, 'Report as JSON'));
  expect(report).toMatchObject({ format: 'oinf', verdict: 'invalid', profile: 'strict' });
  expect(report.findings.length).toBeGreaterThanOrEqual(3);
  expect(Object.keys(report.findings[0])).toEqual(['rule', 'severity', 'offset', 'len', 'entry', 'expected', 'found', 'message', 'spec']);
});

test('a tensor as .npy', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as .npy' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('test.ramp.npy');
  const parts: Buffer[] = [];
  for await (const part of await file.createReadStream()) {
    parts.push(part as Buffer);
  }
  const bytes = Buffer.concat(parts);
  expect(bytes.subarray(0, 6).toString('latin1')).toBe('\x93NUMPY');
  const length = bytes.readUInt16LE(8);
  const header = bytes.subarray(10, 10 + length).toString();
  expect(header).toContain("'descr': '<f4'");
  expect(header).toContain("'shape': (8, 12)");
  const data = bytes.subarray(10 + length);
  expect(data.length).toBe(96 * 4);
  expect(data.readFloatLE(0)).toBe(-48);
  expect(data.readFloatLE(95 * 4)).toBe(47);
});

test('without a network the page opens and works', async ({ browser }) => {
  const context = await browser.newContext({ baseURL: LOCAL, serviceWorkers: 'allow' });
  const page = await context.newPage();
  await page.goto('./');
  await page.evaluate(() => navigator.serviceWorker.ready);
  // The service worker now controls the page.
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.reload();
  await page.locator('[data-sample="oinf"]').click();
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('OINF');
  await page.locator('input[type=file]').setInputFiles('dist/local/samples/autoencoder.zt');
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('zTensor');
  await context.close();
});

test('the manifest makes the page installable', async ({ request }) => {
  const manifest = await (await request.get('./manifest.webmanifest')).json();
  expect(manifest).toMatchObject({ name: 'Weighbridge', display: 'standalone', start_url: './' });
  expect(manifest.icons.length).toBeGreaterThan(0);
  for (const { src } of manifest.icons) {
    expect((await request.get(src)).ok()).toBe(true);
  }
});
