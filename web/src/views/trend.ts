/** A small chart of one measure across the layers. */

import { h } from '../ui/dom.ts';
import { apart, counted, real, short } from '../ui/format.ts';
import { named } from '../ui/middle.ts';
import { plot } from '../ui/plot.ts';
import type { Course } from '../worker/statistics.ts';

export type Measure = 'deviation' | 'most';

/** A chart in the range of its own values. Arrow keys move between layers; Enter or a click opens the tensor. */
export function courseChart({ kind, points }: Course, measure: Measure, open: (tensor: number) => void): HTMLElement {
  const values = points.map((point) => point[measure]);
  const finite = values.filter(Number.isFinite);
  // There may be more layers than a call can take arguments.
  const least = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const most = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const sides: [string, string] = least < most ? apart(least, most) : ['', finite.length === 0 ? '–' : short(most)];
  const range = finite.length === 0 ? 'no finite values' : least === most ? short(most) : sides.join(' to ');
  const readout = h('span', { class: 'plot-readout mono' }, range);
  const chart = plot(
    {
      label: `${kind}, ${counted(points.length, 'layer')}: ${range}`,
      points: points.map(({ layer, bits, fault }, i) => ({ x: layer, y: values[i], mark: fault ? 'fault' : bits !== 0 ? 'remark' : undefined })),
      range: least < most ? [least, most] : [most - 1, most + 1],
      sides,
      ends: [`layer ${points[0].layer}`, String(points[points.length - 1].layer)],
      said: (i) => `layer ${points[i].layer}: ${real(values[i])}`,
      open: (i) => open(points[i].tensor),
    },
    readout,
  );
  return h('li', { class: 'course' }, h('h4', { class: 'mono', title: kind }, named(kind)), chart, readout);
}
