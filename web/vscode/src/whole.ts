/** Files that VS Code can only read whole: in the browser and in virtual folders. */

import * as vscode from 'vscode';
import type { Opened } from './provider.ts';

/** Larger files are refused, because they would be read into memory completely. */
export const MOST = 256 << 20;

export async function openWhole(uri: vscode.Uri): Promise<Opened> {
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > MOST) {
    throw new Error(`The file has ${size} bytes. VS Code can only read whole files here, so files above ${MOST >> 20} MiB are not opened: open them in VS Code on the desktop, or on the page.`);
  }
  let bytes: Uint8Array | undefined = await vscode.workspace.fs.readFile(uri);
  return {
    size: bytes.length,
    // A copy, because the posted buffer may be transferred.
    read: async (offset, length) => bytes!.slice(offset, offset + length),
    close: async () => {
      bytes = undefined;
    },
  };
}
