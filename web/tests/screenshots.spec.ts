import { PICTURES, expect, openSample, openTensor, panelTab, test } from './page.ts';

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, { tag: '@deep' }, () => {
    test.use({ colorScheme, viewport: { width: 1280, height: 760 } });

    test(`picture: a tensor, ${colorScheme}`, async ({ page }) => {
      await openSample(page, 'oinf');
      await openTensor(page, 'layers.0.attn.q.weight');
      await page.getByRole('searchbox').fill('');
      await panelTab(page, colorScheme === 'light' ? 'Statistics' : 'Heat map');
      await expect(page.locator('.histogram canvas, .heat-canvas')).toBeVisible();
      await page.mouse.move(0, 0);
      await page.screenshot({ path: `${PICTURES}/tensor-${colorScheme}.png` });
    });
  });
}

test('picture: a broken file', { tag: '@deep' }, async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 760 });
  await openSample(page, 'oinf-broken');
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.screenshot({ path: `${PICTURES}/broken.png` });
});
