import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, openSample, openTensor, panelTab, sampleFile, settled, test } from './page.ts';

async function clean(page: Page, state: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const found = violations.map(({ id, nodes }) => `${state}: ${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`);
  expect(found).toEqual([]);
}

for (const colorScheme of ['light', 'dark'] as const) {
  // The dark theme differs only in colours.
  test.describe(colorScheme, { tag: colorScheme === 'dark' ? '@deep' : [] }, () => {
    test.use({ colorScheme });

    test('axe: empty', async ({ page }) => {
      await page.goto('./');
      await expect(page.locator('.sample')).not.toHaveCount(0);
      await clean(page, 'empty');
      await page.keyboard.press('?');
      await clean(page, 'help');
    });

    test('axe: loaded, every view', { tag: '@deep' }, async ({ page }) => {
      test.slow();
      await openSample(page, 'oinf');
      await openTensor(page, 'test.ramp');
      for (const tab of ['Overview', 'Statistics', 'Heat map', 'Values', 'Hex']) {
        await panelTab(page, tab);
        await page.waitForTimeout(200);
        await clean(page, tab);
      }
      await page.keyboard.press('Escape');
      for (const tab of [/^Findings/, /^Metadata/, /^Layout/, /^Hex/]) {
        await page.getByRole('tablist', { name: 'Views of the file' }).getByRole('tab', { name: tab }).click();
        await page.waitForTimeout(200);
        await clean(page, String(tab));
      }
      await page.getByRole('tab', { name: /^Tensors/ }).click();
      await page.getByRole('button', { name: 'Tree' }).click();
      await clean(page, 'tree');
    });

    test('axe: rows, and two files', { tag: '@deep' }, async ({ page }) => {
      await openSample(page, 'idv');
      await page.getByRole('tab', { name: 'Rows' }).click();
      await expect(page.locator('.data-grid')).toContainText('Vendor');
      await clean(page, 'rows');
      await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
      await settled(page);
      await page.getByRole('tab', { name: 'Compare' }).click();
      await expect(page.locator('.compare .list-summary')).toContainText('added');
      await clean(page, 'compare');
    });

    test('axe: broken file, and an error', { tag: '@deep' }, async ({ page }) => {
      await openSample(page, 'oinf-broken');
      await expect(page.locator('.finding').first()).toBeVisible();
      await clean(page, 'broken');
      await page.goto('./#sample=none');
      await page.locator('input[type=file]').setInputFiles({ name: 'x.txt', mimeType: '', buffer: Buffer.from('nothing that anybody knows, but long enough') });
      await settled(page);
      await clean(page, 'refused');
    });
  });
}

test('everything can be done with the keyboard', async ({ page }) => {
  await page.goto('./');
  await expect(page.locator('.sample')).not.toHaveCount(0);
  // Tab to a sample's open button, then to the table.
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => (document.activeElement as HTMLElement).dataset.sample === 'oinf')) {
      break;
    }
  }
  await page.keyboard.press('Enter');
  await settled(page);
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox')).toBeFocused();
  await page.keyboard.type('test.');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('grid', { name: 'Tensors' })).toBeFocused();
  await expect(page.locator('.tensor-table .v-list [role=row]:not([hidden])')).toHaveCount(4);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  await expect(page.locator('.panel-name')).toHaveText('test.ramp');
  await page.keyboard.press(']');
  await expect(page.getByRole('tab', { name: 'Statistics' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.statistics')).toContainText('-48');
  // The view stays the same when the tensor changes.
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.panel-name')).toHaveText('test.special');
  await expect(page.locator('.statistics')).toContainText('first at [5]');
  await page.keyboard.press('[');
  await page.keyboard.press('Escape');
  await expect(page.locator('.panel')).toBeHidden();
  await page.keyboard.press('2');
  await expect(page.getByRole('tab', { name: /^Findings/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('g');
  await page.keyboard.type('0x10');
  await page.keyboard.press('Enter');
  await expect(page.locator('.hex-row mark').first()).toBeVisible();
});

test('single keys can be turned off', async ({ page }) => {
  await openSample(page, 'stb');
  await page.keyboard.press('?');
  await page.getByLabel('Single-key shortcuts').uncheck();
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.locator('.verdict').click();
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox')).not.toBeFocused();
});

for (const width of [360, 1280, 2560]) {
  test(`nothing is cut off at ${width} pixels`, { tag: '@deep' }, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('./');
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await openSample(page, 'oinf-broken');
    await expect(page.locator('.finding').first()).toBeVisible();
    expect(await overflow()).toBeLessThanOrEqual(0);
    await openTensor(page, 'layers.0.attn.q.weight');
    for (const tab of ['Statistics', 'Heat map', 'Values', 'Hex']) {
      await panelTab(page, tab);
      await page.waitForTimeout(100);
      expect(await overflow(), tab).toBeLessThanOrEqual(0);
    }
  });
}

test('all filters are there on a small screen', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await openSample(page, 'oinf-broken');
  await page.getByRole('tab', { name: /^Tensors/ }).click();
  await page.getByLabel(/^max size/).fill('1 KiB');
  await page.getByRole('button', { name: 'With findings' }).click();
  await expect(page.locator('.tensor-table')).toHaveAttribute('aria-busy', 'false');
  const cut = await page.locator('.tensors .toolbar > *').evaluateAll((parts) => parts.filter((part) => part.getBoundingClientRect().right > innerWidth).length);
  expect(cut).toBe(0);
});

test('nothing moves while a file is being checked', async ({ page }) => {
  await page.addInitScript(() => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
        sum += entry.value;
      }
      document.documentElement.dataset.shift = String(sum);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await openSample(page, 'oinf');
  await page.waitForTimeout(300);
  expect(Number((await page.locator('html').getAttribute('data-shift')) ?? 0)).toBeLessThan(0.02);
});

test('imports and storages can be followed with the keyboard', async ({ page }) => {
  const tab = (name: RegExp) => page.getByRole('tablist', { name: 'Views of the file' }).getByRole('tab', { name });
  /** Presses Tab until something of this kind has the focus. */
  const reach = async (selector: string) => {
    for (let i = 0; i < 40 && !(await page.evaluate((wanted) => document.activeElement!.matches(wanted), selector)); i++) {
      await page.keyboard.press('Tab');
    }
    await expect(page.locator(selector).and(page.locator(':focus'))).toHaveCount(1);
  };
  const goTo = async (name: RegExp) => {
    const labels = await page.getByRole('tablist', { name: 'Views of the file' }).getByRole('tab').allInnerTexts();
    await page.keyboard.press(String(labels.findIndex((label) => name.test(label)) + 1));
    await expect(tab(name)).toHaveAttribute('aria-selected', 'true');
  };
  await openSample(page, 'pytorch');
  await expect(tab(/^Storages/)).toBeVisible();
  await goTo(/^Imports/);
  await expect(page.getByRole('table', { name: 'Operations of the pickle' })).toBeVisible();
  await reach('.imports tbody tr:nth-child(2) td:last-child button');
  await page.keyboard.press('Enter');
  await expect(page.locator('.operations [aria-current=true]')).toContainText('GLOBAL');
  await reach('.around');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');
  await expect(page.locator('.imports')).toContainText('No pickle has this byte.');
  await page.keyboard.press('Escape');
  await goTo(/^Storages/);
  await reach('.storages tbody tr:first-child .tensors button');
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toBeVisible();
  await page.keyboard.press('Escape');
  await goTo(/^Storages/);
  await reach('.storages tbody tr:first-child td.number button');
  await page.keyboard.press('Enter');
  await expect(tab(/^Hex/)).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.hex-row mark').first()).toBeVisible();
});
