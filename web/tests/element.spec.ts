/** The viewer as an element in pages of others. */

import { readFileSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { exposeRanges, modelIsShown, sampleAt, serve } from './embed.ts';
import { TRIALS, expect, test } from './page.ts';

/** What the element takes. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; base-uri 'none'";

const BODY = `
  <weighbridge-viewer id="one" src="/${sampleAt('safetensors')}" theme="light"></weighbridge-viewer>
  <weighbridge-viewer id="two" theme="dark"></weighbridge-viewer>
  <button id="theirs" data-full="theirs">A button</button>
  <script type="module" src="/element/weighbridge-viewer.js"></script>`;

interface Viewer extends HTMLElement {
  src: string;
  theme: string;
  file: unknown;
  source: unknown;
  report(): Promise<{ file: string; verdict: string }>;
}

let server: Server;
let address: string;

test.beforeAll(async () => {
  ({ server, address } = await serve(BODY, POLICY));
});

test.afterAll(() => {
  server.close();
});

const settled = async (viewer: Locator, state: RegExp) => {
  await expect(viewer.locator('.verdict')).toHaveAttribute('data-state', state);
  await expect(viewer.locator('.verdict-checked .icon-busy')).toHaveCount(0);
};

test('a view that is fetched later has its styles', async ({ page }) => {
  await page.goto(address);
  const one = page.locator('#one');
  await settled(one, /^(valid|remarks)$/);
  await one.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(one.locator('.tiles')).toHaveCSS('display', 'flex');
  expect(await page.evaluate(() => document.adoptedStyleSheets.length)).toBe(0);
});

test('two of them on a page that is left alone', async ({ page }) => {
  await page.addInitScript(() => {
    const told: unknown[] = [];
    addEventListener('weighbridge-report', (event) => told.push([(event.target as HTMLElement).id, (event as CustomEvent).detail]));
    Object.assign(window, { told });
  });
  await page.goto(address);
  const [one, two] = [page.locator('#one'), page.locator('#two')];
  await settled(one, /^(valid|remarks)$/);
  await expect(two).toContainText('No file.');

  await two.evaluate(async (element, broken) => {
    const blob = await (await fetch(broken)).blob();
    (element as Viewer).file = new File([blob], 'broken.gguf');
  }, `/${sampleAt('gguf-broken')}`);
  await settled(two, /^invalid$/);
  await settled(one, /^(valid|remarks)$/);

  // Both say what they found, as the command writes it.
  const told = await page.evaluate(() => (window as unknown as { told: [string, { file: string; verdict: string; checked: string[] }][] }).told);
  const last = (id: string) => told.filter(([from]) => from === id).at(-1)![1];
  expect(last('one')).toMatchObject({ verdict: 'valid', format: 'safetensors' });
  expect(last('two')).toMatchObject({ file: 'broken.gguf', verdict: 'invalid', format: 'gguf' });
  expect(await two.evaluate((element) => (element as Viewer).report())).toEqual(last('two'));

  await modelIsShown(two);
  // Each has its own tensor, and its own keys.
  await one.locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
  await expect(one.locator('.panel-name')).toBeVisible();
  await expect(two.locator('.panel-name')).toBeHidden();
  await one.locator('.tensor-table .v-list').focus();
  await page.keyboard.press('2');
  await expect(one.getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(one.locator('.panel-name')).toBeHidden();
  await page.keyboard.press('/');
  await expect(one.getByRole('searchbox')).toBeFocused();

  // Each has its colours, which change while it is there.
  const surface = (viewer: Locator) => viewer.locator('.verdict').evaluate((element) => getComputedStyle(element.closest('.file')!).backgroundColor);
  const [light, dark] = [await surface(one), await surface(two)];
  expect(light).not.toBe(dark);
  await two.evaluate((element) => ((element as Viewer).theme = 'light'));
  expect(await surface(two)).toBe(light);

  // The page has what it had.
  expect(await page.evaluate(async () => [location.hash, history.length, document.title, localStorage.length, sessionStorage.length, (await indexedDB.databases()).length, (await navigator.serviceWorker.getRegistrations()).length])).toEqual(['', 2, 'Ours', 0, 0, 0, 0]);
  const height = await page.locator('#theirs').evaluate((element) => [getComputedStyle(element).height, getComputedStyle(document.body).display]);
  await page.evaluate(() => document.querySelectorAll('weighbridge-viewer').forEach((element) => element.remove()));
  expect(await page.locator('#theirs').evaluate((element) => [getComputedStyle(element).height, getComputedStyle(document.body).display])).toEqual(height);
  // What was started for them is gone.
  await expect.poll(() => page.workers().length).toBe(0);
});

test('axe: the element', { tag: '@deep' }, async ({ page }) => {
  await page.goto(address);
  await settled(page.locator('#one'), /^(valid|remarks)$/);
  await page.locator('#two').evaluate(async (element, files) => {
    const blobs = await Promise.all(files.map(async (file) => new File([await (await fetch(file)).blob()], file.split('/').pop()!)));
    (element as Viewer).file = blobs;
  }, ['oinf', 'gguf'].map((id) => `/${sampleAt(id)}`));
  const two = page.locator('#two');
  await settled(two, /^(valid|remarks)$/);
  await expect(two.locator('.file-tab')).toHaveCount(2);
  for (const viewer of [page.locator('#one'), two]) {
    await viewer.locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
    await expect(viewer.locator('.panel-name')).toBeVisible();
  }
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze();
    expect(violations.map(({ id, nodes }) => `${width}: ${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`)).toEqual([]);
  }

  // Of several files each can be looked at, and compared with the others.
  await two.locator('.file-tab button').nth(1).click();
  await expect(two.locator('.verdict-facts')).toContainText('GGUF');
  await expect(two.getByRole('tab', { name: 'Compare' })).toBeVisible();
});

test('a narrow element in a wide window is laid out as on a narrow screen', async ({ page }) => {
  await page.goto(address);
  const one = page.locator('#one');
  await settled(one, /^(valid|remarks)$/);
  const row = one.locator('.tensor-table .v-list [role=row]:not([hidden])').first();
  await row.click();
  await expect(one.locator('.panel-back')).toBeHidden();
  await one.evaluate((element) => (element.style.width = '620px'));
  await expect(one.locator('.panel-back')).toBeVisible();
  const [panel, host, file] = await Promise.all([one.locator('.panel').boundingBox(), one.boundingBox(), one.locator('.file').boundingBox()]);
  expect(panel!.width).toBe(host!.width);
  // What it shows fills it, and no more.
  expect(file).toEqual(host);
});

test('ranges of 6 GB that the page reads', async ({ page }) => {
  const path = `${TRIALS}/big.stb`;
  const asked = await exposeRanges(page, path);
  await page.goto(address);
  const two = page.locator('#two');
  await two.evaluate((element, size) => {
    (element as Viewer).source = { name: 'big.stb', size, read: (window as unknown as { ranges: unknown }).ranges };
  }, statSync(path).size);
  await expect(two.locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
  await expect(two.locator('.verdict-facts')).toContainText('6,000,000,064 B');
  expect(asked.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1 << 20);

  // A reader that fails, and a file that has become shorter, are said so.
  await two.evaluate((element) => {
    (element as Viewer).source = { name: 'gone.gguf', size: 100, read: () => Promise.reject(new Error('The file is gone.')) };
  });
  await expect(two.getByRole('alert')).toContainText('Opening gone.gguf: The file is gone.');
  await two.evaluate((element) => {
    (element as Viewer).source = { name: 'cut.gguf', size: 100, read: () => Promise.resolve(new ArrayBuffer(10)) };
  });
  await expect(two.getByRole('alert')).toContainText('cut.gguf has become shorter since it was opened');
});

test('the examples of docs/embed.md', async ({ page }) => {
  const blocks = (language: string) =>
    [...readFileSync('../docs/embed.md', 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) =>
      code.replaceAll("'model.safetensors')", `'/${sampleAt('safetensors')}')`).replace('"model.safetensors"', `"/${sampleAt('safetensors')}"`).replace('"weighbridge-viewer.js"', '"/element/weighbridge-viewer.js"'),
    );
  const [markup] = blocks('html');
  // It has a style in an attribute, and the scripts come out of this test.
  const other = await serve(markup, `${POLICY.replace("'self' 'wasm", "'self' blob: 'wasm")}; style-src 'unsafe-inline'`);
  const viewer = page.locator('weighbridge-viewer');
  await page.goto(other.address);
  await settled(viewer, /^(valid|remarks)$/);
  expect((await viewer.boundingBox())!.height).toBe(800);
  const scripts = blocks('js');
  expect(scripts.length).toBe(2);
  for (const script of scripts) {
    await viewer.evaluate((element) => ((element as Viewer).file = null));
    await expect(viewer).toContainText('No file.');
    await page.evaluate(async (code) => {
      const run = document.createElement('script');
      run.type = 'module';
      run.src = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
      document.body.append(run);
    }, script);
    await settled(viewer, /^(valid|remarks)$/);
  }
  other.server.close();
});

test('what is set last is shown', { tag: '@deep' }, async ({ page }) => {
  await page.goto(address);
  const two = page.locator('#two');
  await two.evaluate(async (element, paths) => {
    const [first, second, last] = await Promise.all(paths.map(async (path) => new File([await (await fetch(path)).blob()], path.split('/').pop()!)));
    const viewer = element as Viewer;
    viewer.file = [first, second];
    // While the first of them is being checked.
    while (viewer.shadowRoot!.querySelector('.verdict') === null) {
      await new Promise((done) => setTimeout(done));
    }
    viewer.file = last;
  }, ['gguf', 'oinf', 'stb'].map((id) => `/${sampleAt(id)}`));
  await settled(two, /^(valid|remarks)$/);
  await expect(two.locator('.verdict-facts')).toContainText('STB');
  await page.waitForTimeout(500);
  await expect(two.locator('.task')).toHaveCount(0);
  await expect(two.locator('.file')).toHaveCount(1);
  expect(page.workers().length).toBe(2);
});
