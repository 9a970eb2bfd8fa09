/** DDUF files: the models in them are files of a folder. */

import { safetensors, stored, written } from './files.ts';
import { expect, openFiles, samples, settled, test } from './page.ts';

const WEIGHTS = 'diffusion_pytorch_model.safetensors';
const f32 = (...values: number[]) => ({ dtype: 'F32', data: Float32Array.of(...values) });
const members = (method = 0) =>
  stored(
    {
      'model_index.json': JSON.stringify({ _class_name: 'Pipeline', vae: ['diffusers', 'AutoencoderKL'] }),
      'vae/config.json': '{}',
      [`vae/${WEIGHTS}`]: safetensors({ 'decoder.weight': f32(1, 2, 3) }),
      'unet/config.json': '{}',
      'unet/model.safetensors': safetensors({ 'down.weight': { ...f32(1, 2), shape: [3] } }),
    },
    method,
  );

test('models in a dduf file are listed, and open where they are', async ({ page }) => {
  await openFiles(page, written({ 'pipeline.dduf': members() }));
  await settled(page);
  await expect(page.locator('.folder-name')).toContainText('pipeline.dduf');
  const files = page.locator('.file-name');
  await expect(files).toHaveText([WEIGHTS, 'model.safetensors', 'pipeline.dduf']);
  await files.nth(0).click();
  const view = page.locator('.file:visible');
  await expect(view.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await view.getByRole('tab', { name: 'Tensors' }).click();
  await expect(view).toContainText('decoder.weight');
  await files.nth(1).click();
  await expect(view.locator('.verdict')).toHaveAttribute('data-state', 'invalid');
});

test('compressed members of a dduf file are not opened', async ({ page }) => {
  await openFiles(page, written({ 'pipeline.dduf': members(8) }));
  await expect(page.locator('.file-name')).toHaveText(['pipeline.dduf']);
  await expect(page.locator('.verdict')).not.toHaveAttribute('data-state', 'valid');
});

test('a dduf file that is cut stays alone', async ({ page }) => {
  const whole = members();
  await openFiles(page, written({ 'pipeline.dduf': whole.subarray(0, whole.length - 30) }));
  await expect(page.locator('.file-name')).toHaveText(['pipeline.dduf']);
  await expect(page.locator('.verdict')).not.toHaveAttribute('data-state', 'valid');
});

for (const { id, file, sound } of samples.filter(({ format }) => format === 'dduf')) {
  test(`the sample ${file} opens as a folder, in which ${sound ? 'all models are sound' : 'one model is cut'}`, async ({ page }) => {
    await page.goto('./');
    await page.locator(`[data-sample="${id}"]`).click();
    await settled(page);
    await expect(page.locator('.folder-name')).toContainText(file);
    const names = page.locator('.file-name');
    await expect(names).toHaveText(['model.safetensors', WEIGHTS, file]);
    const states = page.locator('.file-tab:has(.file-name)');
    await expect(states.nth(0)).toHaveAttribute('data-state', 'valid');
    await expect(states.nth(1)).toHaveAttribute('data-state', sound ? 'valid' : 'invalid');
  });
}
