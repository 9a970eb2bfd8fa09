/** In the web view: between the element and the extension. */

import type { Ranges } from '../../src/embed/element.ts';
import type { Answer, Asked, Report } from './provider.ts';

declare function acquireVsCodeApi(): { postMessage(message: Asked): void };

type Viewer = HTMLElement & { source: Ranges | null; theme: string };

const code = acquireVsCodeApi();
const viewer = document.querySelector('weighbridge-viewer') as Viewer;
const waiting = new Map<number, { resolve(bytes: Uint8Array): void; reject(error: Error): void }>();
let next = 0;

const read: Ranges['read'] = (offset, length) =>
  new Promise((resolve, reject) => {
    const id = next++;
    waiting.set(id, { resolve, reject });
    code.postMessage({ kind: 'read', id, offset, length });
  });

addEventListener('message', ({ data }: MessageEvent<Answer>) => {
  if (data.kind === 'open') {
    viewer.source = { name: data.name, size: data.size, read };
  } else if (data.kind === 'read') {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.bytes === undefined) {
      asked?.reject(new Error(data.failure));
    } else {
      asked?.resolve(data.bytes);
    }
  } else if (data.kind === 'failed') {
    viewer.replaceWith(data.message);
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
