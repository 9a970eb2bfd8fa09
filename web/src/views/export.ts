/** Saving: tensors, the index, the report. */

import type { OpenFile } from '../file.ts';
import { button, h } from '../ui/dom.ts';
import type { TensorDetails } from '../worker/tables.ts';

/** Beyond this a file is written straight to the disk, where the browser can. */
const HELD = 256n << 20n;

type Picker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;

export async function saveNpy(file: OpenFile, tensor: TensorDetails): Promise<void> {
  const name = `tensor-${tensor.index}.npy`;
  let target: FileSystemFileHandle | undefined;
  const pick = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  if (tensor.stored > HELD && pick !== undefined) {
    try {
      target = await pick.call(window, { suggestedName: name });
    } catch {
      // The user has thought better of it.
      return;
    }
  }
  const blob = await file.tasks.run('Saving .npy', (options) =>
    file.client.with(options).npy(file.id, tensor.index, target),
  );
  if (blob !== undefined) {
    download(blob, name);
  }
}

function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The name of a file without its extension, as a base of others. */
function base(name: string): string {
  return name.replace(/\.[^.]*$/, '').replaceAll(/[^\w.-]+/g, '_') || 'file';
}

export function exportMenu(file: OpenFile): HTMLElement {
  const name = base(file.info.name);
  const save = async (label: string, make: () => Promise<Blob>, target: string) => {
    const blob = await file.tasks.run(label, make);
    if (blob !== undefined) {
      download(blob, target);
    }
    menu.open = false;
  };
  const { api, id } = file;
  const menu = h(
    'details',
    { class: 'menu' },
    h('summary', {}, 'Export'),
    h(
      'div',
      { class: 'menu-items' },
      button('Index as JSON', () => void save('Exporting the index', () => api.indexJson(id), `${name}.index.json`)),
      button('Index as CSV', () => void save('Exporting the index', () => api.indexCsv(id), `${name}.index.csv`)),
      button('Report as JSON', () => void save('Exporting the report', () => api.report(id, file.profile), `${name}.report.json`)),
    ),
  );
  menu.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && menu.open) {
      event.stopPropagation();
      menu.open = false;
      menu.querySelector('summary')!.focus();
    }
  });
  menu.addEventListener('focusout', (event) => {
    if (event.relatedTarget !== null && !menu.contains(event.relatedTarget as Node)) {
      menu.open = false;
    }
  });
  return menu;
}
