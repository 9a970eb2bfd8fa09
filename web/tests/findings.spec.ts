import { readFileSync } from 'node:fs';
import { gguf, safetensors, written } from './files.ts';
import { expect, openFiles, openSample, sampleFile, samples, settled, test } from './page.ts';

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

test('findings stand by severity, and those of a rule in file order', async ({ page }) => {
  for (const { id } of samples.filter(({ format, sound }) => !sound && format !== 'dduf')) {
    await openSample(page, id);
    await expect(page.locator('.finding').first()).toBeVisible();
    const ranks = await page.locator('.finding').evaluateAll((cards) => cards.map((card) => ['fatal', 'violation', 'lint', 'note', 'unchecked'].indexOf((card as HTMLElement).dataset.severity!)));
    expect(ranks, id).toEqual([...ranks].sort((a, b) => a - b));
    const rules = await page.locator('.finding .rule').allTextContents();
    expect(new Set(rules).size, id).toBe(rules.length);
  }
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
  const total = counts.reduce((sum, count) => sum + count, 0);
  const listed = await page.locator('.finding').evaluateAll((cards) => cards.map((card) => Number((card as HTMLElement).dataset.count)));
  expect(listed.reduce((sum, count) => sum + count, 0)).toBe(total);
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveText(`Findings${total}`);
});

test('a wrong checksum is found in the payloads', async ({ page }) => {
  await openSample(page, 'ztensor-broken');
  await expect(page.locator('.stage-done')).toHaveText(['Structure checked', 'Payloads checked']);
  await expect(page.locator('.finding .message', { hasText: /checksum/i }).first()).toBeVisible();
});

test('severity shows by shape and word, not by colour alone', { tag: '@deep' }, async ({ page }) => {
  for (const { id } of samples.filter(({ format, sound }) => !sound && format !== 'dduf')) {
    await openSample(page, id);
    await expect(page.locator('.verdict-head .icon-fatal')).toBeVisible();
    await expect(page.locator('.verdict-head')).toHaveText('Invalid');
    const first = page.locator('.finding').first();
    await expect(first.locator('.icon')).toBeVisible();
    await expect(first.locator('.severity')).not.toBeEmpty();
  }
});

test('findings of a rule are one card, whose list grows, stays, and takes over the focus', async ({ page }) => {
  // All tensors have the same bytes.
  const tensors = Object.fromEntries(Array.from({ length: 251 }, (_, i) => [`t${i}`, { dtype: 'F32', data: Float32Array.of(1), from: 0 }]));
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  const card = page.locator('.finding').first();
  const items = card.locator('.finding-item');
  const total = Number(await card.getAttribute('data-count'));
  expect(total).toBeGreaterThan(200);
  await expect(card.locator('.severity')).toHaveText(new RegExp(`^${total} (violations|fatal errors)$`));
  await expect(items).toHaveCount(5);
  await expect(items.first().getByRole('button', { name: /^Open tensor t\d+$/ })).toBeVisible();
  const more = card.locator('.more');
  await more.evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await expect(items).toHaveCount(105);
  await expect(more).toHaveText(`Show 100 more of ${total - 105}`);
  // A press while items are on their way is ignored, as the second click above is.
  await more.press('Enter');
  await expect(items).toHaveCount(205);
  await more.press('Enter');
  await expect(more).toBeHidden();
  await expect(items).toHaveCount(total);
  expect(new Set(await items.allTextContents()).size).toBe(total);
  await expect(items.nth(205).getByRole('button').first()).toBeFocused();
  // Drawn again, with another profile.
  await page.getByLabel('Profile').evaluate((choice: HTMLSelectElement) => {
    choice.value = 'lenient';
    choice.dispatchEvent(new Event('change'));
  });
  await expect(items).toHaveCount(total);
  await expect(items.nth(205).getByRole('button').first()).toBeFocused();
});

test('a chat template is a note that leads to it, and the model is valid', async ({ page }) => {
  const keys = { 'general.architecture': 'llama', 'tokenizer.chat_template': '{{ messages[0].content }}' };
  await openFiles(page, written({ 'model.gguf': gguf(keys, { w: { type: 0, shape: [32], data: Buffer.alloc(128) } }) }));
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('.verdict-counts')).toHaveText('1 note');
  await expect(page.locator('.legend-mark')).toHaveAttribute('data-part', 'note');
  await page.getByRole('button', { name: 'Chat template' }).press('Enter');
  await expect(page.locator('.template-text')).toContainText('messages[0]');
  await page.getByRole('tab', { name: /^Findings/ }).click();
  await expect(page.locator('.finding .severity')).toHaveText('note');
});

for (const [what, name, bytes, head, advice] of [
  ['a Git LFS pointer', 'model.safetensors', `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 500\n`, 'Not a model: a Git LFS pointer', 'git lfs pull'],
  ['a web page', 'model.gguf', '<!DOCTYPE html><html><title>404</title></html>', /^Not a model: /, 'A server sent this'],
  ['an HDF5 file', 'model.h5', '\x89HDF\r\n\x1A\n and so on', 'Not supported: an HDF5 file', 'safetensors'],
  ['a Xet pointer', 'model.safetensors', '# xet version 0\nfilesize = 500\n', 'Not a model: a Xet pointer', 'Download the file itself'],
  ['compressed data', 'model.gguf.gz', '\x1f\x8b\x08\0\0\0\0\0 and so on', 'Not supported: data compressed with gzip', 'Unpack it'],
  ['a GGML file', 'model.bin', 'lmgg and the tensors of a model', 'Not supported: a GGML file, which GGUF has replaced', 'as .gguf'],
  ['an empty file', 'model.gguf', '', 'Not a model: an empty file', 'did not finish'],
  ['a file of no known format', 'notes.txt', 'just some text, long enough to be read as a header', 'Not a model: a file of no known format', 'safetensors'],
] as const) {
  test(`${what} is one card that says what to do`, async ({ page }) => {
    await page.goto('./');
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer: Buffer.from(bytes, 'latin1') });
    await settled(page);
    await expect(page.locator('.verdict-head')).toHaveText(head);
    await expect(page.locator('.foreign-card h2')).toHaveText(/^This is (?:an? |data ).*, not a model\.$/);
    await expect(page.locator('.foreign-card')).toContainText(advice);
    await expect(page.getByRole('tablist', { name: 'Views of the file' }).getByRole('tab')).toHaveText(['About', 'Hex']);
    for (const gone of ['.strip', '.profile', '.verdict-diagnosis', '.finding']) {
      await expect(page.locator(gone).first()).toBeHidden();
    }
    await expect(page.locator('.verdict-facts')).not.toContainText('tensors', { useInnerText: true });
    await page.locator('.foreign-card summary').press('Enter');
    await expect(page.locator('.foreign-card .finding').first()).toBeVisible();
    await page.getByRole('tab', { name: 'Hex' }).click();
    await expect(page.locator('.hex-row')).not.toHaveCount(bytes === '' ? 1 : 0);
  });
}
