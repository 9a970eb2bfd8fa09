/** The norms of the rows and columns of a tensor: which channels stand out. */

import { h } from '../ui/dom.ts';
import { count, counted, real, short } from '../ui/format.ts';
import type { Channels } from '../worker/bulk.ts';

/** What the norms of one axis say. */
function said({ axis, count: all, median, outliers, broken }: Channels): string {
  const parts = [`${counted(all, axis)}, median norm ${short(median)}`];
  parts.push(outliers === 0 ? 'none above 6 times that' : `${counted(outliers, 'outlier')} above 6 times that`);
  if (broken > 0) {
    parts.push(`${count(broken)} with NaN or infinity`);
  }
  return `${parts.join('; ')}.`;
}

export function channelsView(all: readonly Channels[]): HTMLElement {
  return h(
    'div',
    { class: 'channel-lists', role: 'status' },
    ...all.map((one) => {
      const head = [one.axis === 'row' ? 'Row' : 'Column', 'Norm', 'Times the median'].map((label) => h('th', { scope: 'col', class: 'number' }, label));
      const rows = one.largest.map(({ index, norm }) => h('tr', {}, h('th', { scope: 'row', class: 'number' }, count(index)), h('td', { class: 'number mono' }, real(norm)), h('td', { class: 'number mono' }, one.median > 0 ? short(norm / one.median) : '–')));
      return h('section', { 'aria-label': `Norms of ${one.axis}s` }, h('h3', {}, one.axis === 'row' ? 'Rows (first axis)' : 'Columns (second axis)'), h('p', { class: 'muted' }, said(one)), h('table', { class: 'plain' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows)));
    }),
  );
}
