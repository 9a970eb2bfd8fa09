/** The extension on the desktop and on remote machines: reads ranges of files of any size. */

import { open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { Uri, type ExtensionContext } from 'vscode';
import { start } from './extension.ts';
import type { Open } from './provider.ts';
import { openWhole } from './whole.ts';

/** Whether a relative path leaves the folder it starts in. */
function leadsOut(way: string): boolean {
  return isAbsolute(way) || way.split(sep)[0] === '..';
}

const openRanges: Open = async (uri) => {
  if (uri.scheme !== 'file') {
    return await openWhole(uri);
  }
  const file = await open(uri.fsPath, 'r');
  const { size, ino, mtimeMs } = await file.stat().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  return {
    size,
    async read(offset, length) {
      const bytes = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) {
          break;
        }
        filled += bytesRead;
      }
      // The file has changed: an empty result makes the viewer report it.
      const now = await stat(uri.fsPath).catch(() => undefined);
      return now?.ino === ino && now.mtimeMs === mtimeMs ? bytes.subarray(0, filled) : new Uint8Array();
    },
    close: () => file.close(),
    async beside(name) {
      const other = Uri.joinPath(uri, '..', name);
      const there = await realpath(other.fsPath);
      // A link could let the folder's author choose what is read. In Hugging Face's cache, all
      // files are links to one place.
      const folders = [await realpath(Uri.joinPath(uri, '..').fsPath), dirname(await realpath(uri.fsPath))];
      if (folders.every((folder) => leadsOut(relative(folder, there)))) {
        throw new Error('it is a link that points outside the folder');
      }
      if (!(await stat(other.fsPath)).isFile()) {
        throw new Error('it is not a file');
      }
      return await openRanges(other);
    },
  };
};

export function activate(context: ExtensionContext): void {
  start(context, openRanges);
}
