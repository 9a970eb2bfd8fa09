/** A chart as a slider over its points, for the pointer and the keyboard alike. */

import { setText } from './dom.ts';

export interface Steps {
  label: string;
  /** Number of points, at least one. */
  count: number;
  /** What is at a point: said to a screen reader, and shown in `readout`. */
  said(at: number): string;
  /** The point nearest to a share of the width. */
  nearest(share: number): number;
  /** Marks a point, or none. */
  mark(at: number | undefined): void;
  /** Enter on a point, or a click. */
  open?(at: number): void;
  /** Has the text of the point; what it had before comes back. */
  readout: HTMLElement;
}

/** Arrow keys, Home, End and the pointer move between the points of `stage`. */
export function steps(stage: HTMLElement, { label, count, said, nearest, mark, open, readout }: Steps): void {
  const rest = readout.textContent ?? '';
  let at = 0;
  const tell = () => {
    stage.setAttribute('aria-valuenow', String(at));
    stage.setAttribute('aria-valuetext', said(at));
  };
  const point = (to: number) => {
    at = Math.max(0, Math.min(to, count - 1));
    mark(at);
    setText(readout, said(at));
    tell();
  };
  const leave = () => {
    mark(undefined);
    setText(readout, rest);
  };
  for (const [name, value] of Object.entries({ role: 'slider', tabindex: '0', 'aria-label': label, 'aria-valuemin': '0', 'aria-valuemax': String(count - 1) })) {
    stage.setAttribute(name, value);
  }
  tell();
  stage.addEventListener('pointermove', (event) => {
    const { left, width } = stage.getBoundingClientRect();
    point(nearest((event.clientX - left) / Math.max(1, width)));
  });
  stage.addEventListener('pointerleave', leave);
  stage.addEventListener('blur', leave);
  stage.addEventListener('focus', () => point(at));
  stage.addEventListener('click', () => open?.(at));
  stage.addEventListener('keydown', (event) => {
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      point(to);
    } else if (event.key === 'Enter') {
      open?.(at);
    }
  });
}
