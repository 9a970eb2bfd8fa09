/** The editor: a web view with the element. The extension reads the file's ranges. */

import * as vscode from 'vscode';

/** An open file that is read by range. */
export interface Opened {
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
  /** Opens another file of the same folder, if that is possible without reading whole files. */
  beside?(name: string): Promise<Opened>;
}

export type Open = (uri: vscode.Uri) => Promise<Opened>;

/** Messages from the web view. */
export type Asked =
  | { kind: 'open' }
  /** `file` is the file's number: 0 is the one in the editor. */
  | { kind: 'read'; id: number; file: number; offset: number; length: number }
  /** Asks for a file in the same folder, for multi-file models. */
  | { kind: 'beside'; id: number; name: string }
  | { kind: 'cancel'; id: number }
  | { kind: 'report'; report: Report };

/** Answers to the web view. */
export type Answer =
  | { kind: 'open'; name: string; size: number; /** Whether it can open neighbouring files. */ beside: boolean }
  | { kind: 'failed'; message: string }
  | { kind: 'read'; id: number; bytes?: Uint8Array; failure?: string }
  /** Without `file`, there is no such file. */
  | { kind: 'beside'; id: number; file?: number; size?: number; failure?: string };

/** The part of the element's report that the status bar shows. */
export interface Report {
  verdict: 'valid' | 'invalid' | 'unsupported';
  diagnosis?: string;
  checked: string[];
  findings: unknown[];
  unchecked: { why: string }[];
}

/** Maximum bytes per read: the element never asks for more. */
const LONGEST = 4 << 20;

const MARKS = { valid: '$(pass)', invalid: '$(error)', unsupported: '$(question)' };

export class ViewerProvider implements vscode.CustomReadonlyEditorProvider {
  readonly #extension: vscode.Uri;
  readonly #open: Open;
  /** The verdict on the file in the active editor. */
  readonly #status = vscode.window.createStatusBarItem('weighbridge.verdict', vscode.StatusBarAlignment.Right);

  constructor(context: vscode.ExtensionContext, open: Open) {
    this.#extension = context.extensionUri;
    this.#open = open;
    this.#status.name = 'Weighbridge';
    context.subscriptions.push(this.#status);
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    /** The file, followed by others of its set. */
    let files: Promise<Opened>[] = [];
    /** Reads that are neither answered nor cancelled. */
    const wanted = new Set<number>();
    let report: Report | undefined;
    let active = panel.active;
    let gone = false;
    const close = (all: Promise<Opened>[]) => Promise.all(all.map((one) => one.then((file) => file.close()).catch(() => undefined)));
    const show = () => {
      if (panel.active) {
        this.#show(report);
      }
    };
    const post = (answer: Answer) => void webview.postMessage(answer);
    webview.onDidReceiveMessage(async (asked: Asked) => {
      if (asked.kind === 'open') {
        report = undefined;
        show();
        const before = files;
        const now = this.#open(uri);
        files = [now];
        await close(before);
        if (gone) {
          await close([now]);
          return;
        }
        await now.then(
          ({ size, beside }) => post({ kind: 'open', name: uri.path.replace(/^.*\//, ''), size, beside: beside !== undefined }),
          (error) => post({ kind: 'failed', message: said(error) }),
        );
      } else if (asked.kind === 'read') {
        const { id, offset, length } = asked;
        wanted.add(id);
        let answer: Answer;
        try {
          const file = await files[asked.file];
          if (file === undefined || !isRange(offset, length, file.size)) {
            throw new Error(`${length} bytes at offset ${offset} are out of range`);
          }
          answer = { kind: 'read', id, bytes: await file.read(offset, length) };
        } catch (error) {
          answer = { kind: 'read', id, failure: said(error) };
        }
        post(wanted.delete(id) ? answer : { kind: 'read', id, failure: 'cancelled' });
      } else if (asked.kind === 'cancel') {
        wanted.delete(asked.id);
      } else if (asked.kind === 'beside') {
        const { id, name } = asked;
        const all = files;
        try {
          if (!isBeside(name)) {
            throw new Error('only tensor files in the same folder can be opened');
          }
          const found = (await all[0])?.beside?.(name);
          const size = (await found)?.size;
          // Only if the file has not been reopened or closed meanwhile.
          const file = found !== undefined && all === files && !gone ? files.push(found) - 1 : undefined;
          if (found !== undefined && file === undefined) {
            await close([found]);
          }
          post({ kind: 'beside', id, file, size });
        } catch (error) {
          const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
          post({ kind: 'beside', id, failure: isMissing ? undefined : said(error) });
        }
      } else {
        report = asked.report;
        show();
      }
    });
    panel.onDidChangeViewState(() => {
      active = panel.active;
      this.#show(active ? report : undefined);
    });
    panel.onDidDispose(() => {
      gone = true;
      void close(files);
      // The status bar may show another file's verdict.
      if (active) {
        this.#status.hide();
      }
    });
    const media = vscode.Uri.joinPath(this.#extension, 'media');
    webview.options = { enableScripts: true, localResourceRoots: [media] };
    webview.html = html((name) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString());
  }

  #show(report: Report | undefined): void {
    if (report === undefined) {
      this.#status.hide();
      return;
    }
    const { verdict, checked, findings, diagnosis } = report;
    const count = findings.length === 0 ? '' : `, ${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`;
    this.#status.text = `${MARKS[verdict]} Weighbridge: ${verdict}${count}`;
    const left = report.unchecked.slice(0, 3).map(({ why }) => `Unchecked: ${why}.`);
    this.#status.tooltip = diagnosis ?? [`Checked: ${checked.join(' and ') || 'nothing yet'}.`, ...left].join('\n');
    this.#status.show();
  }
}

function isRange(offset: unknown, length: unknown, size: number): boolean {
  return Number.isSafeInteger(offset) && Number.isSafeInteger(length) && (offset as number) >= 0 && (length as number) >= 0 && (length as number) <= LONGEST && (offset as number) + (length as number) <= size;
}

/** Whether a name is that of a part of a model and stays in the folder. */
function isBeside(name: unknown): name is string {
  return typeof name === 'string' && name.length <= 255 && /^[^/\\\0]+\.(?:safetensors|gguf)$/.test(name);
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The page: runs only its own scripts; its policy allows no address to load from or send to. */
function html(address: (name: string) => string): string {
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const policy = `default-src 'none'; script-src 'nonce-${nonce}' 'wasm-unsafe-eval'; style-src 'nonce-${nonce}'; worker-src blob:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <title>Weighbridge</title>
    <style nonce="${nonce}">
      html, body { height: 100%; margin: 0; padding: 0; overflow: hidden; }
      weighbridge-viewer { height: 100%; }
    </style>
  </head>
  <body>
    <weighbridge-viewer></weighbridge-viewer>
    <script type="module" nonce="${nonce}" src="${address('weighbridge-viewer.js')}"></script>
    <script type="module" nonce="${nonce}" src="${address('webview.js')}"></script>
  </body>
</html>`;
}
