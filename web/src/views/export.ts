/** Saves tensors, the index and the report. */

import type { OpenFile } from '../file.ts';
import { button, h } from '../ui/dom.ts';
import type { Choice } from '../worker/select.ts';
import type { TensorDetails } from '../worker/tables.ts';

/** Files larger than this are written straight to disk, if the browser can. */
const HELD = 256n << 20n;

type Picker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;

/** Approximate size of the tensor as .npy, where narrow types are widened. */
function npySize({ dtype, elements, bytes, stored }: TensorDetails): bigint {
  const widened = elements * (/^(bf|f4e|f8|i?q\d|tq|mxfp)/.test(dtype) ? 4n : 1n);
  const decoded = bytes ?? stored;
  return widened > decoded ? widened : decoded;
}

/** Maximum length of a file name derived from a tensor name. */
const LONGEST = 120;

/** A file name valid on every system, as close to `name` as possible. */
export function fileName(name: string): string {
  const safe = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^[._-]+|[._-]+$/g, '');
  const short = Array.from(safe).slice(0, LONGEST).join('');
  // Device names reserved by Windows.
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(short) ? `_${short}` : short;
}

function own({ label, index }: TensorDetails): string {
  return fileName(label) || `tensor-${index}`;
}

export async function saveNpy(file: OpenFile, tensor: TensorDetails): Promise<void> {
  const name = `${own(tensor)}.npy`;
  let target: FileSystemFileHandle | undefined;
  const pick = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  if (npySize(tensor) > HELD && pick !== undefined) {
    target = await pick.call(window, { suggestedName: name }).catch(() => undefined);
    if (target === undefined) {
      // Cancelled.
      return;
    }
  }
  const blob = await file.tasks.run(
    'Saving .npy',
    (options) => file.client.with(options).npy(file.id, tensor.index, target),
    file.closing.signal,
  );
  if (blob !== undefined) {
    download(blob, name);
  }
}

/** Saves all values of a tensor as CSV. */
export async function saveCsv(file: OpenFile, tensor: TensorDetails): Promise<void> {
  const blob = await file.tasks.run('Saving .csv', (options) => file.client.with(options).valuesCsv(file.id, tensor.index), file.closing.signal);
  if (blob !== undefined) {
    download(blob, `${own(tensor)}.csv`);
  }
}

export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A file name without its extension, as a base for other names. */
export function base(name: string): string {
  return fileName(name.replace(/\.[a-z]\w*$/i, '')) || 'file';
}

/** `listed` tells which tensors are listed. */
export function exportMenu(file: OpenFile, listed: () => Choice): HTMLElement {
  const name = base(file.name);
  const run = async <T>(label: string, work: Parameters<typeof file.tasks.run<T>>[1], then: (result: T) => unknown) => {
    close();
    const result = await file.tasks.run(label, work, file.closing.signal);
    if (result !== undefined) {
      then(result);
    }
  };
  const save = (label: string, make: (api: OpenFile['api']) => Promise<Blob>, target: string) =>
    run(label, (options) => make(file.client.with(options)), (blob) => download(blob, target));
  /** What has many tensors is exported by code that is fetched then. */
  const many = (then: (code: typeof import('./convert.ts')) => unknown) => run('Exporting tensors', () => import('./convert.ts'), then);
  const { id } = file;
  const menu = h(
    'details',
    { class: 'menu' },
    h('summary', {}, 'Export'),
    h(
      'div',
      { class: 'menu-items' },
      file.hasWeights && button('Listed tensors as .npz', () => void many(({ saveNpz }) => saveNpz(file, listed()))),
      file.hasWeights && !file.parts && button('Model as safetensors', () => void many(({ saveSafetensors }) => saveSafetensors(file))),
      button('Index as JSON', () => void save('Exporting the index', (api) => api.indexJson(id), `${name}.index.json`)),
      button('Index as CSV', () => void save('Exporting the index', (api) => api.indexCsv(id), `${name}.index.csv`)),
      button('Report as JSON', () => void save('Exporting the report', (api) => api.report(id, file.profile), `${name}.report.json`)),
    ),
  );
  const close = () => {
    menu.open = false;
    menu.querySelector('summary')!.focus();
  };
  menu.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && menu.open) {
      event.stopPropagation();
      close();
    }
  });
  menu.addEventListener('focusout', (event) => {
    if (event.relatedTarget !== null && !menu.contains(event.relatedTarget as Node)) {
      menu.open = false;
    }
  });
  return menu;
}
