/** The script in the web view: connects the element and the extension. */

import type { Ranges } from '../../src/embed/element.ts';
import type { Answer, Asked, Report } from './provider.ts';

declare function acquireVsCodeApi(): { postMessage(message: Asked): void };

type Viewer = HTMLElement & { source: Ranges | null; theme: string };

const code = acquireVsCodeApi();
const viewer = document.querySelector('weighbridge-viewer') as Viewer;
type Answered = Exclude<Answer, { kind: 'open' | 'failed' }>;
const waiting = new Map<number, { resolve(answer: Answered): void; reject(error: Error): void }>();
let next = 0;

/** Sends a request. Once `signal` is aborted, the bytes need not be sent. */
function ask(what: { kind: 'read'; file: number; offset: number; length: number } | { kind: 'beside'; name: string }, signal?: AbortSignal): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const id = next++;
    waiting.set(id, { resolve, reject });
    code.postMessage({ ...what, id });
    signal?.addEventListener('abort', () => {
      if (waiting.has(id)) {
        code.postMessage({ kind: 'cancel', id });
      }
    });
  });
}

/** A file's ranges, by its number. */
function ranges(name: string, size: number, file: number): Ranges {
  return {
    name,
    size,
    async read(offset, length, signal) {
      const answer = await ask({ kind: 'read', file, offset, length }, signal);
      return (answer.kind === 'read' && answer.bytes) || new Uint8Array();
    },
    async beside(name) {
      const answer = await ask({ kind: 'beside', name });
      return answer.kind === 'beside' && answer.file !== undefined ? ranges(name, answer.size ?? 0, answer.file) : undefined;
    },
  };
}

addEventListener('message', ({ data }: MessageEvent<Answer>) => {
  if (data.kind === 'open') {
    const { beside, ...file } = ranges(data.name, data.size, 0);
    viewer.source = data.beside ? { ...file, beside } : file;
  } else if (data.kind === 'failed') {
    viewer.replaceWith(data.message);
  } else if (data.kind === 'read' || data.kind === 'beside') {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.failure === undefined) {
      asked?.resolve(data);
    } else {
      asked?.reject(new Error(data.failure));
    }
  }
});

viewer.addEventListener('weighbridge-report', (event) => {
  code.postMessage({ kind: 'report', report: (event as CustomEvent<Report>).detail });
});

viewer.addEventListener('weighbridge-reload', (event) => {
  event.preventDefault();
  code.postMessage({ kind: 'open' });
});

const paint = () => {
  viewer.theme = document.body.dataset.vscodeThemeKind?.includes('light') ? 'light' : 'dark';
};
new MutationObserver(paint).observe(document.body, { attributes: true, attributeFilter: ['data-vscode-theme-kind'] });
paint();
code.postMessage({ kind: 'open' });
