/**
 * The element in one file, for places that serve no others: notebooks and VS Code. It is a
 * widget of anywidget, too.
 */

import code from 'virtual:worker';
import { viewer } from './element.ts';
import { widget } from './widget.ts';

// It is kept: workers of this one start from it, too.
const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));

export const WeighbridgeViewer = viewer(() => new Worker(address, { type: 'module', name: 'weighbridge' }));

// A page may have it already: each widget of a notebook brings this file along.
if (customElements.get('weighbridge-viewer') === undefined) {
  customElements.define('weighbridge-viewer', WeighbridgeViewer);
}

export default widget(() => document.createElement('weighbridge-viewer') as InstanceType<typeof WeighbridgeViewer>);
