/** Saves many tensors: those listed as .npz, or the model as safetensors. */

import type { OpenFile } from '../file.ts';
import { count, counted, size } from '../ui/format.ts';
import type { Choice } from '../worker/select.ts';
import { base, download } from './export.ts';

type Picker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;

/** Number of tensors that are named; the others are counted. */
const NAMED = 5;

/** The file to write; `undefined` if the browser has none to give, `null` if the user gave none. */
async function chosen(suggestedName: string): Promise<FileSystemFileHandle | null | undefined> {
  const pick = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  try {
    return await pick?.call(window, { suggestedName });
  } catch (error) {
    // In the frames of other pages the picker is forbidden.
    return (error as Error).name === 'AbortError' ? null : undefined;
  }
}

export async function saveNpz(file: OpenFile, listed: Choice): Promise<void> {
  const found = await file.tasks.run('Exporting tensors', (options) => file.client.with(options).npz(file.id, listed), file.closing.signal);
  if (found !== undefined) {
    download(found.blob, `${base(file.name)}.npz`);
    file.tasks.note(`${counted(found.tensors, 'tensor')} exported${found.left > 0 ? `; ${count(found.left)} left out: broken, or of a type that .npy cannot hold` : ''}`);
  }
}

/** Says first what the file would lack, and asks. */
export async function saveSafetensors(file: OpenFile): Promise<void> {
  const { id, profile, tasks, client, closing } = file;
  const plan = await tasks.run('Preparing safetensors', (options) => client.with(options).safetensorsPlan(id, profile), closing.signal);
  if (plan === undefined) {
    return;
  }
  const { leftOut, tensors } = plan;
  if (tensors === 0) {
    tasks.fail(`No tensor of ${file.name} can be saved as safetensors${leftOut.length > 0 ? `: ${leftOut[0].why}` : ''}.`);
    return;
  }
  const name = `${base(file.name)}.safetensors`;
  const invalid = plan.invalid || file.verdict?.verdict === 'invalid';
  const force = invalid || leftOut.length > 0;
  const save = async () => {
    const target = await chosen(name);
    if (target === null) {
      return;
    }
    const blob = await tasks.run(
      'Saving safetensors',
      async (options) => (await client.with(options).safetensors(id, profile, force, target)) ?? new Blob(),
      closing.signal,
    );
    if (blob === undefined) {
      return;
    }
    if (target === undefined) {
      download(blob, name);
    }
    const lost = plan.metadataLeftOut;
    tasks.note(`${counted(tensors, 'tensor')} saved${leftOut.length > 0 ? `, ${count(leftOut.length)} left out` : ''}${lost > 0 ? `; ${lost} of the metadata left out: only texts are saved` : ''}`);
  };
  const named = leftOut.slice(0, NAMED).map(({ name: one, why }) => `${one} (${why})`).join(', ');
  const more = leftOut.length > NAMED ? ` and ${count(leftOut.length - NAMED)} more` : '';
  const warnings = [
    invalid && 'This file is invalid.',
    leftOut.length > 0 && `Left out: ${named}${more}.`,
  ].filter((one) => one !== false);
  if (force) {
    tasks.ask(warnings.join(' '), invalid ? 'Save the invalid file' : 'Save without them', () => void save(), () => undefined);
  } else if ('showSaveFilePicker' in window && !navigator.userActivation.isActive) {
    // The plan took so long that the browser wants another click before it asks for a file.
    tasks.ask(`${name}: ${size(plan.length)}, ${counted(tensors, 'tensor')}.`, 'Save', () => void save(), () => undefined);
  } else {
    await save();
  }
}
