/** A small chart of one measure across the layers. */

import { h, setText } from '../ui/dom.ts';
import { counted, real, short } from '../ui/format.ts';
import { named } from '../ui/middle.ts';
import type { Course } from '../worker/swept.ts';

export type Measure = 'deviation' | 'most';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, EDGE] = [240, 56, 4];

function shape(name: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, String(value));
  }
  return element;
}

/** A chart from 0 up. Arrow keys move between layers; Enter or a click opens the tensor. */
export function courseChart({ kind, points }: Course, measure: Measure, open: (tensor: number) => void): HTMLElement {
  const values = points.map((point) => point[measure]);
  const finite = values.filter(Number.isFinite);
  // There may be more layers than a call can take arguments.
  const most = finite.reduce((a, b) => Math.max(a, b), 0);
  const [first, last] = [points[0].layer, points[points.length - 1].layer];
  const x = (layer: number) => EDGE + ((layer - first) / Math.max(1, last - first)) * (WIDTH - 2 * EDGE);
  const y = (value: number) => HEIGHT - EDGE - (most > 0 ? value / most : 0) * (HEIGHT - 2 * EDGE);
  const svg = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'course-plot', 'aria-hidden': 'true', preserveAspectRatio: 'none' });
  svg.append(shape('line', { class: 'course-zero', x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }));
  const drawn = points.filter((_, i) => Number.isFinite(values[i]));
  svg.append(shape('polyline', { class: 'course-line', points: drawn.map((point) => `${x(point.layer)},${y(point[measure])}`).join(' ') }));
  for (const point of drawn.filter(({ bits }) => bits !== 0)) {
    // A zero-length line stays a dot however the chart is stretched.
    svg.append(shape('path', { class: 'course-sign', d: `M${x(point.layer)} ${y(point[measure])}h0` }));
  }
  const cursor = shape('line', { class: 'course-cursor', y1: 0, y2: HEIGHT, visibility: 'hidden' });
  svg.append(cursor);

  const least = finite.length === 0 ? NaN : finite.reduce((a, b) => Math.min(a, b));
  const range = finite.length === 0 ? 'no finite values' : least === most ? short(most) : `${short(least)} to ${short(most)}`;
  const readout = h('span', { class: 'course-range mono' }, range);
  const said = (i: number) => `layer ${points[i].layer}: ${real(values[i])}`;
  const plot = h('div', {
    class: 'course-stage',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${kind}, ${counted(points.length, 'layer')}: ${range}`,
    'aria-valuemin': '0',
    'aria-valuemax': String(points.length - 1),
    'aria-valuenow': '0',
    'aria-valuetext': said(0),
  });
  plot.append(svg);
  let at = 0;
  const point = (to: number) => {
    at = Math.max(0, Math.min(to, points.length - 1));
    const place = String(x(points[at].layer));
    cursor.setAttribute('x1', place);
    cursor.setAttribute('x2', place);
    cursor.setAttribute('visibility', 'visible');
    setText(readout, said(at));
    plot.setAttribute('aria-valuenow', String(at));
    plot.setAttribute('aria-valuetext', said(at));
  };
  const leave = () => {
    cursor.setAttribute('visibility', 'hidden');
    setText(readout, range);
  };
  plot.addEventListener('pointermove', (event) => {
    const { left, width } = plot.getBoundingClientRect();
    const layer = first + ((event.clientX - left) / Math.max(1, width)) * (last - first);
    point(points.reduce((best, { layer: other }, i) => (Math.abs(other - layer) < Math.abs(points[best].layer - layer) ? i : best), 0));
  });
  plot.addEventListener('pointerleave', leave);
  plot.addEventListener('blur', leave);
  plot.addEventListener('focus', () => point(at));
  plot.addEventListener('click', () => open(points[at].tensor));
  plot.addEventListener('keydown', (event) => {
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: points.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      point(to);
    } else if (event.key === 'Enter') {
      open(points[at].tensor);
    }
  });
  return h('li', { class: 'course' }, h('h4', { class: 'mono', title: kind }, named(kind)), plot, readout);
}
