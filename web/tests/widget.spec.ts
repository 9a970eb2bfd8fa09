/** The single-file element as notebooks use it: an anywidget widget with a mock model. */

import { statSync } from 'node:fs';
import type { Locator } from '@playwright/test';
import { exposeRanges, modelIsShown, test } from './embed.ts';
import { gguf, safetensors } from './files.ts';
import { TRIALS, expect, sampleFile, samples } from './page.ts';

/** Allows a worker from the file itself, and no server at all. */
const POLICY = "default-src 'none'; script-src 'nonce-one' 'wasm-unsafe-eval'; worker-src blob:; base-uri 'none'";

/** Loads the widget as anywidget does, and plays the kernel. */
const BODY = `
  <div id="cell"></div>
  <div id="again"></div>
  <script type="module" nonce="one">
    import widget from '/single/weighbridge-viewer.js';
    const state = { name: window.file.name, height: 500, theme: '', report: null };
    const listeners = new Set();
    window.sent = [];
    const model = {
      state,
      get: (name) => state[name],
      set: (name, value) => { state[name] = value; },
      save_changes: () => { window.saved = JSON.parse(JSON.stringify(state)); },
      on: (name, listener) => name === 'msg:custom' && listeners.add(listener),
      off: (name, listener) => listeners.delete(listener),
      async send(content) {
        window.sent.push(content);
        const bytes = content.kind === 'read' ? await window.ranges(content.offset, content.length) : new Uint8Array();
        const answer = content.kind === 'open' ? [{ id: content.id, size: window.file.size }, []] : bytes === undefined ? [{ id: content.id, failure: 'The kernel says no.' }, []] : [{ id: content.id }, [new DataView(bytes.buffer)]];
        listeners.forEach((listener) => listener(...answer));
      },
    };
    window.listeners = listeners;
    window.leave = widget.render({ model, el: document.querySelector('#cell') });
    widget.render({ model, el: document.querySelector('#again') });
  </script>`;

interface Scope {
  saved: { report: { verdict: string; file: string } };
  sent: { kind: string; id: number; offset: number; length: number }[];
  listeners: Set<unknown>;
  keys: string[];
  leave(): void;
}

test('a widget shows what the kernel reads, in two cells', async ({ page, serve }) => {
  const sample = samples.find(({ id }) => id === 'gguf-broken')!;
  const path = sampleFile(sample.file);
  await exposeRanges(page, path);
  await page.addInitScript((file) => Object.assign(window, { file }), { name: sample.file, size: statSync(path).size });
  await page.goto(await serve(BODY, POLICY));
  const cell = page.locator('#cell weighbridge-viewer');
  for (const one of [cell, page.locator('#again weighbridge-viewer')]) {
    await expect(one.locator('.verdict')).toHaveAttribute('data-state', 'invalid');
    await expect(one.locator('.verdict-checked .icon-busy')).toHaveCount(0);
  }
  expect((await cell.boundingBox())!.height).toBe(500);
  // Only the verdict goes to the kernel, and only ranges come back.
  const scope = await page.evaluate(() => {
    const { saved, sent, listeners } = window as unknown as Scope;
    return { report: saved.report, sent, listeners: listeners.size };
  });
  expect(scope.report).toMatchObject({ verdict: 'invalid', file: sample.file, format: 'gguf' });
  expect(scope.sent.filter(({ kind }) => kind === 'open').length).toBe(2);
  expect(scope.sent.every(({ kind, length }) => kind === 'open' || (kind === 'read' && length <= 4 << 20))).toBe(true);
  expect(scope.listeners).toBe(2);
  await modelIsShown(cell);
  // The colours follow the notebook's theme.
  const surface = () => cell.locator('.file').evaluate((element) => getComputedStyle(element).backgroundColor);
  await page.evaluate(() => (document.body.dataset.jpThemeLight = 'false'));
  await expect.poll(surface).toBe('rgb(27, 30, 34)');
  await page.evaluate(() => (document.body.dataset.jpThemeLight = 'true'));
  await expect.poll(surface).toBe('rgb(255, 255, 255)');
  // Keys are not for the notebook, except to save it.
  await page.evaluate(() => {
    (window as unknown as Scope).keys = [];
    document.body.addEventListener('keydown', ({ key }) => (window as unknown as Scope).keys.push(key));
  });
  await cell.getByRole('tab', { name: 'Model' }).focus();
  await page.keyboard.press('d');
  await expect(page.locator('#cell')).toHaveAttribute('data-lm-suppress-shortcuts');
  await page.keyboard.press('Control+s');
  await expect(page.locator('#cell')).not.toHaveAttribute('data-lm-suppress-shortcuts');
  expect(await page.evaluate(() => (window as unknown as Scope).keys)).toEqual(['s']);
  // A cell that is cleared leaves nothing.
  await page.evaluate(() => (window as unknown as Scope).leave());
  await expect(cell).toHaveCount(0);
  expect(await page.evaluate(() => (window as unknown as Scope).listeners.size)).toBe(1);
  await expect.poll(() => page.workers().length).toBe(1);
});

test('a widget of 6 GB, and a kernel that fails', { tag: '@deep' }, async ({ page, serve }) => {
  const path = `${TRIALS}/big.stb`;
  const asked = await exposeRanges(page, path);
  await page.addInitScript((file) => Object.assign(window, { file }), { name: 'big.stb', size: statSync(path).size });
  await page.goto(await serve(BODY, POLICY));
  const cell = page.locator('#cell weighbridge-viewer');
  await expect(cell.locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
  await expect(cell.locator('.verdict-facts')).toContainText('6,000,000,064 B');
  expect(asked.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(2 << 20);
  await page.evaluate(() => Object.assign(window, { ranges: () => undefined }));
  await cell.getByRole('tab', { name: 'Hex' }).click();
  await cell.locator('.hex input').fill('5000000000');
  await cell.locator('.hex input').press('Enter');
  await expect(cell.getByRole('alert')).toContainText('The kernel says no.');
});

const settled = async (viewer: Locator, state: RegExp) => {
  await expect(viewer.locator('.verdict')).toHaveAttribute('data-state', state);
  await expect(viewer.locator('.verdict-checked .icon-busy')).toHaveCount(0);
};

/** A kernel with the files of a model, which opens them by name. */
const SEVERAL = `
  <div id="cell"></div>
  <script type="module" nonce="one">
    import widget from '/single/weighbridge-viewer.js';
    const [first] = window.given;
    const state = { name: first.name, height: 500, theme: '', report: null };
    const bytes = new Map(window.given.map(({ name, bytes }) => [name, new Uint8Array(bytes)]));
    const opened = new Set();
    window.sent = [];
    const answers = {
      open: () => [{ size: first.bytes.length, opening: 3, beside: true }, []],
      beside({ name }) {
        opened.add(name);
        return [bytes.has(name) ? { size: bytes.get(name).length } : name.includes('00003') ? {} : { failure: 'The kernel has no such file.' }, []];
      },
      read: ({ part, offset, length }) => part === undefined || opened.has(part) ? [{}, [new DataView(bytes.get(part ?? first.name).slice(offset, offset + length).buffer)]] : [{ failure: 'It was not opened.' }, []],
    };
    const listeners = new Set();
    widget.render({
      el: document.querySelector('#cell'),
      model: {
        get: (name) => state[name],
        set: () => undefined,
        save_changes: () => undefined,
        on: (name, listener) => name === 'msg:custom' && listeners.add(listener),
        off: (name, listener) => listeners.delete(listener),
        // As text, which is how a message of a notebook travels.
        send(content) {
          const asked = JSON.parse(JSON.stringify(content));
          window.sent.push(asked);
          const [answer, buffers] = answers[asked.kind](asked);
          setTimeout(() => listeners.forEach((listener) => listener({ id: asked.id, ...answer }, buffers)));
        },
      },
    });
  </script>`;

test('a widget shows the files of a model as one', async ({ page, serve }) => {
  const tensor = (number: number) => safetensors({ [`layers.${number}.weight`]: { dtype: 'F32', data: Float32Array.of(number, 2) } });
  const shard = (number: number) => `model-0000${number}-of-00004.safetensors`;
  const map = Object.fromEntries([1, 2, 3, 4].map((number) => [`layers.${number}.weight`, shard(number)]));
  const index = Buffer.from(JSON.stringify({ metadata: { total_size: 32 }, weight_map: map }));
  const given = [['model.safetensors.index.json', index] as const, [shard(1), tensor(1)] as const, [shard(2), tensor(2)] as const].map(([name, bytes]) => ({ name, bytes: [...bytes] }));
  await page.addInitScript((given) => Object.assign(window, { given }), given);
  await page.goto(await serve(SEVERAL, POLICY));
  const cell = page.locator('#cell weighbridge-viewer');
  // One file is missing, and one the kernel does not serve.
  await settled(cell, /^invalid$/);
  await expect(cell.locator('.tensor-table .v-list [role=row]:not([hidden]) .name bdi')).toHaveText(['layers.1.weight', 'layers.2.weight']);
  const sent = await page.evaluate(() => (window as unknown as { sent: { kind: string; opening?: number; name?: string; part?: string }[] }).sent);
  const beside = sent.filter(({ kind }) => kind === 'beside');
  expect(new Set(beside.map(({ name }) => name))).toEqual(new Set([1, 2, 3, 4].map(shard)));
  expect(sent.every(({ kind, opening }) => kind === 'open' || opening === 3)).toBe(true);
  expect(new Set(sent.filter(({ kind }) => kind === 'read').map(({ part }) => part))).toEqual(new Set([undefined, shard(1), shard(2)]));
});

test('a widget shows the parts of a split as one', async ({ page, serve }) => {
  const part = (number: number) => gguf({ ...(number === 1 && { 'general.architecture': 'llama' }), 'split.no': { u16: number - 1 }, 'split.count': { u16: 2 }, 'split.tensors.count': { i32: 2 } }, { [`blk.${number}.weight`]: { type: 0, shape: [2], data: Buffer.from(Float32Array.of(number, 2).buffer) } });
  const given = [2, 1].map((number) => ({ name: `m-0000${number}-of-00002.gguf`, bytes: [...part(number)] }));
  await page.addInitScript((given) => Object.assign(window, { given }), given);
  await page.goto(await serve(SEVERAL, POLICY));
  const cell = page.locator('#cell weighbridge-viewer');
  await settled(cell, /^(valid|remarks)$/);
  await expect(cell.locator('.tensor-table .v-list [role=row]:not([hidden]) .name bdi')).toHaveText(['blk.1.weight', 'blk.2.weight']);
});
