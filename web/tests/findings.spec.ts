import { readFileSync } from 'node:fs';
import { safetensors, written } from './files.ts';
import { expect, openFiles, openSample, sampleFile, samples, test } from './page.ts';

test('every finding has a rule, a sentence, the specification and a place', async ({ page }) => {
  await openSample(page, 'oinf-broken');
  const findings = page.locator('.finding');
  await expect(findings.first()).toBeVisible();
  const count = await findings.count();
  expect(count).toBeGreaterThanOrEqual(3);
  for (let i = 0; i < count; i++) {
    const finding = findings.nth(i);
    await expect(finding.locator('.rule')).toHaveText(/^[\w.-]+$/);
    await expect(finding.locator('.severity')).toHaveText(/fatal error|violation|remark/);
    await expect(finding.locator('.message')).toHaveText(/\w{3,}/);
    await expect(finding.locator('.spec').first()).toHaveText(/^Specification(, implied| silent)?: .{5,}/);
    await expect(finding.locator('.finding-where')).toContainText(/0x[\dA-F]+/);
  }
});

test('findings stand in file order', async ({ page }) => {
  await openSample(page, 'oinf-broken');
  await expect(page.locator('.finding').first()).toBeVisible();
  const places = await page.locator('.finding-where button:first-child').allTextContents();
  const offsets = places.map((text) => Number(/0x[\dA-F]+/.exec(text)![0]));
  expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
});

test('a finding jumps to its bytes, which are marked', async ({ page }) => {
  await openSample(page, 'oinf-broken');
  const where = page.locator('.finding-where button').first();
  const [from, to] = (await where.textContent())!.match(/0x[\dA-F]+/g)!.map(Number);
  await where.click();
  await expect(page.getByRole('tab', { name: 'Hex' }).first()).toHaveAttribute('aria-selected', 'true');
  const bytes = readFileSync(sampleFile('tiny-lm-broken.oinf')).subarray(from, to);
  const expected = [...bytes].map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ');
  const marked = page.locator('.hex-bytes mark');
  await expect.poll(async () => (await marked.allTextContents()).join(' ')).toBe(expected);
});

test('a finding gives the reason for its rule where the specification is silent', async ({ page }) => {
  const file = safetensors({ w: { dtype: 'F32', data: Float32Array.of(1) } });
  await openFiles(page, written({ 'model.safetensors': Buffer.concat([file, Buffer.from([0])]) }));
  const finding = page.locator('.finding[data-rule="TRAILING"]');
  await expect(finding.locator('.why')).toHaveText(/^Why: the buffer must be indexed entirely/);
});

test('the counts of the verdict are those of the list', async ({ page }) => {
  await openSample(page, 'stb-broken');
  await expect(page.locator('.finding').first()).toBeVisible();
  const counts = (await page.locator('.verdict-counts').textContent())!.match(/\d+/g)!.map(Number);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(await page.locator('.finding').count());
});

test('a wrong checksum is found in the payloads', async ({ page }) => {
  await openSample(page, 'ztensor-broken');
  await expect(page.locator('.stage-done')).toHaveText(['Structure checked', 'Payloads checked']);
  await expect(page.locator('.finding .message', { hasText: /checksum/i }).first()).toBeVisible();
});

test('severity shows by shape and word, not by colour alone', { tag: '@deep' }, async ({ page }) => {
  for (const { id } of samples.filter(({ sound }) => !sound)) {
    await openSample(page, id);
    await expect(page.locator('.verdict-head .icon-fatal')).toBeVisible();
    await expect(page.locator('.verdict-head')).toHaveText('Invalid');
    const first = page.locator('.finding').first();
    await expect(first.locator('.icon')).toBeVisible();
    await expect(first.locator('.severity')).not.toBeEmpty();
  }
});

test('more findings are added once, stay, and take over the focus', async ({ page }) => {
  // All tensors have the same bytes.
  const tensors = Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`t${i}`, { dtype: 'F32', data: Float32Array.of(1), from: 0 }]));
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  const findings = page.locator('.finding');
  const total = Number(/\d+/.exec((await page.locator('.verdict-counts').textContent())!));
  expect(total).toBeGreaterThan(200);
  await expect(findings).toHaveCount(100);
  await expect(findings.first().getByRole('button', { name: /^Open tensor t\d+$/ })).toBeVisible();
  const more = page.locator('.findings-view .more');
  await more.evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await expect(more).toHaveText(`Show ${total - 200} more of ${total - 200}`);
  await expect(findings).toHaveCount(200);
  await more.press('Enter');
  await expect(more).toBeHidden();
  await expect(findings).toHaveCount(total);
  expect(new Set(await findings.allTextContents()).size).toBe(total);
  await expect(findings.nth(200).getByRole('button').first()).toBeFocused();
  // Drawn again, with another profile.
  await page.getByRole('button', { name: 'Lenient' }).evaluate((button: HTMLElement) => button.click());
  await expect(findings).toHaveCount(total);
  await expect(findings.nth(200).getByRole('button').first()).toBeFocused();
});
