/** The norms of the rows and columns of a tensor, and its singular values: which channels stand out. */

import { button, fill, h } from '../ui/dom.ts';
import { count, counted, real, short } from '../ui/format.ts';
import { plot } from '../ui/plot.ts';
import type { Channels } from '../worker/channels.ts';
import type { Spectrum } from '../worker/spectrum.ts';

/** Norms above this multiple of the median are those of outliers. */
const OUTLIER = 6;

/** What the norms of one axis say. */
function said({ axis, count: all, median, outliers, broken }: Channels): string {
  const parts = [`${counted(all, axis)}, median norm ${short(median)}`];
  parts.push(outliers === 0 ? `none above ${OUTLIER} times that` : `${counted(outliers, 'outlier')} above ${OUTLIER} times that`);
  if (broken > 0) {
    parts.push(`${count(broken)} with NaN or infinity`);
  }
  return `${parts.join('; ')}.`;
}

/** The norms in descending order; outliers have a dot. */
function curve({ axis, median, curve: points }: Channels): HTMLElement | false {
  if (points.length < 2) {
    return false;
  }
  const most = points[0].norm;
  const readout = h('p', { class: 'plot-readout small' }, 'Norms in descending order; the dashed line is the median.');
  const chart = plot(
    {
      label: `Norms of ${axis}s in descending order, ${short(most)} to ${short(points[points.length - 1].norm)}`,
      // Outliers are few: a scale of ranks by powers shows them.
      points: points.map(({ rank, norm }) => ({ x: Math.log10(rank), y: norm, mark: norm > OUTLIER * median ? 'remark' : undefined })),
      range: [0, most],
      sides: ['0', short(most)],
      ends: ['largest', `${count(points[points.length - 1].rank)}th, log scale`],
      level: median,
      said: (i) => `${axis} ${count(points[i].index)}, number ${count(points[i].rank)} by norm: ${real(points[i].norm)}`,
    },
    readout,
  );
  return h('div', {}, chart, readout);
}

/** The norms by axis. `compute` finds the singular values on request. */
export function channelsView(all: readonly Channels[], compute: () => Promise<Spectrum | undefined>): HTMLElement {
  const lists = all.map((one) => {
    const head = [one.axis === 'row' ? 'Row' : 'Column', 'Norm', 'Times the median'].map((label) => h('th', { scope: 'col', class: 'number' }, label));
    const rows = one.largest.map(({ index, norm }) => h('tr', {}, h('th', { scope: 'row', class: 'number' }, count(index)), h('td', { class: 'number mono' }, real(norm)), h('td', { class: 'number mono' }, one.median > 0 ? short(norm / one.median) : '–')));
    const table = h('table', { class: 'plain' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
    return h('section', { 'aria-label': `Norms of ${one.axis}s` }, h('h3', {}, one.axis === 'row' ? 'Rows (first axis)' : 'Columns (second axis)'), h('p', { class: 'muted' }, said(one)), curve(one), table);
  });
  const place = h('div', { class: 'singular', role: 'status' });
  const run = async () => {
    const found = await compute();
    if (found !== undefined) {
      fill(place, spectrumView(found));
    }
  };
  fill(place, button('Singular values', () => void run(), { title: 'The spectrum of the tensor as a matrix: rows are its first axis, columns all others' }));
  return h('div', {}, h('div', { class: 'channel-lists', role: 'status' }, ...lists), place);
}

function spectrumView({ rows, columns, values, error, complete, energy }: Spectrum): HTMLElement {
  const all = Math.min(rows, columns);
  const [largest] = values;
  const shown = values.reduce((sum, value) => sum + value * value, 0);
  const bound = complete ? 'All are computed' : `${values.length === 1 ? 'The largest is' : `The ${count(values.length)} largest are`} computed, each within ${short(error)} of a singular value`;
  const facts = [
    `${count(rows)} × ${count(columns)}: ${counted(all, 'singular value')}. ${bound}.`,
    largest > 0 ? `Stable rank ${short(energy / largest ** 2)} of ${count(all)}; the largest has ${percent(largest ** 2 / energy)} of the squared norm${values.length > 1 && !complete ? `, those shown ${percent(shown / energy)}` : ''}.` : 'All are 0.',
  ];
  const readout = h('p', { class: 'plot-readout small' }, `${real(largest)} to ${real(values[values.length - 1])}`);
  const chart =
    values.length > 1 &&
    plot(
      {
        label: `Singular values in descending order, ${short(largest)} to ${short(values[values.length - 1])}`,
        points: values.map((y, i) => ({ x: i + 1, y })),
        range: [0, largest],
        sides: ['0', short(largest)],
        ends: ['1st', `${count(values.length)}th`],
        said: (i) => `number ${count(i + 1)}: ${real(values[i])}`,
      },
      readout,
    );
  return h('section', { 'aria-label': 'Singular values' }, h('h3', {}, 'Singular values'), ...facts.map((fact) => h('p', { class: 'muted' }, fact)), chart, readout);
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}
