/**
 * The element in a single file, for environments that serve no other files: notebooks and VS Code.
 * It also works as an anywidget widget.
 */

import code from 'virtual:worker';
import { viewer } from './element.ts';
import { widget } from './widget.ts';

// The URL is never revoked: this worker starts further workers from it.
const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));

export const WeighbridgeViewer = viewer(() => new Worker(address, { type: 'module', name: 'weighbridge' }));

// The element may already be defined: each widget of a notebook loads this file.
if (customElements.get('weighbridge-viewer') === undefined) {
  customElements.define('weighbridge-viewer', WeighbridgeViewer);
}

export default widget(() => document.createElement('weighbridge-viewer') as InstanceType<typeof WeighbridgeViewer>);
