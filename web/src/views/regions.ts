/** A heat map of the difference of two tensors, and its largest regions. */

import { h } from '../ui/dom.ts';
import { count, real } from '../ui/format.ts';
import type { Regions } from '../worker/regions.ts';

const span = ([from, to]: readonly [number, number]) => (from === to ? count(from) : `${count(from)}–${count(to)}`);

export function regionsView({ height, width, cells, largest }: Regions): HTMLElement {
  const canvas = h('canvas', { class: 'regions-map', width, height, role: 'img', 'aria-label': `Where the tensors differ, in ${height} × ${width} cells` });
  const finite = cells.filter(Number.isFinite).reduce((a, b) => Math.max(a, b), 0);
  const picture = canvas.getContext('2d')!;
  const image = picture.createImageData(width, height);
  cells.forEach((cell, i) => {
    const share = Number.isFinite(cell) ? (finite > 0 ? cell / finite : 0) : 1;
    // Transparent where nothing differs, so that it suits light and dark; infinite cells are red.
    image.data.set([...(Number.isFinite(cell) ? [58, 122, 194] : [200, 50, 40]), cell > 0 ? 40 + Math.round(215 * share) : 0], 4 * i);
  });
  picture.putImageData(image, 0, 0);
  const rows = largest.map(({ rows: of, columns, mean, most }) => h('tr', {}, h('th', { scope: 'row' }, span(of)), h('td', {}, span(columns)), h('td', { class: 'number mono' }, real(mean)), h('td', { class: 'number mono' }, real(most))));
  const head = ['Rows', 'Columns', 'Mean |a - b|', 'Max |a - b|'].map((label) => h('th', { scope: 'col' }, label));
  return h(
    'section',
    { class: 'regions', 'aria-label': 'Where they differ' },
    h('h3', {}, 'Where they differ'),
    canvas,
    h('div', {}, h('table', { class: 'plain' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows)), h('p', { class: 'muted small' }, `Cells from 0 to ${real(finite)} on average${cells.some((cell) => !Number.isFinite(cell)) ? '; red cells have a NaN or an infinity on one side' : ''}.`)),
  );
}
