/** Reads dropped files, and dropped or chosen folders, with handles where the browser has them. */

import { PART } from './sorting.ts';
import { COMPANION, DESCRIBES, isModel } from './names.ts';
import { picked, type Given } from './picker.ts';
import { h } from './ui/dom.ts';

/** Maximum number of files from a folder, not counting those of multi-file models. */
const MOST = 1000;
/** Maximum number of tensor files examined, and of other files. */
const FAR = 5 * MOST;
const DEPTH = 4;

interface WithHandle {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

interface Directory {
  values(): AsyncIterable<FileSystemHandle>;
}

/**
 * Returns the dropped files and folders. The drop's data is only readable during the event, so call
 * this synchronously; the promise may resolve later.
 */
function dropped(transfer: DataTransfer | null): Promise<Given[]> {
  const items = Array.from(transfer?.items ?? []).filter(({ kind }) => kind === 'file');
  const wanted = items.map((item) => {
    const handle = (item as WithHandle).getAsFileSystemHandle?.().catch(() => null);
    const entry = item.webkitGetAsEntry?.() ?? null;
    return { handle, entry, file: entry?.isDirectory ? null : item.getAsFile() };
  });
  return Promise.all(wanted.map(one)).then((all) => all.flat());
}

async function one({ handle, entry, file }: { handle?: Promise<FileSystemHandle | null>; entry: FileSystemEntry | null; file: File | null }): Promise<Given[]> {
  const found = await handle;
  if (entry?.isDirectory || found?.kind === 'directory') {
    const name = entry?.name ?? found!.name;
    const list = found?.kind === 'directory' ? await ofHandle(found as unknown as Directory, DEPTH, name) : await ofEntry(entry as FileSystemDirectoryEntry, DEPTH, name);
    return limited(list, name);
  }
  return file === null ? [] : [{ file, handle: found?.kind === 'file' ? (found as FileSystemFileHandle) : undefined }];
}

/** Whether to take a file of a folder after `taken` others. */
function isWanted(name: string, taken: number): boolean {
  return isModel(name) || (taken < FAR && (DESCRIBES.test(name) || isUnknown(name)));
}

/** Whether a file has neither the name of a model nor of what lies beside one. */
function isUnknown(name: string): boolean {
  return !isModel(name) && !COMPANION.test(name);
}

/** Sorts the tensor files of a folder; fails if there are none or too many. */
function limited(list: Given[], name: string): Given[] {
  const models = list.filter(({ file }) => isModel(file.name));
  if (list.every(({ file }) => DESCRIBES.test(file.name))) {
    throw new Error(`The folder ${name} contains no tensor files.`);
  }
  if (models.length > FAR || models.filter(({ file }) => !PART.test(file.name)).length > MOST) {
    throw new Error(`The folder ${name} contains more than ${MOST} tensor files. Open only those you want to see.`);
  }
  list.forEach((given) => (given.unknown = isUnknown(given.file.name)));
  return list.sort((a, b) => (a.file.name < b.file.name ? -1 : 1));
}

/** Returns a function that lets the user choose a folder, in the browser's own dialog if that returns handles. */
export function folderPicker(take: (given: Promise<Given[]>) => void): () => void {
  const field = h('input', { type: 'file', webkitdirectory: true });
  field.addEventListener('change', () => {
    const files = Array.from(field.files ?? []);
    field.value = '';
    take(Promise.resolve(files).then(ofPaths));
  });
  const pick = (window as { showDirectoryPicker?(): Promise<FileSystemHandle> }).showDirectoryPicker;
  const ofFolder = async (folder: FileSystemHandle) => limited(await ofHandle(folder as unknown as Directory, DEPTH, folder.name), folder.name);
  return () => (pick === undefined ? field.click() : take(picked(pick.call(window).then(ofFolder))));
}

/** The tensor files among the files of a folder, by their paths. */
function ofPaths(files: readonly File[]): Given[] {
  const paths = files.map((file) => ({ file, path: file.webkitRelativePath.split('/').slice(0, -1) }));
  const list = paths.filter(({ file, path }, i) => isWanted(file.name, i) && path.length <= DEPTH).map(({ file, path }) => ({ file, folder: path.join('/') }));
  return limited(list, paths[0]?.path[0] ?? '');
}

async function ofHandle(folder: Directory, depth: number, path: string): Promise<Given[]> {
  const list: Given[] = [];
  for await (const entry of folder.values()) {
    if (entry.kind === 'directory' && depth > 1) {
      list.push(...(await ofHandle(entry as unknown as Directory, depth - 1, `${path}/${entry.name}`)));
    } else if (entry.kind === 'file' && isWanted(entry.name, list.length)) {
      const handle = entry as FileSystemFileHandle;
      list.push({ file: await handle.getFile(), handle, folder: path });
    }
    if (list.length > 2 * FAR) {
      break;
    }
  }
  return list;
}

async function ofEntry(folder: FileSystemDirectoryEntry, depth: number, path: string): Promise<Given[]> {
  const reader = folder.createReader();
  const list: Given[] = [];
  for (;;) {
    // A reader returns the entries in batches, then an empty one.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0 || list.length > 2 * FAR) {
      return list;
    }
    for (const entry of entries) {
      if (entry.isDirectory && depth > 1) {
        list.push(...(await ofEntry(entry as FileSystemDirectoryEntry, depth - 1, `${path}/${entry.name}`)));
      } else if (entry.isFile && isWanted(entry.name, list.length)) {
        list.push({ file: await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)), folder: path });
      }
    }
  }
}

/** Opens what is dropped anywhere on the page. */
export function onDrop(take: (dropped: Promise<Given[]>) => void): void {
  let depth = 0;
  const enter = (by: number) => document.body.classList.toggle('dragging', (depth += by) > 0);
  addEventListener('dragenter', () => enter(1));
  addEventListener('dragleave', () => enter(-1));
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    enter(-depth);
    take(dropped(event.dataTransfer));
  });
}
