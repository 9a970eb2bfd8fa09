/** Folders of servers, opened by address. */

import type { BrowserContext, Page } from '@playwright/test';
import { directoryOf } from '../src/worker/directory.ts';
import { repositoryOf } from '../src/worker/hubs.ts';
import { safetensors } from './files.ts';
import { BY_URL, expect, settled, test } from './page.ts';
import { CORS, sendRange } from './remote.ts';

test.use({ baseURL: BY_URL });

const FOLDER = 'https://files.test/models/tiny/';
const model = safetensors({ weight: { dtype: 'F32', data: Float32Array.of(1, 2) } });

/** A server that answers for the folder with `list`, and has these files. */
async function serve(context: BrowserContext, list: string, type: string, files: Record<string, Buffer>): Promise<void> {
  await context.route('https://files.test/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/models/tiny/') {
      await route.fulfill({ status: 200, headers: CORS, contentType: type, body: list });
    } else {
      await sendRange(route, files[decodeURIComponent(pathname.slice('/models/tiny/'.length))]);
    }
  });
}

async function enter(page: Page, text: string): Promise<void> {
  await page.goto('./');
  await page.getByLabel('Address of a file').fill(text);
  await page.keyboard.press('Enter');
}

test('an address that ends with a slash is a folder, but on the hub', () => {
  expect(repositoryOf(FOLDER)).toEqual({ kind: 'folder', name: FOLDER, revision: '', path: '' });
  expect(repositoryOf('http://localhost:8000/')?.kind).toBe('folder');
  expect(repositoryOf('https://huggingface.co/org/model/')?.kind).toBe('models');
  for (const text of ['http://files.test/x/', 'https://files.test/x', 'https://files.test/x/?key=1', 'https://huggingface.co/a/b/c/']) {
    expect(repositoryOf(text), text).toBeUndefined();
  }
});

test('lists of servers: pages of links, and JSON', () => {
  const folder = new URL(FOLDER);
  const page = '<a href="../">..</a><A class=x HREF=model.safetensors>m</A> <a href=\'a%20b&amp;c.gguf\'>x</a><a href="/models/tiny/deep/x.gguf">x</a><a href="https://other.test/x.gguf">x</a><a href="x.gguf?C=N">sort</a><a href="notes.txt">n</a>';
  expect(directoryOf(page, folder)).toEqual({ files: [{ path: 'model.safetensors', size: 0 }, { path: 'a b&c.gguf', size: 0 }], entries: 7, cut: false, strange: 1 });
  const nginx = JSON.stringify([{ name: 'model.gguf', type: 'file', size: 12 }, { name: 'sub', type: 'directory' }, { name: '../x.gguf' }, { name: 'bad.gguf', size: -1 }, 7]);
  expect(directoryOf(nginx, folder)).toEqual({ files: [{ path: 'model.gguf', size: 12 }], entries: 4, cut: false, strange: 2 });
  expect(directoryOf('["m.npy"]', folder).files).toEqual([{ path: 'm.npy', size: 0 }]);
  for (const text of ['', 'no list', '[broken', '{"a": 1}']) {
    expect(() => directoryOf(text, folder), text).toThrow('files.test sent no list of files for /models/tiny/');
  }
});

test('the only model of a folder is opened at once, with its settings', async ({ page, context }) => {
  const files = { 'model.safetensors': model, 'config.json': Buffer.from('{"architectures":["TinyForCausalLM"],"model_type":"tiny"}') };
  await serve(context, '<a href="model.safetensors">model.safetensors</a> <a href="config.json">config.json</a>', 'text/html', files);
  await enter(page, FOLDER);
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText('model.safetensors');
  await page.getByRole('tab', { name: 'Model' }).click();
  await expect(page.locator('.model').first()).toContainText('TinyForCausalLM');
});

test('of several models the user chooses', async ({ page, context }) => {
  await serve(context, JSON.stringify([{ name: 'a.safetensors', size: model.length }, 'b.safetensors']), 'application/json', { 'a.safetensors': model, 'b.safetensors': model });
  await enter(page, FOLDER);
  const dialog = page.getByRole('dialog', { name: FOLDER });
  await expect(dialog.getByRole('button')).toHaveText([`a.safetensors${model.length} B`, 'b.safetensors', 'Cancel']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await settled(page);
  await expect(page.locator('.file-name')).toHaveText('b.safetensors');
});

test('a server that lists nothing is named', async ({ page, context }) => {
  await serve(context, 'Forbidden', 'text/plain', {});
  await enter(page, FOLDER);
  await expect(page.getByRole('alert')).toContainText('files.test sent no list of files for /models/tiny/: it may not list its folders.');
});
