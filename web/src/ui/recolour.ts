/** Redraws canvases, which pick up their colours only when drawn. */

/** Dispatched on `window`, which carries other events too. */
const EVENT = 'weighbridge-theme';

/** Redraws all canvases in the next frame, when the new styles apply. */
export function recolour(): void {
  requestAnimationFrame(() => dispatchEvent(new Event(EVENT)));
}

/** Calls `draw` whenever the colours change, until `signal` is aborted. */
export function onRecolour(draw: () => void, signal: AbortSignal): void {
  addEventListener(EVENT, draw, { signal });
}
