/** Back and Forward move between views; files stay open. */

import { written, safetensors } from './files.ts';
import { holdDownload } from './late.ts';
import { expect, openFiles, openSample, openTensor, panelTab, sampleFile, settled, test } from './page.ts';

test('changing only the view of the tensor in the address shows it', { tag: '@deep' }, async ({ page }) => {
  await openSample(page, 'oinf');
  await openTensor(page, 'test.ramp');
  await expect(page).toHaveURL(/#sample=oinf&tensor=26$/);
  await page.evaluate(() => void (location.hash = '#sample=oinf&tensor=26&panel=values'));
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText(/\d/);
  await expect(page.getByRole('tab', { name: 'Values' })).toHaveAttribute('aria-selected', 'true');
  await page.evaluate(() => void (location.hash = '#sample=oinf&tensor=26&panel=statistics'));
  await expect(page.locator('.statistics')).toContainText('-48');
  // An address that names only the view, and no file.
  await page.evaluate(() => void (location.hash = '#panel=heat'));
  await expect(page.locator('.heat-canvas')).toBeVisible();
  await expect(page.locator('.panel-name')).toHaveText('test.ramp');
});

test('Back goes through the views to the start page, Forward back again, and no file is lost', async ({ page }) => {
  await openFiles(page, sampleFile('tiny-lm.oinf'));
  await openTensor(page, 'test.ramp');
  await panelTab(page, 'Values');
  await expect(page.locator('.value-grid')).toBeVisible();
  await page.getByRole('tab', { name: /^Layout/ }).click();
  await expect(page.locator('.layout-table')).toBeVisible();

  await page.goBack();
  await expect(page.locator('.tensor-table')).toBeVisible();
  await expect(page.locator('.panel-values')).toBeVisible();
  await page.goBack();
  await expect(page.locator('.panel-overview')).toBeVisible();
  await expect(page.locator('.panel-overview .facts-list')).toBeVisible();
  await page.goBack();
  await expect(page.locator('.panel')).toBeHidden();
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'Drop a tensor file' })).toBeVisible();
  await expect(page.locator('.file-name')).toHaveText('tiny-lm.oinf');

  for (let i = 0; i < 3; i++) {
    await page.goForward();
  }
  await expect(page.locator('.panel-name')).toHaveText('test.ramp');
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText(/\d/);
  await page.goForward();
  await expect(page.locator('.layout-table')).toBeVisible();
});

test('walking through a list is one step', { tag: '@deep' }, async ({ page }) => {
  await openSample(page, 'oinf');
  const grid = page.getByRole('grid', { name: 'Tensors' });
  const names = ['embed.weight', 'layers.0.attn.q.weight'];
  await grid.focus();
  await page.keyboard.press('Home');
  await expect(page.locator('.panel-name')).toHaveText(names[0]);
  const length = await page.evaluate(() => history.length);
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('ArrowDown');
    await expect(page).toHaveURL(new RegExp(`tensor=${i + 1}$`));
  }
  expect(await page.evaluate(() => history.length)).toBe(length);
  await page.goBack();
  await expect(page.locator('.panel')).toBeHidden();
});

test('a key that follows at once is not lost', async ({ page }) => {
  await openSample(page, 'oinf');
  const grid = page.getByRole('grid', { name: 'Tensors' });
  await grid.focus();
  await page.keyboard.press('Home');
  await expect(page).toHaveURL(/tensor=0$/);
  // The second key arrives while the table is still asking for the first tensor's rank.
  await page.evaluate(() => {
    const written = history.replaceState.bind(history);
    history.replaceState = (...args) => {
      written(...args);
      if (location.hash.endsWith('tensor=1')) {
        document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
      }
    };
  });
  await page.keyboard.press('ArrowDown');
  await expect(page).toHaveURL(/tensor=2$/);
});

test('Back switches to the file that was shown before', { tag: '@deep' }, async ({ page }) => {
  const [one, two] = written({
    'one.safetensors': safetensors({ a: { dtype: 'F32', data: Float32Array.of(1) } }),
    'two.safetensors': safetensors({ b: { dtype: 'F32', data: Float32Array.of(2) } }),
  });
  await openFiles(page, [one, two]);
  await expect(page.locator('.file-tab')).toHaveCount(2);
  await settled(page);
  await expect(page.locator('[aria-current=true]')).toHaveText('two.safetensors');
  await page.goBack();
  await expect(page.locator('[aria-current=true]')).toHaveText('one.safetensors');
  await expect(page.locator('.tensor-table .v-list [role=row]').first()).toContainText('a');
  await page.goForward();
  await expect(page.locator('[aria-current=true]')).toHaveText('two.safetensors');
  // A closed file is not reopened, and nothing breaks.
  await page.goBack();
  await page.getByRole('button', { name: 'Close two.safetensors' }).click();
  await page.goForward();
  await expect(page.locator('[aria-current=true]')).toHaveText('one.safetensors');
});

test('the place of a closed file is not looked for in another', { tag: '@deep' }, async ({ page }) => {
  const tensors = (first: string, second: string) =>
    safetensors({ [first]: { dtype: 'F32', data: Float32Array.of(1) }, [second]: { dtype: 'F32', data: Float32Array.of(2) } });
  await openFiles(page, written({ 'one.safetensors': tensors('a', 'b'), 'two.safetensors': tensors('c', 'd') }));
  await expect(page.locator('[aria-current=true]')).toHaveText('two.safetensors');
  await settled(page);
  await openTensor(page, 'd');
  await expect(page.locator('.panel-name')).toHaveText('d');
  await page.getByRole('button', { name: 'one.safetensors', exact: true }).click();
  await page.getByRole('button', { name: 'Close two.safetensors' }).click();
  // Its places are skipped: before them was the start page.
  await page.goBack();
  await expect(page.locator('.start')).toBeVisible();
  await page.goForward();
  await expect(page.locator('[aria-current=true]')).toHaveText('one.safetensors');
  await expect(page.locator('.panel')).toBeHidden();
});

test('a link whose file does not open leaves the next file alone', { tag: '@deep' }, async ({ page }) => {
  await page.route('**/samples/tiny-lm.oinf', (route) => route.abort());
  await page.goto('./#sample=oinf&tensor=1&panel=values');
  await expect(page.getByRole('alert')).toContainText(/\S/);
  await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
  await settled(page);
  await expect(page.locator('.panel')).toBeHidden();
  await expect(page).not.toHaveURL(/tensor=/);
});

test('the place in a link is for its own file', async ({ page }) => {
  const release = await holdDownload(page, 'tiny-lm.oinf');
  await page.goto('./#sample=oinf&tensor=1');
  // Meanwhile, another file is opened, and one fails.
  await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
  await settled(page);
  await expect(page.locator('.panel')).toBeHidden();
  await page.evaluate(() => void (location.hash = '#sample=none'));
  await expect(page.getByRole('alert')).toContainText('no sample');
  await page.evaluate(() => void (location.hash = '#sample=oinf&tensor=26'));
  release();
  await expect(page.locator('.panel-name')).toHaveText('test.ramp');
  await expect(page).toHaveURL(/tensor=26/);
  await expect(page.locator('.file-name')).toHaveText(['micro.stb', 'tiny-lm.oinf']);
});

test('a link that names no file is for the first that is opened', async ({ page }) => {
  await page.goto('./#view=hex');
  await page.locator('.samples').getByRole('button').first().click();
  await settled(page);
  await expect(page.getByRole('tab', { name: 'Hex' })).toHaveAttribute('aria-selected', 'true');
  await expect(page).toHaveURL(/#sample=\w+&view=hex$/);
});

test('Back leaves a link that is still loading', async ({ page }) => {
  const release = await holdDownload(page, 'tiny-lm.oinf');
  await page.goto('./');
  await page.locator('input[type=file]').setInputFiles(sampleFile('micro.stb'));
  await settled(page);
  await page.evaluate(() => void (location.hash = '#sample=oinf&tensor=1'));
  await page.goBack();
  await expect(page).not.toHaveURL(/sample=/);
  release();
  await expect(page.locator('.panel')).toBeVisible();
  await page.goBack();
  await expect(page.locator('[aria-current=true]')).toHaveText('micro.stb');
});

test('of two links the newer one counts, even if its file is already open', async ({ page }) => {
  const release = await holdDownload(page, 'tiny-lm.oinf');
  await page.goto('./#sample=stb');
  await settled(page);
  await page.evaluate(() => void (location.hash = '#sample=oinf&tensor=1'));
  await page.evaluate(() => void (location.hash = '#sample=stb&view=hex'));
  await expect(page.getByRole('tab', { name: 'Hex' })).toHaveAttribute('aria-selected', 'true');
  release();
  await expect(page.locator('.panel')).toBeVisible();
  await expect(page.locator('[aria-current=true]')).toHaveText('tiny-lm.oinf');
  await page.goBack();
  await expect(page.locator('[aria-current=true]')).toHaveText('micro.stb');
  await expect(page).toHaveURL(/#sample=stb&view=hex$/);
});

test('what is chosen while a file is being checked stays', async ({ page }) => {
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      const layout = [...document.querySelectorAll<HTMLElement>('[role=tab]')].find(({ textContent }) => textContent === 'Layout');
      if (layout !== undefined) {
        seen.disconnect();
        layout.click();
      }
    });
    seen.observe(document, { childList: true, subtree: true });
  });
  await openSample(page, 'oinf&tensor=1&view=hex');
  await expect(page.locator('.panel')).toBeVisible();
  await expect(page.locator('.layout-table')).toBeVisible();
});
