/** How much the layers of two models differ: one bar per layer. */

import { h, setText } from '../ui/dom.ts';
import { counted, real } from '../ui/format.ts';
import { layerOf } from '../worker/text.ts';
import type { Line } from './pairs.ts';

/** Maximum number of layers that the axis names. */
const TICKS = 12;

interface Layer {
  layer: number;
  /** The greatest relative error among its tensors, and the tensor that has it. */
  error: number;
  worst: Line;
  tensors: number;
}

/** The layers whose values were compared, in order. */
function layers(lines: readonly Line[]): Layer[] {
  const all = new Map<number, Layer>();
  for (const line of lines) {
    const { values, pair } = line;
    const layer = layerOf((pair.a ?? pair.b)!.name)?.layer;
    if (values === undefined || layer === undefined) {
      continue;
    }
    const error = values.relativeRms;
    const known = all.get(layer);
    if (known === undefined) {
      all.set(layer, { layer, error, worst: line, tensors: 1 });
      continue;
    }
    known.tensors++;
    if (error > known.error || Number.isNaN(known.error)) {
      [known.error, known.worst] = [error, line];
    }
  }
  return [...all.values()].sort((a, b) => a.layer - b.layer);
}

/**
 * Bars from 0 to the greatest error; `undefined` if there are fewer than two layers. Arrow keys
 * move between layers; Enter or a click selects the tensor that differs most.
 */
export function layerBars(lines: readonly Line[], choose: (line: Line) => void): HTMLElement | undefined {
  const all = layers(lines);
  if (all.length < 2) {
    return undefined;
  }
  const finite = all.map(({ error }) => error).filter(Number.isFinite);
  const most = finite.reduce((a, b) => Math.max(a, b), 0);
  const bars = all.map(({ error }) => {
    const bar = h('span', { class: 'layer-bar' });
    const share = Number.isFinite(error) ? (most > 0 ? error / most : 0) : 1;
    bar.style.height = `${Math.max(share * 100, error > 0 ? 2 : 0)}%`;
    bar.toggleAttribute('data-endless', !Number.isFinite(error));
    return h('span', { class: 'layer' }, bar);
  });
  const range = `${counted(all.length, 'layer')}, at most ${real(most)}`;
  const readout = h('span', { class: 'mono' }, range);
  const said = ({ layer, error, worst, tensors }: Layer) => `layer ${layer}: ${real(error)} in ${worst.name}${tensors > 1 ? `, the worst of ${tensors}` : ''}`;
  const stage = h(
    'div',
    {
      class: 'layer-bars',
      role: 'slider',
      tabindex: '0',
      'aria-label': `Relative error of each layer: ${range}`,
      'aria-valuemin': '0',
      'aria-valuemax': String(all.length - 1),
      'aria-valuenow': '0',
      'aria-valuetext': said(all[0]),
    },
    ...bars,
  );
  let at = 0;
  const point = (to: number) => {
    bars[at].removeAttribute('data-at');
    at = Math.max(0, Math.min(to, all.length - 1));
    bars[at].setAttribute('data-at', '');
    setText(readout, said(all[at]));
    stage.setAttribute('aria-valuenow', String(at));
    stage.setAttribute('aria-valuetext', said(all[at]));
  };
  const leave = () => {
    bars[at].removeAttribute('data-at');
    setText(readout, range);
  };
  stage.addEventListener('pointermove', (event) => {
    const { left, width } = stage.getBoundingClientRect();
    point(Math.floor(((event.clientX - left) / Math.max(1, width)) * all.length));
  });
  stage.addEventListener('pointerleave', leave);
  stage.addEventListener('blur', leave);
  stage.addEventListener('focus', () => point(at));
  stage.addEventListener('click', () => choose(all[at].worst));
  stage.addEventListener('keydown', (event) => {
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      point(to);
    } else if (event.key === 'Enter') {
      choose(all[at].worst);
    }
  });
  const endless = all.some(({ error }) => error === Infinity) && h('span', { class: 'layer-endless' }, h('span', { class: 'layer-key' }), 'infinite: the base is all zeros');
  return h('section', { 'aria-label': 'Across layers' }, h('p', {}, 'Relative error by layer: ', readout, endless), stage, axis(all));
}

/** The numbers of some layers, evenly spaced, below their bars. */
function axis(all: readonly Layer[]): HTMLElement {
  const step = Math.ceil(all.length / TICKS);
  const ticks = all.map(({ layer }, i) => {
    const tick = h('span', {}, layer);
    tick.style.insetInlineStart = `${((i + 0.5) / all.length) * 100}%`;
    return tick;
  });
  return h('div', { class: 'layer-axis', 'aria-hidden': 'true' }, ...ticks.filter((_, i) => i % step === 0));
}
