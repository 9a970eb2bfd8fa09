/** Alerts: they cover nothing that the user needs. */

import type { Locator } from '@playwright/test';
import { test as embedded } from './embed.ts';
import { expect, openSample, PICTURES, test } from './page.ts';

/** Fails if an alert lies over another part of the page, or either cannot be seen or reached. */
async function apart(parts: Locator[], alert: Locator): Promise<void> {
  const place = async (part: Locator) => (await part.boundingBox())!;
  const { x, y, width, height } = await place(alert);
  for (const part of parts) {
    const other = await place(part);
    const beside = other.x + other.width <= x + 1 || x + width <= other.x + 1;
    const above = other.y + other.height <= y + 1 || y + height <= other.y + 1;
    expect(beside || above, `${part} and the alert`).toBe(true);
    expect(other.height, `${part}`).toBeGreaterThan(15);
  }
  for (const part of [...parts, alert.getByRole('button').last()]) {
    // Whether a click on it would reach it.
    await part.click({ trial: true, position: { x: 2, y: 2 } });
  }
}

const MISSING = 'a-sample-that-does-not-exist-number'; // at most 40 characters

for (const width of [1280, 390]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`an alert and the verdict can both be read: ${width} px, ${colorScheme}`, async ({ page }) => {
      await page.setViewportSize({ width, height: width === 390 ? 700 : 800 });
      await page.emulateMedia({ colorScheme });
      await openSample(page, 'oinf-broken');
      const alert = page.getByRole('alert');
      const parts = [page.locator('header'), page.locator('.verdict'), page.locator('main'), page.locator('footer')];
      const before = await page.locator('.verdict').boundingBox();
      await page.evaluate(() => void (location.hash = '#sample=nosuch'));
      await expect(alert).toContainText('There is no sample called nosuch.');
      await apart(parts, alert);
      expect(await page.locator('.verdict').boundingBox(), 'it does not move').toEqual(before);
      await page.screenshot({ path: `${PICTURES}/alert-${width}-${colorScheme}.png` });
      // As many as there can be: if the window is low, they scroll, and the button stays.
      await page.setViewportSize({ width, height: 450 });
      for (let i = 0; i < 5; i++) {
        await page.evaluate((hash) => void (location.hash = hash), `#sample=${MISSING}${i}`);
        await expect(alert).toContainText(`${MISSING}${i}.`);
      }
      await apart(parts, alert);
      await alert.evaluate((it) => it.scrollTo(0, it.scrollHeight));
      await apart(parts, alert);
      await page.screenshot({ path: `${PICTURES}/alerts-${width}-${colorScheme}.png` });
      const full = (await page.locator('main').boundingBox())!.height;
      await alert.getByRole('button', { name: 'Dismiss' }).click();
      await expect(page.locator('.alert')).toBeHidden();
      expect((await page.locator('main').boundingBox())!.height).toBeGreaterThan(full + 20);
    });
  }
}

test('on the start page, too', async ({ page }) => {
  await page.goto('./#sample=nosuch');
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('There is no sample called nosuch.');
  await apart([page.locator('header'), page.locator('main'), page.locator('footer')], alert);
});

embedded('the same in the element', async ({ page, serve }) => {
  const body = '<weighbridge-viewer></weighbridge-viewer><script type="module" src="/element/weighbridge-viewer.js"></script>';
  await page.goto(await serve(body, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; base-uri 'none'"));
  const viewer = page.locator('weighbridge-viewer');
  await viewer.evaluate((element) => {
    const source = { name: 'gone.gguf', size: 100, read: () => Promise.reject(new Error('The file is gone.')) };
    (element as unknown as { source: unknown }).source = source;
  });
  const alert = viewer.getByRole('alert');
  await expect(alert).toContainText('The file is gone.');
  await apart([viewer.locator('.empty')], alert);
  await alert.getByRole('button', { name: 'Dismiss' }).press('Enter');
  await expect(viewer.locator('.alert')).toBeHidden();
});
