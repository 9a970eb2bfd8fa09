import { readFileSync } from 'node:fs';
import type { BrowserContext } from '@playwright/test';
import { BY_URL, LOCAL, expect, openTensor, panelTab, sampleFile, settled, test } from './page.ts';

test.use({ baseURL: BY_URL });

/** Serves the samples, with or without range requests. */
async function serve(context: BrowserContext, ranges: boolean, spoil?: (from: number, to: number) => { range?: string; to?: number } | undefined): Promise<{ ranges: string[]; bytes: number }> {
  const seen = { ranges: [] as string[], bytes: 0 };
  await context.route('https://files.test/**', async (route) => {
    const request = route.request();
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'range', 'access-control-expose-headers': 'content-range' };
    if (request.method() === 'OPTIONS') {
      await route.fulfill({ status: 204, headers });
      return;
    }
    const bytes = readFileSync(sampleFile(new URL(request.url()).pathname.slice(1).replace('%ff', '')));
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers().range ?? '');
    seen.ranges.push(request.headers().range ?? 'all');
    if (!ranges || range === null) {
      await route.fulfill({ status: 200, headers, body: bytes });
      return;
    }
    const [from, to] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
    seen.bytes += to - from + 1;
    const spoilt = spoil?.(from, to);
    await route.fulfill({
      status: 206,
      headers: { ...headers, 'content-range': spoilt?.range ?? `bytes ${from}-${to}/${bytes.length}` },
      body: bytes.subarray(from, (spoilt?.to ?? to) + 1),
    });
  });
  return seen;
}

test('opens by address, in ranges that are few and rounded', async ({ page, context }) => {
  const seen = await serve(context, true);
  await page.goto('./');
  await page.getByLabel('Address of a file').fill('https://files.test/tiny-lm.oinf');
  await page.getByRole('button', { name: 'Open address' }).click();
  await settled(page);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', /valid|remarks/);
  await expect(page.locator('.tensor-table')).toContainText('embed.weight');
  // The payloads of a remote file are not read without a request.
  await expect(page.locator('.stage', { hasText: 'Weights not scanned' })).toBeVisible();
  expect(seen.ranges[0]).toBe('bytes=0-65535');
  expect(seen.ranges.length).toBeLessThanOrEqual(5);
  expect(seen.ranges).not.toContain('all');
  await expect(page).toHaveURL(/#url=https%3A%2F%2Ffiles\.test%2Ftiny-lm\.oinf/);
});

for (const [what, spoil, said] of [
  ['another part', (from: number, to: number) => ({ range: `bytes ${from + 1}-${to + 1}/99999999` }), /was asked for bytes \d+-\d+ of \d+ and sent bytes \d+-\d+\/99999999/],
  ['less', (_: number, to: number) => ({ to: to - 10 }), /sent only \d+ of the \d+ bytes requested at offset/],
] as const) {
  test(`a server that sends ${what} than it was asked for is found out`, { tag: '@deep' }, async ({ page, context }) => {
    let spoiling = false;
    await serve(context, true, (from, to) => (spoiling ? spoil(from, to) : undefined));
    await page.goto('./');
    await page.getByLabel('Address of a file').fill('https://files.test/tiny-lm.oinf');
    await page.getByRole('button', { name: 'Open address' }).click();
    await settled(page);
    await openTensor(page, 'embed.weight');
    spoiling = true;
    await panelTab(page, 'Statistics');
    await page.getByRole('button', { name: 'Compute statistics' }).click();
    await expect(page.getByRole('alert')).toContainText(said);
  });
}

test('an address with a key stays out of the address bar, and need not be UTF-8', { tag: '@deep' }, async ({ page, context }) => {
  await serve(context, true);
  await page.goto('./#url=https%3A%2F%2Ffiles.test%2Fmicro%25ff.stb%3Ftoken%3Dsecret');
  await expect(page.getByRole('alert')).toContainText('token=secret');
  await expect(page).not.toHaveURL(/secret/);
  await page.getByRole('button', { name: 'Open it' }).click();
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText('micro%ff.stb');
  await expect(page).not.toHaveURL(/secret|url=/);
});

test('a server without ranges is named, and nothing is downloaded', { tag: '@deep' }, async ({ page, context }) => {
  const seen = await serve(context, false);
  await page.goto('./');
  await page.getByLabel('Address of a file').fill('https://files.test/tiny-lm.oinf');
  await page.getByRole('button', { name: 'Open address' }).click();
  await expect(page.getByRole('alert')).toContainText('files.test does not support range requests');
  await expect(page.getByRole('alert')).toContainText('was not downloaded');
  expect(seen.ranges).toEqual(['bytes=0-65535']);
});

test('an address in a link is followed only when the user says so', { tag: '@deep' }, async ({ page, context }) => {
  const seen = await serve(context, true);
  await page.goto('./#url=https%3A%2F%2Ffiles.test%2Fmicro.stb');
  await expect(page.getByRole('alert')).toContainText('https://files.test/micro.stb');
  expect(seen.ranges).toEqual([]);
  await page.getByRole('button', { name: 'Open it' }).click();
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('STB');
});

test('a question that is dismissed does not stop the history', async ({ page }) => {
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
  await settled(page);
  await page.evaluate(() => void (location.hash = '#url=https%3A%2F%2Ffiles.test%2Fmicro.stb'));
  const dismiss = page.getByRole('button', { name: 'Dismiss' });
  await dismiss.focus();
  // A press that was meant for this question does not answer the next one with yes.
  await page.evaluate(() => void (location.hash = '#url=https%3A%2F%2Ffiles.test%2Fdigits.bt'));
  await expect(page.getByRole('alert')).toContainText('digits.bt');
  await expect(dismiss).toBeFocused();
  await dismiss.click();
  await expect(page).not.toHaveURL(/url=/);
  const length = await page.evaluate(() => history.length);
  await page.getByRole('tab', { name: 'Hex' }).click();
  await expect(page).toHaveURL(/#view=hex$/);
  expect(await page.evaluate(() => history.length)).toBe(length + 1);
});

test('a link that is opened after Back has an entry of its own', async ({ page, context }) => {
  await serve(context, true);
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
  await settled(page);
  await page.evaluate(() => void (location.hash = '#url=https%3A%2F%2Ffiles.test%2Fdigits.bt'));
  await expect(page.getByRole('alert')).toContainText('digits.bt');
  await page.goBack();
  await expect(page).not.toHaveURL(/url=/);
  await page.getByRole('button', { name: 'Open it' }).click();
  await expect(page.locator('[aria-current=true]')).toHaveText('digits.bt');
  await expect(page).toHaveURL(/url=/);
  await page.goBack();
  await expect(page.locator('[aria-current=true]')).toHaveText('micro.stb');
});

test('an address is opened once', async ({ page, context }) => {
  await serve(context, true);
  await page.goto('./');
  await page.getByLabel('Address of a file').fill('https://files.test/micro.stb');
  await page.getByRole('button', { name: 'Open address' }).evaluate((button: HTMLElement) => [button.click(), button.click()]);
  await settled(page);
  await page.locator('input[type=file]').setInputFiles(sampleFile('digits.bt'));
  await expect(page.locator('.file-name')).toHaveText(['micro.stb', 'digits.bt']);
});

test('plain http is refused', async ({ page }) => {
  await page.goto('./');
  await page.getByLabel('Address of a file').fill('http://files.test/tiny-lm.oinf');
  await page.getByRole('button', { name: 'Open address' }).click();
  await expect(page.getByRole('alert')).toContainText('Only https addresses');
});

test('the other build has no field for addresses', { tag: '@deep' }, async ({ page }) => {
  await page.goto(LOCAL);
  await expect(page.locator('.sample')).not.toHaveCount(0);
  await expect(page.getByLabel('Address of a file')).toHaveCount(0);
});
