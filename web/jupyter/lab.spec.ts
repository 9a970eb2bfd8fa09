/** The widget in JupyterLab: kernel, comms, themes and keys are its own. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { safetensors } from '../tests/files.ts';

const ROOT = process.env.JUPYTER_ROOT!;

/** What JupyterLab shows to tests. */
interface Lab {
  jupyterapp: { commands: { execute(id: string, options: object): Promise<void> } };
}

/** Opens a notebook with these cells, none of which has run. */
async function openNotebook(page: Page, name: string, cells: string[]): Promise<void> {
  const notebook = {
    cells: cells.map((source, i) => ({ cell_type: 'code', id: `cell-${i}`, execution_count: null, metadata: {}, outputs: [], source })),
    metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5,
  };
  writeFileSync(join(ROOT, name), JSON.stringify(notebook));
  await page.goto(`/lab/tree/${name}?token=weighbridge&reset`);
  await expect(page.locator('.jp-Notebook .jp-Cell')).toHaveCount(cells.length);
  await expect(page.getByRole('button', { name: 'Python 3 (ipykernel) | Idle' })).toBeVisible({ timeout: 60_000 });
}

/** Runs the cell with this number. */
async function run(page: Page, cell: number): Promise<void> {
  await page.locator('.jp-Notebook .jp-Cell').nth(cell).locator('.cm-content').click();
  await page.keyboard.press('Control+Enter');
}

const output = (page: Page, cell: number) => page.locator('.jp-Notebook .jp-Cell').nth(cell).locator('.jp-OutputArea-output');

/** Whether a canvas has a pixel of this colour. */
function hasColour(canvas: SVGElement | HTMLElement, colour: string): boolean {
  const { width, height } = canvas as HTMLCanvasElement;
  const { data } = (canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
  return Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join()).includes(colour);
}

test('a file in JupyterLab: tensors, statistics, the report, keys, themes, and a reload', async ({ page }) => {
  const ramp = Float32Array.from({ length: 4096 }, (_, i) => i / 4096);
  writeFileSync(
    join(ROOT, 'model.safetensors'),
    safetensors({ 'layer.weight': { dtype: 'F32', data: ramp, shape: [64, 64] }, 'layer.bias': { dtype: 'F32', data: Float32Array.of(1, 2, NaN) } }),
  );
  await openNotebook(page, 'file.ipynb', [
    'from weighbridge import Viewer\nviewer = Viewer("model.safetensors", height=480)\nviewer',
    'print(viewer.report["verdict"], viewer.size)',
  ]);
  await run(page, 0);
  const viewer = output(page, 0).locator('weighbridge-viewer');
  await expect(viewer.locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(viewer.locator('.tensor-table .v-list [role=row]')).toHaveCount(2);
  expect((await viewer.boundingBox())!.height).toBe(480);
  await run(page, 1);
  await expect(output(page, 1)).toHaveText(/^valid \d+\s*$/);

  await viewer.getByText('layer.bias').click();
  const download = page.waitForEvent('download');
  await viewer.getByRole('button', { name: 'Save as .npy' }).click();
  expect((await download).suggestedFilename()).toBe('layer.bias.npy');
  await viewer.getByRole('tab', { name: 'Statistics' }).click();
  await expect(viewer.locator('.statistics')).toContainText('NaN');

  // In command mode these would add and delete cells.
  await viewer.getByRole('grid', { name: 'Tensors' }).focus();
  for (const key of ['b', 'a', 'd', 'd', 'x']) {
    await page.keyboard.press(key);
  }
  await expect(page.locator('.jp-Notebook .jp-Cell')).toHaveCount(2);

  const surface = () => viewer.locator('.file').evaluate((element) => getComputedStyle(element).backgroundColor);
  const before = await surface();
  await page.evaluate(() => (window as unknown as Lab).jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' }));
  await expect.poll(surface).not.toBe(before);
  // So do canvases.
  await expect.poll(() => viewer.locator('.histogram canvas').evaluate(hasColour, '125,180,240')).toBe(true);

  // Saving is the notebook's, wherever the focus is. The kernel outlives the page, and so does the widget.
  await viewer.getByRole('grid', { name: 'Tensors' }).focus();
  await page.keyboard.press('Control+s');
  await expect.poll(() => readFileSync(join(ROOT, 'file.ipynb'), 'utf8')).toContain('jupyter.widget-view');
  await page.reload();
  await expect(viewer.locator('.tensor-table .v-list [role=row]')).toHaveCount(2);
  await expect(viewer.locator('.verdict')).toHaveAttribute('data-state', 'valid');
});

test('shards in JupyterLab are one model, and a broken file says where', async ({ page }) => {
  const shard = (name: string) => safetensors({ [name]: { dtype: 'F32', data: Float32Array.of(1, 2) } });
  const [first, second] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
  writeFileSync(join(ROOT, first), shard('a'));
  writeFileSync(join(ROOT, second), shard('b'));
  writeFileSync(join(ROOT, 'model.safetensors.index.json'), JSON.stringify({ metadata: { total_size: 16 }, weight_map: { a: first, b: second } }));
  writeFileSync(join(ROOT, 'broken.safetensors'), shard('c').subarray(0, -4));
  await openNotebook(page, 'model.ipynb', [
    'from weighbridge import Viewer\nViewer("model.safetensors.index.json", height=300)',
    'Viewer("broken.safetensors", height=300)',
    'Viewer("absent.safetensors")',
  ]);
  await run(page, 0);
  await run(page, 1);
  await run(page, 2);
  const viewer = (cell: number) => output(page, cell).locator('weighbridge-viewer');
  await expect(viewer(0).locator('.tensor-table .v-list [role=row]')).toHaveCount(2);
  await expect(viewer(0).locator('.verdict')).toHaveAttribute('data-state', 'valid');
  await expect(viewer(1).locator('.verdict')).toHaveAttribute('data-state', 'invalid');
  await expect(output(page, 2)).toContainText('FileNotFoundError');
});
