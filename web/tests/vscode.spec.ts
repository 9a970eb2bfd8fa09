/**
 * The VS Code editor: the built extension with a mock `vscode` module, and its web view in
 * Chromium under its own policy. The test relays their messages. VS Code itself is not started,
 * because its builds are not available as packages.
 */

import { copyFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join, posix, resolve } from 'node:path';
import type { Page } from '@playwright/test';
import { load } from 'weighbridge';
import { test, type Serve } from './embed.ts';
import { folder } from './files.ts';
import { TRIALS, expect, sampleFile, samples } from './page.ts';

const require = createRequire(import.meta.url);

class Uri {
  readonly scheme: string;
  readonly path: string;
  constructor(scheme: string, path: string) {
    this.scheme = scheme;
    this.path = path;
  }
  get fsPath(): string {
    return this.path;
  }
  static joinPath({ scheme, path }: Uri, ...parts: string[]): Uri {
    return new Uri(scheme, posix.join(path, ...parts));
  }
}

const listeners = () => {
  const all: ((value: unknown) => void)[] = [];
  return { all, on: (listener: (value: unknown) => void) => void all.push(listener) };
};

/** Starts an extension with a mock `vscode` and returns its status bar item and editors. */
function start(script: string) {
  const status = { text: '', tooltip: '', shown: false, show: () => (status.shown = true), hide: () => (status.shown = false) };
  const editors: Record<string, any> = {};
  const vscode = {
    Uri,
    StatusBarAlignment: { Right: 2 },
    window: {
      createStatusBarItem: () => status,
      registerCustomEditorProvider: (type: string, provider: unknown) => ((editors[type] = provider), { dispose: () => undefined }),
    },
    workspace: {
      fs: {
        stat: async ({ path }: Uri) => statSync(path),
        readFile: async ({ path }: Uri) => new Uint8Array(readFileSync(path)),
      },
    },
  };
  const loading = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };
  const original = loading._load;
  loading._load = (name, ...rest) => (name === 'vscode' ? vscode : original.call(loading, name, ...rest));
  try {
    const path = resolve(`dist/vscode/${script}`);
    delete require.cache[path];
    require(path).activate({ extensionUri: new Uri('file', '/vscode'), subscriptions: [] });
  } finally {
    loading._load = original;
  }
  return { status, editors };
}

/** Opens a file in an editor shown by the page. */
async function edit(page: Page, serve: Serve, provider: any, uri: Uri) {
  const asked: any[] = [];
  const said = listeners();
  const [active, disposed] = [listeners(), listeners()];
  const webview = {
    html: '',
    options: {},
    asWebviewUri: ({ path }: Uri) => ({ toString: () => path }),
    onDidReceiveMessage: said.on,
    postMessage: async (message: { bytes?: Uint8Array }) => {
      const text = message.bytes && Buffer.from(message.bytes).toString('base64');
      await page.evaluate(
        ([answer, bytes]) => {
          const data = bytes === undefined ? answer : { ...(answer as object), bytes: Uint8Array.from(atob(bytes as string), (c) => c.charCodeAt(0)) };
          window.postMessage(data);
        },
        [{ ...message, bytes: undefined }, text] as const,
      );
    },
  };
  const panel = { webview, active: true, onDidChangeViewState: active.on, onDidDispose: disposed.on };
  provider.resolveCustomEditor(provider.openCustomDocument(uri), panel);
  await page.exposeFunction('toExtension', (message: unknown) => {
    asked.push(message);
    said.all.forEach((listener) => listener(message));
  });
  await page.addInitScript(() => {
    document.addEventListener('DOMContentLoaded', () => (document.body.dataset.vscodeThemeKind = 'vscode-light'));
    Object.assign(window, { acquireVsCodeApi: () => ({ postMessage: (window as unknown as { toExtension(message: unknown): void }).toExtension }) });
  });
  await page.goto(await serve('', "frame-ancestors 'none'", webview.html));
  return { asked, panel, activate: active.all, dispose: () => disposed.all.forEach((listener) => listener(undefined)) };
}

const viewer = (page: Page) => page.locator('weighbridge-viewer');

test('the manifest has the names of all formats', async () => {
  const manifest = JSON.parse(readFileSync('dist/vscode/package.json', 'utf8'));
  const patterns = manifest.contributes.customEditors.flatMap(({ selector }: { selector: { filenamePattern: string }[] }) => selector.map(({ filenamePattern }) => filenamePattern));
  const known = (await load('full')).formats().flatMap(({ extensions }) => extensions.map((extension) => `*.${extension}`));
  expect(patterns.toSorted()).toEqual(known.toSorted());
  expect(patterns).toContain('*.safetensors');
  const { editors } = start('desktop.js');
  expect(Object.keys(editors)).toEqual(manifest.contributes.customEditors.map(({ viewType }: { viewType: string }) => viewType));
  for (const file of [manifest.main, manifest.browser, 'media/webview.js', 'media/weighbridge-viewer.js']) {
    expect(existsSync(`dist/vscode/${file}`)).toBe(true);
  }
  // The browser build requires only `vscode`.
  expect(readFileSync('dist/vscode/web.js', 'utf8').match(/require\("?[^)]*\)/g)?.map((call) => call.replace(/[`'"]/g, ''))).toEqual(['require(vscode)']);
});

test('an editor shows a file, and its verdict in the status bar', async ({ page, serve }) => {
  const sample = samples.find(({ id }) => id === 'safetensors-broken')!;
  const { status, editors } = start('desktop.js');
  const editor = await edit(page, serve, editors['weighbridge.viewer'], new Uri('file', resolve(sampleFile(sample.file))));
  await expect(viewer(page).locator('.verdict')).toHaveAttribute('data-state', 'invalid');
  await expect(viewer(page).locator('.verdict-checked .icon-busy')).toHaveCount(0);
  await expect.poll(() => status.text).toMatch(/^\$\(error\) Weighbridge: invalid, \d+ findings?$/);
  expect(status.shown).toBe(true);
  expect(status.tooltip).toContain('structure');
  expect(await viewer(page).locator('.file').evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(255, 255, 255)');
  // It fills the editor and is disposed with it.
  expect(await viewer(page).boundingBox()).toEqual({ x: 0, y: 0, width: 1280, height: 800 });
  editor.panel.active = false;
  editor.activate.forEach((listener) => listener(undefined));
  expect(status.shown).toBe(false);
  editor.dispose();
});

test('an editor of 6 GB reads ranges only, and no others than those of the file', async ({ page, serve }) => {
  const { editors } = start('desktop.js');
  const editor = await edit(page, serve, editors['weighbridge.viewer'], new Uri('file', resolve(TRIALS, 'big.stb')));
  await expect(viewer(page).locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
  await expect(viewer(page).locator('.verdict-facts')).toContainText('6,000,000,064 B');
  // The payloads are looked at after the verdict on the structure.
  await expect.poll(async () => {
    const before = editor.asked.length;
    await page.waitForTimeout(300);
    return editor.asked.length - before;
  }).toBe(0);
  const ranges = editor.asked.filter(({ kind }) => kind === 'read');
  // The file ends in zeros, so some pages are read to find where they begin.
  expect(ranges.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(4 << 20);
  // The page must not request more than that.
  const answers = await page.evaluate(async () => {
    const found: unknown[] = [];
    // The page itself still reads.
    addEventListener('message', ({ data }) => data.id >= 1e6 && found.push(data));
    const ask = (window as unknown as { toExtension(message: unknown): Promise<void> }).toExtension;
    await ask({ kind: 'read', id: 1e6, file: 0, offset: 0, length: (4 << 20) + 1 });
    await ask({ kind: 'read', id: 1e6 + 1, file: 0, offset: -1, length: 1 });
    await ask({ kind: 'read', id: 1e6 + 2, file: 0, offset: 6_000_000_064, length: 1 });
    await ask({ kind: 'read', id: 1e6 + 3, file: 0, offset: '0', length: 1 });
    await ask({ kind: 'read', id: 1e6 + 4, file: 1, offset: 0, length: 1 });
    while (found.length < 5) {
      await new Promise((done) => setTimeout(done, 20));
    }
    return found;
  });
  expect(answers.map((answer) => (answer as { failure: string }).failure)).toEqual(Array(5).fill(expect.stringContaining('are out of range')));
});

test('shards beside an index are found, on the desktop', async ({ page, serve }) => {
  const { editors } = start('desktop.js');
  const { asked } = await edit(page, serve, editors['weighbridge.index'], new Uri('file', resolve(sampleFile(samples.find(({ id }) => id === 'shards-broken')!.file))));
  await expect(viewer(page).locator('.verdict')).toHaveAttribute('data-state', 'invalid');
  await expect(viewer(page).locator('.verdict-facts')).toContainText('safetensors · 5 files');
  await expect(viewer(page).locator('.finding .rule')).toHaveText(['TENSOR-MISSING', 'SHARD-MISSING', 'TENSOR-ELSEWHERE']);
  expect(asked.filter(({ kind }) => kind === 'beside').map(({ name }) => name)).toHaveLength(4);
  // Files outside the set are refused.
  const answers = await page.evaluate(async () => {
    const found: unknown[] = [];
    addEventListener('message', ({ data }) => data.kind === 'beside' && found.push(data));
    const ask = (window as unknown as { toExtension(message: unknown): Promise<void> }).toExtension;
    const names = ['../x.gguf', '/etc/x.gguf', '..\\x.gguf', 'index.json', '..', 'x.gguf\0', '', 7];
    for (const [i, name] of names.entries()) {
      await ask({ kind: 'beside', id: 1e6 + i, name });
    }
    while (found.length < names.length) {
      await new Promise((done) => setTimeout(done, 20));
    }
    return found;
  });
  expect(answers.map((answer) => (answer as { failure: string }).failure)).toEqual(Array(8).fill('only tensor files in the same folder can be opened'));
});

test('in the browser files are read as a whole, up to a limit', { tag: '@deep' }, async ({ page, serve }) => {
  const sample = samples.find(({ id }) => id === 'gguf')!;
  const { status, editors } = start('web.js');
  await edit(page, serve, editors['weighbridge.viewer'], new Uri('vscode-vfs', resolve(sampleFile(sample.file))));
  await expect(viewer(page).locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
  await expect.poll(() => status.text).toContain('Weighbridge: valid');
});

test('a file above the limit is refused in one sentence', { tag: '@deep' }, async ({ page, serve }) => {
  const { editors } = start('web.js');
  await edit(page, serve, editors['weighbridge.viewer'], new Uri('vscode-vfs', resolve(TRIALS, 'big.stb')));
  await expect(page.locator('body')).toContainText('files above 256 MiB are not opened');
});

test('a file that has become shorter can be reloaded', { tag: '@deep' }, async ({ page, serve }) => {
  const sample = samples.find(({ id }) => id === 'gguf')!;
  const path = join(folder({}), sample.file);
  copyFileSync(sampleFile(sample.file), path);
  const { editors } = start('desktop.js');
  await edit(page, serve, editors['weighbridge.viewer'], new Uri('file', path));
  await expect(viewer(page).locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
  await expect(viewer(page).locator('.verdict-checked .icon-busy')).toHaveCount(0);
  truncateSync(path, statSync(path).size - 100);
  await viewer(page).locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
  await expect(viewer(page).locator('.verdict')).toContainText('Changed on disk');
  await viewer(page).getByRole('button', { name: 'Reload' }).click();
  await expect(viewer(page).locator('.verdict')).toHaveAttribute('data-state', 'invalid');
  await expect(viewer(page).locator('.verdict-head')).toHaveText('Truncated');
});
