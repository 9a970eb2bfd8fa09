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

test('values of quantised blocks come from the first module', async ({ page }) => {
  const asked = await modules(page);
  await openSample(page, 'gguf');
  await openTensor(page, 'token_embd.weight');
  await panelTab(page, 'Values');
  await expect(page.locator('.panel-values .v-list .value').first()).toHaveText(/\d/);
  expect([...asked]).not.toContain('full');
});
