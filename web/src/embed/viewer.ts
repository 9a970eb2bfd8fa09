/** The element with its worker and its WebAssembly in separate files next to this one. */

import { viewer } from './element.ts';

export type { Ranges } from './element.ts';

export const WeighbridgeViewer = viewer(
  () => new Worker(new URL('../worker/main.ts', import.meta.url), { type: 'module', name: 'weighbridge' }),
);

customElements.define('weighbridge-viewer', WeighbridgeViewer);
