/** Startup code shared by both extensions. */

import * as vscode from 'vscode';
import { ViewerProvider, type Open } from './provider.ts';

/** The editors declared in the manifest. */
const EDITORS = ['weighbridge.viewer', 'weighbridge.index'];

export function start(context: vscode.ExtensionContext, open: Open): void {
  const provider = new ViewerProvider(context, open);
  for (const editor of EDITORS) {
    context.subscriptions.push(
      vscode.window.registerCustomEditorProvider(editor, provider, { supportsMultipleEditorsPerDocument: true, webviewOptions: { retainContextWhenHidden: true } }),
    );
  }
}
