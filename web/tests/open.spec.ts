import { readFileSync, writeFileSync } from 'node:fs';
import { OpenFile } from '../src/file.ts';
import { safetensors, written } from './files.ts';
import { expect, openFiles, openSample, openTensor, panelTab, sampleFile, samples, settled, test } from './page.ts';

const formats = [...new Set(samples.map(({ format }) => format))];

test('there is a sound and a broken sample of every format', () => {
  expect(formats.sort()).toEqual(['bintensors', 'dduf', 'executorch', 'gguf', 'idv', 'npy', 'npz', 'oinf', 'onnx', 'pytorch', 'safetensors', 'shards', 'stb', 'tflite', 'ztensor']);
  for (const format of formats) {
    // zTensor has samples of two generations.
    const each = format === 'ztensor' ? 2 : 1;
    expect(samples.filter((sample) => sample.format === format).map(({ sound }) => sound).sort()).toEqual([...Array(each).fill(false), ...Array(each).fill(true)]);
  }
});

/** Formats with rules for payloads (checksums, compressed data) that their samples cover. */
const RULED = new Set(['idv', 'npz', 'pytorch', 'ztensor']);

for (const { id, file, title, format, sound } of samples.filter(({ format }) => format !== 'dduf')) {
  test(`opens ${file}, which is ${sound ? 'sound' : 'broken'}`, async ({ page }) => {
    await page.goto('./');
    await page.locator(`[data-sample="${id}"]`).click();
    await settled(page);
    await expect(page.locator('.verdict-facts strong')).toHaveText(title);
    const state = page.locator('.verdict');
    if (sound) {
      await expect(state).toHaveAttribute('data-state', /^(valid|remarks)$/);
      // Without rules for payloads, the verdict does not mention them.
      const ruled = RULED.has(format);
      await expect(page.locator('.verdict-head')).toHaveText(ruled ? /^Valid/ : /^Structure valid/);
      await expect(page.locator('.stage-done')).toHaveText(ruled ? ['Structure checked', 'Payloads checked'] : []);
      await expect(page.locator('.stage', { hasText: 'Weights not scanned' })).toHaveCount(format === 'idv' ? 0 : 1);
      await expect(page.locator('.tensor-table .v-list [data-status=sound]').first()).toBeVisible();
    } else {
      await expect(state).toHaveAttribute('data-state', 'invalid');
      // Findings are shown first.
      await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true');
      await expect(page.locator('.finding').first()).toBeVisible();
    }
  });
}

test('drag and drop of several files', async ({ page }) => {
  await page.goto('./');
  const names = ['micro.stb', 'digits.bt'];
  const files = names.map((name) => ({ name, bytes: [...readFileSync(sampleFile(name))] }));
  const transfer = await page.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const { name, bytes } of list) {
      transfer.items.add(new File([new Uint8Array(bytes)], name));
    }
    return transfer;
  }, files);
  await page.dispatchEvent('main', 'dragenter', { dataTransfer: transfer });
  await expect(page.locator('body')).toHaveClass(/dragging/);
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
  await expect(page.locator('body')).not.toHaveClass(/dragging/);
  await expect(page.locator('.file-name')).toHaveText(names);
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('BinTensors');
  await page.locator('.file-name').first().click();
  await expect(page.locator('.verdict-facts')).toContainText('STB');
});

test('what went wrong with one file stays while others are opened', async ({ page }, info) => {
  const changing = info.outputPath('changing.stb');
  writeFileSync(changing, 'before');
  await page.goto('./');
  const picker = page.locator('input[type=file]');
  await picker.evaluate((input) => input.addEventListener('change', (event) => event.stopImmediatePropagation(), { once: true, capture: true }));
  await picker.setInputFiles([changing, sampleFile('micro.stb')]);
  writeFileSync(changing, 'changed since it was chosen');
  await picker.dispatchEvent('change');
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText('micro.stb');
  await expect(page.getByRole('alert')).toContainText('Opening changing.stb:');
  await page.getByRole('button', { name: 'Dismiss' }).press('Enter');
  await expect(page.getByRole('grid', { name: 'Tensors' })).toBeFocused();
});

test('a sample in the address is opened once; one that there is not is named', async ({ page }) => {
  await openSample(page, 'oinf');
  const visit = (hash: string) => page.evaluate((to) => void (location.hash = to), hash);
  await visit('#sample=stb');
  await expect(page.locator('.verdict-facts')).toContainText('STB');
  await settled(page);
  await visit('#sample=oinf&view=hex');
  await expect(page.locator('.file:visible .verdict-facts')).toContainText('OINF');
  await expect(page.getByRole('tab', { name: 'Hex' }).first()).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.file-name')).toHaveCount(2);
  await visit('#sample=nosuch');
  await expect(page.getByRole('alert')).toHaveText(/There is no sample called nosuch/);
  await expect(page).toHaveURL(/#view=hex&sample=oinf|#sample=oinf&view=hex/);
});

test('paste of a file', async ({ page }) => {
  await page.goto('./');
  const bytes = [...readFileSync(sampleFile('micro.stb'))];
  await page.evaluate((list) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([new Uint8Array(list)], 'pasted.stb'));
    dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  }, bytes);
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText('pasted.stb');
});

test('a file of no known format is refused with a rule', async ({ page }) => {
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('just some text, long enough to be read as a header') });
  await settled(page);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'invalid');
  await expect(page.locator('.finding .rule')).toHaveText('UNKNOWN-FORMAT');
});

test('an empty file is refused with a rule', async ({ page }) => {
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles({ name: 'empty.oinf', mimeType: '', buffer: Buffer.alloc(0) });
  await settled(page);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'invalid');
  await expect(page.locator('.finding')).not.toHaveCount(0);
});

test('a file of another kind is called by its name', async ({ page }) => {
  await page.goto('./');
  const buffer = Buffer.from('\x89HDF\r\n\x1A\n and so on', 'latin1');
  await page.locator('input[type=file]').setInputFiles({ name: 'weights.safetensors', mimeType: '', buffer });
  await settled(page);
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'unsupported');
  await expect(page.locator('.verdict-head')).toHaveText('Not supported: an HDF5 file');
  await expect(page.locator('.verdict-diagnosis')).toBeHidden();
  // Nothing can be checked, so no check is offered.
  await expect(page.locator('.verdict-checked')).toHaveText('');
});

test('a file that is cut off is called that, and a sound one nothing', async ({ page }) => {
  const bytes = readFileSync(sampleFile('micro.stb'));
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles({ name: 'cut.stb', mimeType: '', buffer: bytes.subarray(0, bytes.length - 1) });
  await settled(page);
  await expect(page.locator('.verdict-head')).toHaveText('Truncated');
  await expect(page.locator('.verdict-counts')).toHaveText('1 byte short: download it again');
  await expect(page.locator('.verdict-diagnosis')).toBeHidden();
  await openFiles(page, sampleFile('micro.stb'));
  await expect(page.locator('.verdict-head')).not.toHaveText('Truncated');
});

test('files are closed one by one, down to the start page', async ({ page }) => {
  await openFiles(page, [sampleFile('micro.stb'), sampleFile('digits.bt')]);
  await expect(page.locator('.file-name')).toHaveCount(2);
  await page.getByRole('button', { name: 'Close digits.bt' }).click();
  await expect(page.locator('.verdict-facts')).toContainText('STB');
  await page.getByRole('button', { name: 'Close micro.stb' }).click();
  await expect(page.getByRole('heading', { name: 'Drop a tensor file' })).toBeVisible();
});

test('a button pressed twice acts once', async ({ page }) => {
  await page.goto('./');
  await page.locator('[data-sample=stb]').evaluate((sample: HTMLElement) => [sample.click(), sample.click()]);
  await settled(page);
  await page.locator('input[type=file]').setInputFiles(['digits.bt', 'tiny-lm.oinf'].map(sampleFile));
  await expect(page.locator('.file-name')).toHaveText(['micro.stb', 'digits.bt', 'tiny-lm.oinf']);
  await settled(page);
  await page.getByRole('button', { name: 'Close tiny-lm.oinf' }).evaluate((close: HTMLElement) => [close.click(), close.click()]);
  // The others are still open.
  await page.locator('.file-name').first().click();
  await expect(page.getByRole('tab', { name: 'Compare' })).toBeVisible();
});

test('a closed file is not read any more', async ({ page }) => {
  await page.clock.install();
  await openFiles(page, [sampleFile('micro.stb'), sampleFile('tiny-lm.oinf')]);
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await openTensor(page, 'embed.weight');
  await panelTab(page, 'Heat map');
  await expect(page.locator('.heat-canvas')).toBeVisible();
  await page.evaluate(() => {
    document.querySelector('.heat-canvas')!.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }));
    document.querySelector<HTMLElement>('[aria-label="Close tiny-lm.oinf"]')!.click();
  });
  await page.clock.runFor(1000);
  await page.getByRole('tab', { name: 'Hex' }).click();
  await expect(page.locator('.hex-row').first()).toContainText('00');
  await expect(page.locator('.alert')).toBeHidden();
});

test('checks follow each other, and the verdict is that of the profile chosen last', async () => {
  const audits: string[] = [];
  const answers: (() => void)[] = [];
  const api = {
    audit: async (_: number, depth: string) => void audits.push(depth),
    verdict: (_: number, profile: string) => new Promise((resolve) => answers.push(() => resolve({ profile }))),
    findingGroups: async () => [],
  };
  const tasks = { run: (_: string, work: (options: object) => Promise<unknown>) => work({}) };
  const file = new OpenFile({ id: 1 } as never, { api, with: () => api } as never, tasks as never, () => undefined);
  const both = Promise.all([file.audit('structure'), file.audit('payloads')]);
  for (const depths of [['structure'], ['structure', 'payloads']]) {
    await expect.poll(() => answers.length).toBe(depths.length);
    expect(audits).toEqual(depths);
    answers.at(-1)!();
  }
  await both;
  const choices = Promise.all([file.validate('lenient'), file.validate('strict')]);
  answers.reverse().forEach((answer) => answer());
  await choices;
  expect(file.verdict).toEqual({ profile: 'strict' });
});

test('lenient accepts what is forbidden but readable', async ({ page }) => {
  await openSample(page, 'bintensors-broken');
  await expect(page.locator('.verdict-head')).toHaveText('Invalid');
  await page.getByLabel('Profile').selectOption('lenient');
  await expect(async () => {
    const fatal = await page.locator('.finding[data-severity=fatal]').count();
    expect(await page.locator('.verdict').getAttribute('data-state')).toBe(fatal > 0 ? 'invalid' : 'remarks');
  }).toPass();
});

test('a file that opens does not take the front from one that is in use', async ({ page }) => {
  const tensors = (name: string) => safetensors({ [`${name}.bias`]: { dtype: 'F32', data: Float32Array.of(1) } });
  await page.goto('./');
  await expect.poll(() => page.workers().length).toBe(1);
  // The second file cannot be read until the user has begun to type.
  await page.workers()[0].evaluate(() => {
    const { slice } = Blob.prototype;
    const freed = new Promise((free) => Object.assign(self, { free }));
    File.prototype.slice = function (...range) {
      const part = slice.apply(this, range);
      return this.name !== 'b.safetensors' ? part : ({ arrayBuffer: async () => freed.then(() => part.arrayBuffer()) } as Blob);
    };
  });
  await page.locator('input[type=file]').setInputFiles(written({ 'a.safetensors': tensors('a'), 'b.safetensors': tensors('b'), 'c.safetensors': tensors('c') }));
  await expect(page.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(page.locator('#files')).toHaveAttribute('aria-busy', 'true');
  await page.getByRole('searchbox').fill('bias');
  await page.workers()[0].evaluate(() => (self as unknown as { free(): void }).free());
  await expect(page.locator('.file-name')).toHaveText(['a.safetensors', 'b.safetensors', 'c.safetensors']);
  await settled(page);
  await expect(page.locator('.file-name[aria-current=true]')).toHaveText('a.safetensors');
  await expect(page.getByRole('searchbox')).toHaveValue('bias');
  await expect(page.getByRole('searchbox')).toBeFocused();
  // Nothing is in use any more: the next file is shown.
  await page.locator('input[type=file]').setInputFiles(written({ 'd.safetensors': tensors('d') }));
  await expect(page.locator('.file-name[aria-current=true]')).toHaveText('d.safetensors');
});
