/** Files out of what is dropped, pasted or chosen: handles where the browser has them, folders too. */

import { TENSORS } from './names.ts';

/** A file, with what it can be had from again once it has changed. */
export interface Given {
  file: File;
  handle?: FileSystemFileHandle;
  /** Where it lies in a folder that was dropped: files of a set lie in one. */
  folder?: string;
}

/** Most files that are taken from a folder, beside those of models in several, and how deep folders are looked into. */
const MOST = 100;
/** So many files at most are looked at. */
const FAR = 20 * MOST;
/** The names of files of a model in several. */
const PART = /-of-\d+\./;
const DEPTH = 4;

interface WithHandle {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

interface Directory {
  values(): AsyncIterable<FileSystemHandle>;
}

/**
 * What a drop holds. What it says is only there until the event is over, so this
 * is to be called at once; the promise may take its time.
 */
export function dropped(transfer: DataTransfer | null): Promise<Given[]> {
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
    if (list.length === 0) {
      throw new Error(`The folder ${name} contains no tensor files.`);
    }
    if (list.length > FAR || list.filter(({ file }) => !PART.test(file.name)).length > MOST) {
      throw new Error(`The folder ${name} contains more than ${MOST} tensor files. Drop only those you want to see.`);
    }
    return list.sort((a, b) => (a.file.name < b.file.name ? -1 : 1));
  }
  return file === null ? [] : [{ file, handle: found?.kind === 'file' ? (found as FileSystemFileHandle) : undefined }];
}

async function ofHandle(folder: Directory, depth: number, path: string): Promise<Given[]> {
  const list: Given[] = [];
  for await (const entry of folder.values()) {
    if (entry.kind === 'directory' && depth > 1) {
      list.push(...(await ofHandle(entry as unknown as Directory, depth - 1, `${path}/${entry.name}`)));
    } else if (entry.kind === 'file' && TENSORS.test(entry.name)) {
      const handle = entry as FileSystemFileHandle;
      list.push({ file: await handle.getFile(), handle, folder: path });
    }
    if (list.length > FAR) {
      break;
    }
  }
  return list;
}

async function ofEntry(folder: FileSystemDirectoryEntry, depth: number, path: string): Promise<Given[]> {
  const reader = folder.createReader();
  const list: Given[] = [];
  for (;;) {
    // A reader gives a part at a time, and nothing once it is through.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0 || list.length > FAR) {
      return list;
    }
    for (const entry of entries) {
      if (entry.isDirectory && depth > 1) {
        list.push(...(await ofEntry(entry as FileSystemDirectoryEntry, depth - 1, `${path}/${entry.name}`)));
      } else if (entry.isFile && TENSORS.test(entry.name)) {
        list.push({ file: await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)), folder: path });
      }
    }
  }
}

type Picker = (options: { multiple: boolean }) => Promise<FileSystemFileHandle[]>;

/** Whether the browser's own dialog gives handles. */
export function hasPicker(): boolean {
  return 'showOpenFilePicker' in window;
}

/** Files that the user chooses; none when the dialog is closed. */
export async function picked(multiple: boolean): Promise<Given[]> {
  try {
    const handles = await (window as unknown as { showOpenFilePicker: Picker }).showOpenFilePicker({ multiple });
    return await Promise.all(handles.map(ofFile));
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') {
      return [];
    }
    throw error;
  }
}

export async function ofFile(handle: FileSystemFileHandle): Promise<Given> {
  return { file: await handle.getFile(), handle };
}
