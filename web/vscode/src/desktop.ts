/** The extension on the desktop and on remote machines: it reads ranges of files of any size. */

import { open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { Uri, type ExtensionContext } from 'vscode';
import { start } from './extension.ts';
import type { Open } from './provider.ts';
import { openWhole } from './whole.ts';

/** Whether a relative path leads out of the folder that it begins at. */
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
      // What was opened is no longer there: a viewer that gets fewer bytes says that it has changed.
      const now = await stat(uri.fsPath).catch(() => undefined);
      return now?.ino === ino && now.mtimeMs === mtimeMs ? bytes.subarray(0, filled) : new Uint8Array();
    },
    close: () => file.close(),
    async beside(name) {
      const other = Uri.joinPath(uri, '..', name);
      const there = await realpath(other.fsPath);
      // Whoever made the folder would choose what is read. In the cache of Hugging Face, all are links to one place.
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
