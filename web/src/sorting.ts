/** Sorts given files: models, their settings, and what lies beside them. */

import { COMPANION, DESCRIBES, SHARD, indexesFirst, isModel } from './names.ts';
import type { Given } from './picker.ts';
import type { Near } from './worker/main.ts';

/** Matches the names of files that belong to a multi-file model. */
export const PART = /-of-\d+\./;
/** Number of names in a line about several files. */
const NAMED = 3;

export interface Sorted {
  /** What to open, indexes first. */
  models: Given[];
  /** The `config.json` of each folder. */
  configs: Map<string | undefined, Given>;
  /** What lies beside models and is not opened. */
  beside: Given[];
}

/** A companion is passed over only beside models: given alone, it is what the user asked for. */
export function sortOut(list: readonly Given[]): Sorted {
  const configs = new Map<string | undefined, Given>();
  const rest = list.filter((given) => {
    const isConfig = given.file.name === 'config.json';
    if (isConfig && !configs.has(given.folder)) {
      configs.set(given.folder, given);
    }
    return !isConfig;
  });
  const some = rest.some(({ file }) => isModel(file.name));
  const isBeside = ({ file: { name } }: Given) => some && !isModel(name) && COMPANION.test(name);
  return { models: indexesFirst(rest.filter((given) => !isBeside(given)), ({ file }) => file.name), configs, beside: rest.filter(isBeside) };
}

/** The files that describe the models of a folder. */
export function describing(beside: readonly Given[], folder: string | undefined): File[] {
  return beside.filter((one) => one.folder === folder && DESCRIBES.test(one.file.name)).map(({ file }) => file);
}

/** With more models, a folder is shown as a table only. */
export const FEW = 4;

/** The folders in which there are several models, or files that are none. */
export function tables(list: readonly Given[]): Map<string, { files: Given[]; models: number }> {
  const all = new Map<string, { files: Given[]; models: number }>();
  for (const given of list.filter(({ folder }) => folder !== undefined)) {
    const name = given.folder!.replace(/\/.*$/, '');
    const table = all.get(name) ?? { files: [], models: 0 };
    all.set(name, table);
    table.files.push(given);
    table.models += Number(isModel(given.file.name) && given.file.name !== 'config.json' && !PART.test(given.file.name));
  }
  return new Map([...all].filter(([, { files, models }]) => models > 1 || files.some(({ unknown }) => unknown)));
}

/** One line about the files that were passed over. */
export function passedOver(beside: readonly Given[]): string {
  const names = beside.map(({ file }) => file.name).sort();
  const [what, verb] = names.length === 1 ? ['1 file', 'was'] : [`${names.length} files`, 'were'];
  return `${what} beside the model ${verb} not opened: ${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ', …' : ''}`;
}

/** Whether files may be of one folder; the folder of files chosen in a dialog is not known. */
export function mayShareFolder(a: Given | undefined, b: Given): boolean {
  return a?.folder === undefined || b.folder === undefined || a.folder === b.folder;
}

/** The path of a file from the folder of another; `undefined` if it is not in that folder. */
export function pathFrom({ folder: from }: Given, { file, folder }: Given): string | undefined {
  if (from === undefined || folder === undefined || folder === from) {
    return file.name;
  }
  return folder.startsWith(`${from}/`) ? `${folder.slice(from.length + 1)}/${file.name}` : undefined;
}

/** The files that may belong to a model, by their paths from its folder. */
export function near(from: Given, others: readonly Given[]): Near[] {
  return others.flatMap((one) => {
    const path = pathFrom(from, one);
    return path === undefined ? [] : [{ path, file: one.file }];
  });
}

/** Whether an index may list this file. */
export function isShard({ file }: Given): boolean {
  return SHARD.test(file.name);
}
