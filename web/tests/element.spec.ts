/** The viewer as an element in third-party pages. */

import { readFileSync, statSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { exposeRanges, modelIsShown, sampleAt, test } from './embed.ts';
import { fromPort, offer } from '../src/worker/port.ts';
import { onnx, safetensors } from './files.ts';
import { TRIALS, expect } from './page.ts';

/** The policy that the element needs. */
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

const settled = async (viewer: Locator, state: RegExp) => {
  await expect(viewer.locator('.verdict')).toHaveAttribute('data-state', state);
  await expect(viewer.locator('.verdict-checked .icon-busy')).toHaveCount(0);
};

/** Gives the element the first of these files to read, and the others beside it. Returns the names it asks for. */
const readBeside = (element: Element, { list, first }: { list: { name: string; bytes: number[] }[]; first: string }): string[] => {
  const asked: string[] = [];
  const ranges = (name: string): unknown => {
    const bytes = new Uint8Array(list.find((one) => one.name === name)!.bytes);
    return {
      name,
      size: bytes.length,
      read: async (offset: number, length: number) => bytes.slice(offset, offset + length),
      beside: async (other: string) => {
        asked.push(other);
        return list.some((one) => one.name === other) ? ranges(other) : undefined;
      },
    };
  };
  (element as Viewer).source = ranges(first);
  return asked;
};

test('a view that is fetched later has its styles', async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const one = page.locator('#one');
  await settled(one, /^(valid|remarks)$/);
  // The sample is an adapter, whose own view comes first.
  await one.getByRole('tab', { name: 'Model', exact: true }).click();
  await expect(one.locator('.updates')).toHaveCSS('border-collapse', 'collapse');
  await one.getByRole('tab', { name: 'Overview', exact: true }).click();
  await expect(one.locator('.tiles')).toHaveCSS('display', 'flex');
  expect(await page.evaluate(() => document.adoptedStyleSheets.length)).toBe(0);
});

test('two of them on a page that is left alone', async ({ page, serve }) => {
  await page.addInitScript(() => {
    const told: unknown[] = [];
    addEventListener('weighbridge-report', (event) => told.push([(event.target as HTMLElement).id, (event as CustomEvent).detail]));
    Object.assign(window, { told });
  });
  await page.goto(await serve(BODY, POLICY));
  const [one, two] = [page.locator('#one'), page.locator('#two')];
  await settled(one, /^(valid|remarks)$/);
  await expect(two).toContainText('No file open.');

  await two.evaluate(async (element, broken) => {
    const blob = await (await fetch(broken)).blob();
    (element as Viewer).file = new File([blob], 'broken.gguf');
  }, `/${sampleAt('gguf-broken')}`);
  await settled(two, /^invalid$/);
  await settled(one, /^(valid|remarks)$/);

  // Each element reports its verdict in the command's format, the last time once all is checked.
  const last = async (id: string) => {
    const told = await page.evaluate(() => (window as unknown as { told: [string, object][] }).told);
    return told.filter(([from]) => from === id).at(-1)?.[1];
  };
  const report = await two.evaluate((element) => (element as Viewer).report());
  await expect.poll(() => last('two')).toEqual(report);
  expect(report).toMatchObject({ file: 'broken.gguf', verdict: 'invalid', format: 'gguf' });
  await expect.poll(() => last('one')).toMatchObject({ verdict: 'valid', format: 'safetensors' });

  await modelIsShown(two);
  // Each has its own tensor and handles its own keys.
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

  // Each has its own colours, which can change at run time.
  const surface = (viewer: Locator) => viewer.locator('.verdict').evaluate((element) => getComputedStyle(element.closest('.file')!).backgroundColor);
  const [light, dark] = [await surface(one), await surface(two)];
  expect(light).not.toBe(dark);
  await two.evaluate((element) => ((element as Viewer).theme = 'light'));
  expect(await surface(two)).toBe(light);

  // The page's own state is unchanged.
  expect(await page.evaluate(async () => [location.hash, history.length, document.title, localStorage.length, sessionStorage.length, (await indexedDB.databases()).length, (await navigator.serviceWorker.getRegistrations()).length])).toEqual(['', 2, 'Ours', 0, 0, 0, 0]);
  const height = await page.locator('#theirs').evaluate((element) => [getComputedStyle(element).height, getComputedStyle(document.body).display]);
  await page.evaluate(() => document.querySelectorAll('weighbridge-viewer').forEach((element) => element.remove()));
  expect(await page.locator('#theirs').evaluate((element) => [getComputedStyle(element).height, getComputedStyle(document.body).display])).toEqual(height);
  // Their workers have been stopped.
  await expect.poll(() => page.workers().length).toBe(0);
});

test('styles of the page for all its elements do not reach the views', async ({ page, serve }) => {
  const styles = `<style>* { font-size: 20px; letter-spacing: 2px; text-align: center; line-height: 3; text-transform: uppercase; --line: red } body { direction: rtl; color: red; word-spacing: 9px }</style>`;
  const seen: unknown[] = [];
  for (const around of ['', styles]) {
    await page.goto(await serve(around + BODY, `${POLICY}; style-src 'unsafe-inline'`));
    const one = page.locator('#one');
    await settled(one, /^(valid|remarks)$/);
    await one.locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
    await expect(one.locator('.panel-name')).toBeVisible();
    seen.push(
      await one.evaluate((element) =>
        [...element.shadowRoot!.querySelectorAll('.frame, .verdict-head, .v-list [role=row] .cell, .panel-name, .tab-bar button')].map((part) => {
          const style = getComputedStyle(part);
          return [part.className, ...['fontSize', 'letterSpacing', 'textAlign', 'lineHeight', 'textTransform', 'direction', 'color', 'wordSpacing', 'borderColor', 'height', 'colorScheme'].map((name) => style[name as 'color'])];
        }),
      ),
    );
  }
  expect((seen[0] as unknown[]).length).toBeGreaterThan(5);
  expect(seen[1]).toEqual(seen[0]);
});

test('a report waits until what was set is open and checked', async ({ page, serve }) => {
  await page.goto(await serve('<weighbridge-viewer id="one"></weighbridge-viewer><script type="module" src="/element/weighbridge-viewer.js"></script>', POLICY));
  const report = (id: string, then?: string) =>
    page.locator('#one').evaluate(
      async (element, paths) => {
        await customElements.whenDefined('weighbridge-viewer');
        const [first, second] = await Promise.all(paths.map(async (path) => new File([await (await fetch(path)).blob()], path.split('/').pop()!)));
        (element as Viewer).file = first;
        const report = (element as Viewer).report();
        if (second !== undefined) {
          (element as Viewer).file = second;
        }
        return await report;
      },
      [id, ...(then === undefined ? [] : [then])].map((one) => `/${sampleAt(one)}`),
    );
  expect(await report('gguf-broken')).toMatchObject({ format: 'gguf', verdict: 'invalid', checked: expect.arrayContaining(['structure']) });
  expect(await report('gguf-broken', 'safetensors')).toMatchObject({ format: 'safetensors', verdict: 'valid' });
  expect(await page.locator('#one').evaluate((element) => ((element as Viewer).file = null) ?? (element as Viewer).report())).toBeUndefined();
});

test('a histogram takes the colours of a new theme', async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const one = page.locator('#one');
  await settled(one, /^(valid|remarks)$/);
  await one.locator('.tensor-table .v-list [role=row]:not([hidden])').first().click();
  await one.getByRole('tab', { name: 'Statistics' }).click();
  await one.getByRole('button', { name: 'Compute statistics' }).click();
  const holds = (colour: string) =>
    one.locator('.histogram canvas').evaluate((canvas: HTMLCanvasElement, colour) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join()).includes(colour);
    }, colour);
  const [light, dark] = ['31,95,168', '125,180,240'];
  await expect.poll(() => holds(light)).toBe(true);
  await one.evaluate((element) => ((element as Viewer).theme = 'dark'));
  await expect.poll(async () => [await holds(light), await holds(dark)]).toEqual([false, true]);
});

test('axe: the element', { tag: '@deep' }, async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
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

  // Each of several files can be viewed, and compared with the others.
  await two.locator('.file-tab button').nth(1).click();
  await expect(two.locator('.verdict-facts')).toContainText('GGUF');
  await expect(two.getByRole('tab', { name: 'Compare' })).toBeVisible();
});

test('a narrow element in a wide window is laid out as on a narrow screen', async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const one = page.locator('#one');
  await settled(one, /^(valid|remarks)$/);
  const row = one.locator('.tensor-table .v-list [role=row]:not([hidden])').first();
  await row.click();
  await expect(one.locator('.panel-back')).toBeHidden();
  await one.evaluate((element) => (element.style.width = '620px'));
  await expect(one.locator('.panel-back')).toBeVisible();
  const [panel, host, file] = await Promise.all([one.locator('.panel').boundingBox(), one.boundingBox(), one.locator('.file').boundingBox()]);
  expect(panel!.width).toBe(host!.width);
  // The viewer fills the element exactly.
  expect(file).toEqual(host);
});

/** Two shards, and the index that lists them. */
function checkpoint(): Record<string, Buffer> {
  const shard = (number: number) => `model-0000${number}-of-00002.safetensors`;
  const tensor = (number: number) => safetensors({ [`layers.${number}.weight`]: { dtype: 'F32', data: Float32Array.of(number, 2) } });
  const index = { metadata: { total_size: 16 }, weight_map: { 'layers.1.weight': shard(1), 'layers.2.weight': shard(2) } };
  return { [shard(2)]: tensor(2), 'model.safetensors.index.json': Buffer.from(JSON.stringify(index)), [shard(1)]: tensor(1) };
}

test('files of one model are one, whether the page gives them or reads them', async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const two = page.locator('#two');
  const files = Object.entries({ ...checkpoint(), 'other.safetensors': safetensors({ x: { dtype: 'F32', data: Float32Array.of(1) } }) }).map(([name, bytes]) => ({ name, bytes: [...bytes] }));
  const isOne = async () => {
    await expect(two.locator('.verdict-facts').first()).toContainText('safetensors · 3 files');
    await settled(two, /^valid$/);
    await expect(two.locator('.tensor-table .v-list [role=row]:not([hidden]) .name bdi')).toHaveText(['layers.1.weight', 'layers.2.weight']);
  };
  await two.evaluate((element, list) => {
    (element as Viewer).file = list.map(({ name, bytes }) => new File([new Uint8Array(bytes)], name));
  }, files);
  await isOne();
  await expect(two.locator('.file-name')).toHaveText(['model.safetensors.index.json', 'other.safetensors']);
  const asked = await two.evaluateHandle(readBeside, { list: files, first: 'model.safetensors.index.json' });
  await isOne();
  // Only the files in the index are looked for.
  expect((await asked.jsonValue()).sort()).toEqual(['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']);
});

test('data files of an onnx model are given with it, or read beside it', async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const two = page.locator('#two');
  const model = onnx({ w: { location: 'data/w.bin', offset: 4, elements: 2 }, b: { location: 'b.bin', offset: 0, elements: 1 } });
  const data = Object.entries({ 'model.onnx': model, 'data/w.bin': Buffer.from(Float32Array.of(0, 1.5, 2.5).buffer), 'b.bin': Buffer.from(Float32Array.of(3).buffer) });
  const files = data.map(([name, bytes]) => ({ name, bytes: [...bytes] }));
  const asked = await two.evaluateHandle(readBeside, { list: files, first: 'model.onnx' });
  await settled(two, /^valid$/);
  await expect(two.locator('.verdict-facts').first()).toContainText('3 files');
  expect((await asked.jsonValue()).sort()).toEqual(['b.bin', 'data/w.bin']);
  // The file of one tensor is not given.
  await two.evaluate((element, list) => {
    (element as Viewer).file = list.filter(({ name }) => name !== 'b.bin').map(({ name, bytes }) => new File([new Uint8Array(bytes)], name));
  }, files);
  await expect(two.locator('.stage', { hasText: 'Some files that its tensors name were not found' })).toHaveCount(1);
});

test('readings that are given up are not asked for any more', async () => {
  const reading: { offset: number; signal: AbortSignal; done(bytes: Uint8Array): void }[] = [];
  const { port, ...about } = offer({
    name: 'x',
    size: 100,
    // All reads but one stop when aborted.
    read: (offset, _, signal) =>
      new Promise((done, reject) => {
        reading.push({ offset, signal, done });
        signal.addEventListener('abort', () => offset !== 3 && reject(signal.reason));
      }),
  });
  const source = fromPort({ port, ...about });
  const offsets = () => reading.map(({ offset }) => offset);
  const [kept, given] = [new AbortController(), new AbortController()];
  const reads = Array.from({ length: 10 }, (_, i) => source.read(BigInt(i), 1, (i % 2 === 0 ? kept : given).signal));
  const outcomes = reads.map((read) => read.then(() => 'read', (error: Error) => error.name));
  await expect.poll(offsets).toEqual([0, 1, 2, 3]);
  given.abort();
  await expect.poll(offsets).toEqual([0, 1, 2, 3, 4]);
  expect(reading.map(({ signal }) => signal.aborted)).toEqual([false, true, false, true, false]);
  reading[3].done(Uint8Array.of(3));
  await expect.poll(offsets).toEqual([0, 1, 2, 3, 4, 6]);
  for (const one of [0, 2, 4, 5]) {
    reading[one].done(Uint8Array.of(reading[one].offset));
  }
  await expect.poll(offsets).toEqual([0, 1, 2, 3, 4, 6, 8]);
  reading[6].done(Uint8Array.of(8));
  expect(await Promise.all(outcomes)).toEqual(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'read' : 'AbortError')));
  expect(await Promise.all(reads.filter((_, i) => i % 2 === 0))).toEqual([0, 2, 4, 6, 8].map((byte) => Uint8Array.of(byte)));
  // A request cancelled while queued is never sent.
  await expect(source.read(50n, 1, given.signal)).rejects.toThrow();
  expect(offsets()).toHaveLength(7);
  port.close();
});

test('ranges of 6 GB that the page reads', async ({ page, serve }) => {
  const path = `${TRIALS}/big.stb`;
  const asked = await exposeRanges(page, path);
  await page.goto(await serve(BODY, POLICY));
  const two = page.locator('#two');
  await two.evaluate((element, size) => {
    (element as Viewer).source = { name: 'big.stb', size, read: (window as unknown as { ranges: unknown }).ranges };
  }, statSync(path).size);
  await expect(two.locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
  await expect(two.locator('.verdict-facts')).toContainText('6,000,000,064 B');
  expect(asked.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1 << 20);

  // A failing reader and a truncated file are reported.
  await two.evaluate((element) => {
    (element as Viewer).source = { name: 'gone.gguf', size: 100, read: () => Promise.reject(new Error('The file is gone.')) };
  });
  await expect(two.getByRole('alert')).toContainText('Opening gone.gguf: The file is gone.');
  await two.evaluate((element) => {
    (element as Viewer).source = { name: 'cut.gguf', size: 100, read: () => Promise.resolve(new ArrayBuffer(10)) };
  });
  await expect(two.getByRole('alert')).toContainText('cut.gguf has become shorter since it was opened');
});

test('the examples of docs/embed.md', async ({ page, serve }) => {
  const blocks = (language: string) =>
    [...readFileSync('../docs/embed.md', 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) =>
      code.replaceAll("'model.safetensors')", `'/${sampleAt('safetensors')}')`).replace('"model.safetensors"', `"/${sampleAt('safetensors')}"`).replace('"weighbridge-viewer.js"', '"/element/weighbridge-viewer.js"'),
    );
  const [markup] = blocks('html');
  // The markup has a style attribute, and the scripts come from this test.
  const address = await serve(markup, `${POLICY.replace("'self' 'wasm", "'self' blob: 'wasm")}; style-src 'unsafe-inline'`);
  const viewer = page.locator('weighbridge-viewer');
  await page.goto(address);
  await settled(viewer, /^(valid|remarks)$/);
  expect((await viewer.boundingBox())!.height).toBe(800);
  const scripts = blocks('js');
  expect(scripts.length).toBe(2);
  for (const script of scripts) {
    await viewer.evaluate((element) => ((element as Viewer).file = null));
    await expect(viewer).toContainText('No file open.');
    await page.evaluate(async (code) => {
      const run = document.createElement('script');
      run.type = 'module';
      run.src = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
      document.body.append(run);
    }, script);
    await settled(viewer, /^(valid|remarks)$/);
  }
});

test('the file chosen while others are opened stays', async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const two = page.locator('#two');
  await two.evaluate(async (element, paths) => {
    const files = await Promise.all(paths.map(async (path) => new File([await (await fetch(path)).blob()], path.split('/').pop()!)));
    const tabs = () => element.shadowRoot!.querySelectorAll<HTMLElement>('.file-name');
    const seen = new MutationObserver(() => {
      if (tabs().length === 2) {
        seen.disconnect();
        tabs()[1].focus();
        tabs()[1].click();
      }
    });
    seen.observe(element.shadowRoot!, { childList: true, subtree: true });
    (element as Viewer).file = files;
  }, ['gguf', 'oinf', 'stb'].map((id) => `/${sampleAt(id)}`));
  await expect(two.locator('.file-name')).toHaveCount(3);
  await settled(two, /^(valid|remarks)$/);
  await expect(two.locator('[aria-current=true]')).toHaveText('tiny-lm.oinf');
  await expect(two.locator('.file-name').nth(1)).toBeFocused();
});

test('what is set last is shown', { tag: '@deep' }, async ({ page, serve }) => {
  await page.goto(await serve(BODY, POLICY));
  const two = page.locator('#two');
  await two.evaluate(async (element, paths) => {
    const [first, second, last] = await Promise.all(paths.map(async (path) => new File([await (await fetch(path)).blob()], path.split('/').pop()!)));
    const viewer = element as Viewer;
    viewer.file = [first, second];
    // While the first file is being checked.
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
