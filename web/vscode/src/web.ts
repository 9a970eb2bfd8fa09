/** The extension in the browser. */

import type { ExtensionContext } from 'vscode';
import { start } from './extension.ts';
import { openWhole } from './whole.ts';

export function activate(context: ExtensionContext): void {
  start(context, openWhole);
}
