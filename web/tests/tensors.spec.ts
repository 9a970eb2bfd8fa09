import type { Locator, Page } from '@playwright/test';
import { safetensors, written } from './files.ts';
import { TRIALS, expect, openFiles, openSample, openTensor, panelTab, sampleFile, settled, test } from './page.ts';

const rows = '.tensor-table .v-list [role=row]:not([hidden])';

/** Presses keys one right after the other: no answer arrives in between. */
const press = (target: Locator, ...keys: string[]) =>
  target.evaluate((element, all) => all.forEach((key) => element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))), keys);

/** Clicks elements one right after the other. */
const click = (page: Page, ...selectors: string[]) =>
  page.evaluate((all) => all.forEach((selector) => document.querySelector<HTMLElement>(selector)!.click()), selectors);

/** Waits until a pause in the keys, after which a row is selected, is over. */
const paused = (page: Page) => page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 60)));

test('search narrows the list, and the totals follow', async ({ page }) => {
  await openSample(page, 'oinf');
  await expect(page.locator('.tensors .list-summary')).toContainText('30 tensors');
  await page.getByRole('searchbox').fill('MLP');
  await expect(page.locator(rows)).toHaveCount(4);
  await expect(page.locator('.tensors .list-summary')).toContainText('4 tensors · 73.7 K parameters (73,728 elements)');
});

test('activations are named, and are no parameters', async ({ page }) => {
  await openSample(page, 'tflite');
  const summary = page.locator('.tensors .list-summary');
  await expect(page.locator('.verdict-facts')).toHaveText(/5 tensors · 13\.2 K parameters · 3 activations · [\d,]+ B$/);
  await expect(summary).toHaveText('2 tensors · 13.2 K parameters (13,184 elements) · 51.5 KiB');
  await expect(page.locator(`${rows} .name`)).toHaveText(['fc1.weight', 'fc2.weight']);
  await page.getByRole('searchbox').fill('hidden');
  await page.getByRole('button', { name: 'Clear search and filters' }).click();
  await expect(page.getByRole('button', { name: '3 activations' })).toHaveAttribute('aria-pressed', 'true');
  await expect(summary).toHaveText('5 tensors · 3 activations · 13.2 K parameters (13,184 elements) · 51.5 KiB');
  await page.getByRole('searchbox').fill('hidden');
  await expect(summary).toHaveText('1 tensor · 1 activation · 0 parameters · 0 B');
  await page.getByRole('searchbox').fill('weight');
  await expect(summary).toHaveText('2 tensors · 13.2 K parameters (13,184 elements) · 51.5 KiB');
  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: 'Tree' }).click();
  await expect(page.getByRole('treegrid').getByRole('row', { name: /image/ })).toContainText(/f32\s*0\s*0 B/);
});

test('the list of a broken program has all tensors', async ({ page }) => {
  await openSample(page, 'tflite-broken');
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await expect(page.locator('.tensors .list-summary')).toHaveText(/^5 tensors/);
  await expect(page.getByRole('button', { name: '3 activations' })).toBeHidden();
});

test('totals by type filter the list', async ({ page }) => {
  await openSample(page, 'oinf');
  const i8 = page.locator('.total[data-dtype=i8]');
  await expect(i8).toContainText('×1');
  await i8.click();
  await expect(i8).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator(`${rows} .name`)).toHaveText(['head.weight']);
});

test('sizes filter the list', async ({ page }) => {
  await openSample(page, 'oinf');
  await page.getByLabel(/^min size/).fill('30 KiB');
  await expect(page.locator(`${rows} .name`).first()).toHaveText('embed.weight');
  // The previous rows may still be shown for a moment.
  await expect(async () => {
    for (const text of await page.locator(`${rows} .stored`).allTextContents()) {
      expect(Number.parseFloat(text)).toBeGreaterThanOrEqual(30);
      expect(text).toContain('KiB');
    }
  }).toPass();
  await page.getByPlaceholder('min size').fill('nonsense');
  await expect(page.getByPlaceholder('min size')).toHaveAttribute('aria-invalid', 'true');
});

test('columns sort up, down and back', async ({ page }) => {
  await openSample(page, 'oinf');
  const header = page.getByRole('columnheader', { name: 'Stored' });
  const first = page.locator(`${rows} .name`).first();
  await expect(first).toHaveText('embed.weight');
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'ascending');
  await expect(first).toHaveText('test.declared');
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'descending');
  await expect(first).toHaveText('embed.weight');
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'none');
});

test('only tensors with findings', async ({ page }) => {
  await openSample(page, 'oinf-broken');
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await page.getByRole('button', { name: 'With findings' }).click();
  await expect(page.locator(`${rows} .icon-violation`).first()).toBeVisible();
  await expect(page.locator(`${rows}:not(.faulty)`)).toHaveCount(0);
});

test('the tree opens by prefix and leads to a tensor', async ({ page }) => {
  await openSample(page, 'oinf');
  await page.getByRole('button', { name: 'Tree' }).click();
  const tree = page.getByRole('treegrid');
  const node = (name: string) => tree.locator('[role=row]:not([hidden])', { has: page.getByText(name, { exact: true }) });
  // It is open down to the layers.
  await expect(node('layers')).toHaveAttribute('aria-expanded', 'true');
  await expect(node('2')).toHaveAttribute('aria-expanded', 'false');
  await node('2').click();
  await node('attn').click();
  // A folder, or a leaf if no other name has this prefix.
  const leaf = node('k').or(node('k.weight')).first();
  await leaf.click();
  if (await leaf.getAttribute('aria-expanded') !== null) {
    await node('weight').first().click();
  }
  await expect(page.locator('.panel-name')).toHaveText('layers.2.attn.k.weight');
});

test('100,000 rows: few elements, and the last row is one key away', { tag: '@deep' }, async ({ page }) => {
  await openFiles(page, `${TRIALS}/many-100000.bt`);
  const table = page.getByRole('grid', { name: 'Tensors' });
  await expect(table).toHaveAttribute('aria-rowcount', '100001');
  await table.focus();
  await page.keyboard.press('End');
  await expect(page.locator('.panel-name')).toHaveText('layers.0999.experts.99.weight');
  expect(await page.locator('.tensor-table *').count()).toBeLessThan(1500);
  // Jumping stays fast: a jump draws only visible rows. Times are printed, elements asserted.
  const { jumps, most } = await page.locator('.tensor-table').evaluate(async (list) => {
    const jumps: number[] = [];
    let most = 0;
    for (let i = 0; i < 41; i++) {
      const begun = performance.now();
      list.scrollTop = (list.scrollHeight * ((i * 37) % 41)) / 41;
      await new Promise(requestAnimationFrame);
      void list.clientHeight;
      jumps.push(performance.now() - begun);
      most = Math.max(most, list.querySelectorAll('*').length);
    }
    return { jumps: jumps.sort((a, b) => a - b), most };
  });
  console.log(`100,000 rows: a jump takes ${jumps[20].toFixed(1)} ms in the median, ${jumps[40].toFixed(1)} at most`);
  expect(most).toBeLessThan(1500);
});

test('the layout strip names parts and leads to tensors and bytes', async ({ page }) => {
  await openSample(page, 'oinf');
  await expect(page.locator('.strip')).toHaveAttribute('data-kinds', /header.*metadata.*payload.*quantization.*table/);
  const bar = page.getByRole('slider', { name: 'Layout of the file' });
  await bar.focus();
  await page.keyboard.press('Home');
  await expect(bar).toHaveAttribute('aria-valuetext', /^header .*0x0–0x48/);
  await page.keyboard.press('ArrowRight');
  await expect(bar).toHaveAttribute('aria-valuetext', /^(sizevars, metadata and tensor tables|gap) /);
  const box = (await bar.boundingBox())!;
  await bar.click({ position: { x: box.width * 0.3, y: 15 } });
  await expect(page.locator('.panel-name')).toHaveText(/weight/);
  await bar.click({ position: { x: 0, y: 15 } });
  await expect(page.locator('.hex-list')).toBeVisible();
  await expect(page.locator('.hex-row .hex-bytes').first()).toContainText('4F 49 4E 46 00');
});

test('overlaps and findings stand in the strip of a broken file', async ({ page }) => {
  await openSample(page, 'oinf-broken');
  await expect(page.locator('.strip')).toHaveAttribute('data-kinds', /finding/);
  await page.getByRole('tab', { name: 'Layout' }).click();
  await expect(page.locator('.layout-table .v-list [data-part=header]').first()).toContainText('0x0');
});

test('a link holds the place, and nothing out of the file', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  await page.getByRole('tab', { name: 'Values' }).click();
  await expect(page).toHaveURL(/#sample=oinf&tensor=26&panel=values$/);
  expect(page.url()).not.toContain('ramp');
  await page.reload();
  await expect(page.locator('.panel-name')).toHaveText('test.ramp');
  await expect(page.locator('.value-grid')).toBeVisible();
});

test('a step right after sorting is kept, and one right before closing opens nothing', async ({ page }) => {
  await openSample(page, 'oinf');
  const grid = page.getByRole('grid', { name: 'Tensors' });
  await press(grid, 'Home');
  await expect(page.locator('.panel-name')).toHaveText('embed.weight');
  await press(grid, 's', 'ArrowDown');
  await expect(page.locator('.panel-name')).toHaveText('layers.0.attn.q.weight');
  await expect(page.locator(`${rows}.active .name`)).toHaveText('layers.0.attn.q.weight');
  await press(grid, 'ArrowDown', 'Escape');
  await paused(page);
  await expect(page.locator(`${rows}[aria-selected=true]`)).toHaveCount(0);
  await expect(page.locator('.panel')).toBeHidden();
});

test('the row that was clicked is selected, even if the rows move at once', async ({ page }) => {
  await openSample(page, 'oinf');
  const name = await page.locator(`${rows}[data-rank="5"] .name`).innerText();
  await click(page, '.tensor-table [data-rank="5"]', '.tensor-table .name button');
  await expect(page.locator('.panel-name')).toHaveText(name);
  await expect(page.locator(`${rows}.active .name`)).toHaveText(name);
});

test('the last row is selected although it has yet to be fetched', async ({ page }) => {
  await openFiles(page, `${TRIALS}/many-10000.oinf`);
  const grid = page.getByRole('grid', { name: 'Tensors' });
  const total = Number(await grid.getAttribute('aria-rowcount')) - 1;
  await press(grid, 'End');
  await expect(page.locator(`${rows}[aria-selected=true]`)).toHaveAttribute('data-rank', String(total - 1));
});

test('closing a file ends what was begun in its list', async ({ page }) => {
  await openSample(page, 'oinf');
  await page.evaluate(() => {
    document.querySelector('input[type=search]')!.dispatchEvent(new InputEvent('input'));
    document.querySelector<HTMLElement>('.tensor-table [data-rank="1"]')!.click();
    document.querySelector<HTMLElement>('.file-tab .icon-button')!.click();
  });
  await paused(page);
  await expect(page.locator('.sample').first()).toBeVisible();
  await expect(page.getByRole('alert')).toBeHidden();
});

test('nodes of the tree that are opened at once have their own children, once', async ({ page }) => {
  await openSample(page, 'oinf');
  await page.getByRole('button', { name: 'Tree' }).click();
  const nodes = page.locator('.tree .v-list [role=row]');
  const names = () => nodes.evaluateAll((all) => all.map((row) => `${row.getAttribute('aria-level')} ${row.querySelector('bdi')!.title}`));
  await expect(nodes.first()).toBeVisible();
  const groups = await page.locator('.tree [aria-expanded=false]').evaluateAll((all) => all.map((row) => `.tree [data-rank="${(row as HTMLElement).dataset.rank}"]`));
  expect(groups.length).toBeGreaterThan(1);
  const opened = await page.locator('.tree [aria-expanded=true]').count();
  // A node pressed twice, and the next one before the first has its children.
  await click(page, groups[0], groups[0], groups[1]);
  await expect(page.locator('.tree [aria-expanded=true]')).toHaveCount(opened + 2);
  const open = await names();
  expect(new Set(open).size).toBe(open.length);
  let above: string[] = [];
  for (const [level, name] of open.map((text) => [Number(text[0]), text.slice(2)] as const)) {
    above = [...above.slice(0, level - 1), name];
    expect(name.startsWith(above.at(-2) ?? '')).toBe(true);
  }
  await page.evaluate(() => {
    const tree = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Tree')!;
    tree.click();
    tree.click();
  });
  await page.getByRole('searchbox').fill('*');
  await expect(page.locator('.tensor-table')).toHaveAttribute('aria-busy', 'false');
  expect(await names()).toEqual(open);
});

test('no key pressed on the strip is lost, and a late answer opens nothing', async ({ page }) => {
  await openSample(page, 'oinf');
  const bar = page.getByRole('slider', { name: 'Layout of the file' });
  const said = () => bar.getAttribute('aria-valuetext');
  const steps = ['Home', 'ArrowRight', 'ArrowRight', 'ArrowRight'];
  const parts: (string | null)[] = [];
  for (const key of steps) {
    const before = await said();
    await press(bar, key);
    await expect(bar).not.toHaveAttribute('aria-valuetext', before!);
    parts.push(await said());
  }
  await press(bar, ...steps);
  await expect(bar).toHaveAttribute('aria-valuetext', parts[3]!);
  await press(bar, 'Home', 'ArrowRight', 'Enter');
  await expect(page).toHaveURL(new RegExp(`at=${Number(/0x[\dA-F]+/.exec(parts[1]!)![0])}$`));
  await openTensor(page, 'test.ramp');
  await press(bar, 'End');
  await expect(bar).toHaveAttribute('aria-valuetext', /payload/);
  await page.evaluate(() => {
    document.querySelector('.strip-bar')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    document.querySelector<HTMLElement>('.panel-close')!.click();
  });
  await press(bar, 'Home');
  await expect(bar).toHaveAttribute('aria-valuetext', parts[0]!);
  await expect(page.locator('.panel')).toBeHidden();
  // Of two clicks the last counts.
  await bar.evaluate((element) => {
    const { left, width } = element.getBoundingClientRect();
    const click = (x: number) => element.dispatchEvent(new MouseEvent('click', { clientX: x, bubbles: true }));
    click(left + width - 2);
    click(left + 1);
  });
  await expect(page).toHaveURL(/view=hex&at=\d{1,2}$/);
});

test('the last part of the layout opens although it has yet to be fetched', async ({ page }) => {
  await openFiles(page, `${TRIALS}/many-10000.oinf`);
  await page.getByRole('tab', { name: 'Layout' }).click();
  const grid = page.getByRole('grid', { name: 'Parts of the file' });
  await expect(grid.locator('.v-list [role=row]').first()).toBeVisible();
  await press(grid, 'End', 'Enter');
  await expect(page).toHaveURL(/(tensor|at)=/);
});

test('a tensor whose reading was cancelled can be chosen again, and its bytes too', async ({ page }) => {
  await openSample(page, 'oinf');
  const grid = page.getByRole('grid', { name: 'Tensors' });
  await press(grid, 'Home');
  await expect(page.locator('.panel-name')).toHaveText('embed.weight');
  const length = await page.evaluate(() => history.length);
  // Cancels whatever the next tensor has begun to read.
  await page.evaluate(() => {
    const written = history.replaceState.bind(history);
    history.replaceState = (...args) => {
      written(...args);
      history.replaceState = written;
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }));
    };
  });
  await press(grid, 'ArrowDown');
  await expect(page.locator('.panel')).toBeHidden();
  await expect(page.locator(`${rows}[aria-selected=true]`)).toHaveCount(0);
  await expect(page).not.toHaveURL(/tensor=/);
  expect(await page.evaluate(() => history.length)).toBe(length);
  await page.locator(rows).nth(1).click();
  await expect(page.locator('.panel-name')).toHaveText('layers.0.attn.q.weight');
  await page.evaluate(() => {
    [...document.querySelectorAll<HTMLElement>('.panel [role=tab]')].find((tab) => tab.textContent === 'Hex')!.click();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }));
  });
  await page.locator('.panel-hex').getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('.panel .hex-list')).toBeVisible();
});

test('a view of a tensor that could not be fetched is tried again', async ({ page }) => {
  let broken = true;
  await page.route('**/assets/heat-*.js', (route) => (broken ? route.abort() : route.continue()));
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  await panelTab(page, 'Heat map');
  const again = page.locator('.panel-heat').getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible();
  broken = false;
  await again.click();
  await expect(page.locator('.heat-canvas')).toBeVisible();
});

test('closing the panel leaves the focus in the view beside it', async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  const tab = page.getByRole('tab', { name: 'Layout' });
  await tab.click();
  await page.getByRole('button', { name: 'Close the tensor panel' }).press('Enter');
  await expect(tab).toBeFocused();
  await page.goBack();
  await expect(page.locator('.panel')).toBeVisible();
  const grid = page.getByRole('grid', { name: 'Parts of the file' });
  await grid.press('Escape');
  await expect(page.locator('.panel')).toBeHidden();
  await expect(grid).toBeFocused();
});

test('a list that was scrolled shows its rows after another file was shown', async ({ page }) => {
  await openFiles(page, `${TRIALS}/many-10000.oinf`);
  const list = page.locator('.tensor-table');
  await list.evaluate((element) => (element.scrollTop = 100_000));
  const middle = page.locator(`${rows}[data-rank="4170"]`);
  await expect(middle).toBeInViewport();
  await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
  await settled(page);
  await page.getByRole('button', { name: 'many-10000.oinf', exact: true }).click();
  await expect(middle).toBeInViewport();
});

test('a name that does not fit is cut in the middle, and copied whole', async ({ page }) => {
  const long = (part: string) => `conditioner.embedders.0.transformer.text_model.encoder.layers.0.${part}.weight`;
  const tensors = Object.fromEntries(['fc1', 'fc2'].map((part) => [long(part), { dtype: 'F32', data: Float32Array.of(1) }]));
  await page.setViewportSize({ width: 390, height: 844 });
  await openFiles(page, written({ 'model.safetensors': safetensors(tensors) }));
  const names = page.locator('.tensor-table .v-list [role=row]:not([hidden]) .name bdi');
  await expect(names).toHaveText([long('fc1'), long('fc2')]);
  for (let i = 0; i < 2; i++) {
    const [start, end] = await names.nth(i).locator('span').evaluateAll((parts) => parts.map(({ clientWidth, scrollWidth }) => clientWidth < scrollWidth));
    expect([start, end]).toEqual([true, false]);
    await expect(names.nth(i)).toHaveAttribute('title', long(`fc${i + 1}`));
    // The number of the layer tells it from the others.
    await expect(names.nth(i).locator('span').last()).toHaveText(`.0.fc${i + 1}.weight`);
  }
  await names.first().evaluate((name) => getSelection()!.selectAllChildren(name));
  const copied = await page.evaluate(() => {
    const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
    return event.clipboardData!.getData('text/plain');
  });
  expect(copied).toBe(long('fc1'));
});
