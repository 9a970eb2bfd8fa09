/** A line through points, with axes. */

import { h } from './dom.ts';
import { steps } from './steps.ts';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, EDGE] = [240, 64, 4];

export interface Point {
  x: number;
  y: number;
  /** Whether the point has a dot, and of which kind. */
  mark?: 'remark' | 'fault';
}

export interface PlotOptions {
  label: string;
  /** At least one, from left to right. */
  points: readonly Point[];
  /** The values at the lower and the upper edge, and their labels. */
  range: readonly [number, number];
  sides: readonly [string, string];
  /** Labels of the first and the last point. */
  ends: readonly [string, string];
  /** A value across the whole width. */
  level?: number;
  said(at: number): string;
  open?(at: number): void;
}

function shape(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, String(value));
  }
  return element;
}

/** The chart, and the line below it that has the values of a point. */
export function plot({ label, points, range: [low, high], sides, ends, level, said, open }: PlotOptions, readout: HTMLElement): HTMLElement {
  const [first, last] = [points[0].x, points[points.length - 1].x];
  const x = (at: number) => EDGE + ((at - first) / (last - first || 1)) * (WIDTH - 2 * EDGE);
  const y = (value: number) => HEIGHT - EDGE - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * EDGE);
  const svg = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'plot-picture', 'aria-hidden': 'true', preserveAspectRatio: 'none' });
  if (level !== undefined) {
    svg.append(shape('line', { class: 'plot-level', x1: 0, x2: WIDTH, y1: y(level), y2: y(level) }));
  }
  const drawn = points.filter((point) => Number.isFinite(point.y));
  svg.append(shape('polyline', { class: 'plot-line', points: drawn.map((point) => `${x(point.x)},${y(point.y)}`).join(' ') }));
  for (const point of points.filter(({ mark }) => mark !== undefined)) {
    // A line without length stays a dot however the chart is stretched. What has no value is at the upper edge.
    svg.append(shape('path', { class: `plot-mark ${point.mark}`, d: `M${x(point.x)} ${Number.isFinite(point.y) ? y(point.y) : EDGE}h0` }));
  }
  const cursor = shape('line', { class: 'plot-cursor', y1: 0, y2: HEIGHT, visibility: 'hidden' });
  svg.append(cursor);
  const stage = h('div', { class: 'plot-stage' });
  stage.append(svg);
  steps(stage, {
    label,
    count: points.length,
    said,
    open,
    readout,
    nearest: (share) => {
      const at = first + (share - EDGE / WIDTH) * (WIDTH / (WIDTH - 2 * EDGE)) * (last - first);
      return points.reduce((best, point, i) => (Math.abs(point.x - at) < Math.abs(points[best].x - at) ? i : best), 0);
    },
    mark: (at) => {
      const place = at === undefined ? '0' : String(x(points[at].x));
      cursor.setAttribute('x1', place);
      cursor.setAttribute('x2', place);
      cursor.setAttribute('visibility', at === undefined ? 'hidden' : 'visible');
    },
  });
  const axis = (kind: string, texts: readonly string[]) => h('div', { class: `plot-axis ${kind} mono`, 'aria-hidden': 'true' }, ...texts.map((text) => h('span', {}, text)));
  return h('div', { class: 'line-plot' }, axis('sides', [sides[1], sides[0]]), stage, axis('ends', ends));
}
