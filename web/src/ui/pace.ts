/** How fast a task goes on. */

import { size } from './format.ts';
import type { Report } from '../worker/rpc.ts';

/** Milliseconds before there is something to say. */
const SOON = 1000;

export class Pace {
  readonly #begun = performance.now();

  /** `43 % · 310 MiB/s · 12 s left`, as far as known. */
  said({ done, bytes }: Report): string {
    const seconds = (performance.now() - this.#begun) / 1000;
    if (done === undefined || done <= 0 || seconds * 1000 < SOON) {
      return '';
    }
    const parts = [`${Math.floor(100 * done)} %`];
    if (bytes !== undefined) {
      parts.push(`${size((done * bytes) / seconds)}/s`);
    }
    parts.push(`${duration((seconds * (1 - done)) / done)} left`);
    return parts.join(' · ');
  }
}

/** A rounded time: `12 s`, `3 min`. */
function duration(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
