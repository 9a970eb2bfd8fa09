/** Canvases take their colours when they are drawn. */

/** On `window`, where others have events, too. */
const EVENT = 'weighbridge-theme';

/** Has all canvases drawn again. */
export function recolour(): void {
  dispatchEvent(new Event(EVENT));
}

/** Draws again whenever colours change, until `signal` is aborted. */
export function onRecolour(draw: () => void, signal: AbortSignal): void {
  addEventListener(EVENT, draw, { signal });
}
