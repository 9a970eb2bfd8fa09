import type { Page } from '@playwright/test';
import { expect, openSample, openTensor, panelTab, test } from './page.ts';

/** The names of the WebAssembly modules requested so far. */
async function modules(page: Page): Promise<Set<string>> {
  const asked = new Set<string>();
  await page.context().route('**/*.wasm', (route) => {
    asked.add(/(\w+)_bg/.exec(route.request().url())?.[1] ?? route.request().url());
    return route.continue();
  });
  return asked;
}

test('safetensors and GGUF are validated and listed by the first module alone', async ({ page }) => {
  const asked = await modules(page);
  for (const sample of ['safetensors', 'gguf']) {
    await openSample(page, sample);
    await expect(page.locator('.verdict')).toHaveAttribute('data-state', /^(valid|remarks)$/);
    await expect(page.locator('.tensor-table .v-list [data-status=sound]').first()).toBeVisible();
  }
  await page.getByRole('tab', { name: /^Metadata/ }).click();
  // A list's texts are shown without another module, too.
  await expect(page.getByText('tokenizer.ggml.tokens', { exact: true })).toBeVisible();
  expect([...asked]).toContain('base');
  expect([...asked]).not.toContain('full');
  await openSample(page, 'npz');
  expect([...asked]).toContain('full');
});

test('values of quantised blocks are decoded by the module for computing', async ({ page }) => {
  const asked = await modules(page);
  await openSample(page, 'gguf');
  await openTensor(page, 'token_embd.weight');
  await panelTab(page, 'Values');
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText(/\d/);
  expect([...asked]).toContain('compute');
  expect([...asked]).not.toContain('full');
});

for (const [kind, files] of [['code', '**/compute-*.js'], ['module', '**/compute_bg-*.wasm']] as const) {
  test(`a part that could not be fetched is fetched when the user tries again: ${kind}`, async ({ page }) => {
    const alert = page.getByRole('alert');
    const views = [['Values', '.panel-values .v-list .value'], ['Blocks', '.panel-blocks td']] as const;
    const refuse = async () => {
      await page.context().route(files, (route) => route.fulfill({ status: 404, contentType: 'text/plain', body: 'gone' }));
    };
    for (const [view, cell] of views) {
      await refuse();
      await openSample(page, 'gguf');
      await openTensor(page, 'token_embd.weight');
      await panelTab(page, view);
      await expect(alert).toContainText('a part of this page could not be fetched. Check the connection and try again, or reload the page.');
      await expect(alert).not.toContainText('compute');
      await alert.getByRole('button', { name: 'Dismiss' }).click();
      await page.context().unroute(files);
      await page.getByRole('button', { name: 'Try again' }).click();
      await expect(page.locator(cell).first()).toHaveText(/\d/);
      await expect(page.getByRole('button', { name: 'Try again' })).toBeHidden();
      await expect(alert).toBeHidden();
    }
  });
}

test('what needs no other module is read while one is being fetched', async ({ page }) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.context().route('**/compute-*.js', (route) => released.then(() => route.continue()));
  await openSample(page, 'gguf');
  await openTensor(page, 'token_embd.weight');
  await panelTab(page, 'Values');
  const value = page.locator('.panel-values .v-list .value').first();
  await expect(value).toHaveText('');
  await openTensor(page, 'blk.0.attn_norm.weight');
  await expect(value).toHaveText(/\d/);
  await openTensor(page, 'token_embd.weight');
  await expect(value).toHaveText('');
  release();
  await expect(value).toHaveText(/\d/);
});
