/** The extension on the desktop and on remote machines: it reads ranges of files of any size. */

import { open } from 'node:fs/promises';
import type { ExtensionContext } from 'vscode';
import { start } from './extension.ts';
import type { Open } from './provider.ts';
import { openWhole } from './whole.ts';

const openRanges: Open = async (uri) => {
  if (uri.scheme !== 'file') {
    return await openWhole(uri);
  }
  const file = await open(uri.fsPath, 'r');
  return {
    size: (await file.stat()).size,
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
      return bytes.subarray(0, filled);
    },
    close: () => file.close(),
  };
};

export function activate(context: ExtensionContext): void {
  start(context, openRanges);
}
