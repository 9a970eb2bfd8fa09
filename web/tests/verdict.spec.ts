/** The row that says what a file is, whether it is valid, and what was checked. */

import type { Page } from '@playwright/test';
import { gguf, safetensors, written } from './files.ts';
import { expect, openFiles, test } from './page.ts';

const names = Array.from({ length: 97 }, (_, i) => `model.layers.${i}.weight`);
const WEIGHTS = safetensors(Object.fromEntries(names.map((name) => [name, { dtype: 'F32', shape: [64, 8], data: new Float32Array(512) }])));
const KEYS = { 'general.architecture': 'llama', 'general.file_type': 7, 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.tokens': ['<unk>', 'Ġcat'], 'tokenizer.chat_template': '{% for message in messages %}{{ message.content }}{% endfor %}' };
const FILES = {
  'a truncated file': { 'model.safetensors': WEIGHTS.subarray(0, 150_000) },
  'a GGUF with a chat template': { 'model.gguf': gguf(KEYS, Object.fromEntries(names.slice(0, 11).map((name) => [name, { type: 0, shape: [64, 64], data: Buffer.alloc(4 * 64 * 64) }]))) },
};

/** Whether each fact is in sight as a whole or not at all, and how many are. */
const facts = (page: Page) =>
  page.locator('.verdict-facts').evaluate((row) => {
    const { left, right, top, bottom } = row.getBoundingClientRect();
    const all = [...row.children].flatMap((fact) => [...fact.getClientRects()]).filter((fact) => fact.top < bottom - 1);
    return { whole: all.every((fact) => fact.left >= left - 1 && fact.right <= right + 1 && fact.top >= top - 4 && fact.bottom <= bottom + 4), shown: all.length };
  });

for (const [width, least] of [[1920, 4], [1280, 2], [390, 4]]) {
  for (const [what, files] of Object.entries(FILES)) {
    test(`facts about ${what} are whole at ${width} pixels`, async ({ page }) => {
      await page.setViewportSize({ width, height: 844 });
      await openFiles(page, written(files));
      const { whole, shown } = await facts(page);
      expect(whole).toBe(true);
      expect(shown).toBeGreaterThanOrEqual(least);
      await expect(page.locator('.stage')).not.toHaveCount(0);
      const lines = await page.locator('.stage').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
      expect(Math.max(...lines)).toBeLessThan(30);
    });
  }
}
