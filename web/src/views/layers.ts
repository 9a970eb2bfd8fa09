/** How much the layers of two models differ: one bar per layer. */

import { h } from '../ui/dom.ts';
import { counted, real } from '../ui/format.ts';
import { steps } from '../ui/steps.ts';
import { layerOf } from '../worker/text.ts';
import { nans, type Line } from './pairs.ts';

/** Maximum number of layers that the axis names. */
const TICKS = 12;

interface Layer {
  layer: number;
  /** The greatest relative error among its tensors, and the tensor that has it. */
  error: number;
  worst: Line;
  tensors: number;
}

/** Whether a NaN is on one side only, which is worse than any distance. */
const hasNan = (line: Line) => (nans(line) ?? 0n) > 0n;

/** The layers whose values were compared, in order. */
function layers(lines: readonly Line[]): Layer[] {
  const all = new Map<number, Layer>();
  for (const line of lines) {
    const { values, pair } = line;
    const layer = layerOf((pair.a ?? pair.b)!.name)?.layer;
    if (values === undefined || layer === undefined) {
      continue;
    }
    const error = hasNan(line) ? Infinity : values.relativeRms;
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
  const said = ({ layer, error, worst, tensors }: Layer) => `layer ${layer}: ${hasNan(worst) ? 'NaN on one side' : real(error)} in ${worst.name}${tensors > 1 ? `, the worst of ${tensors}` : ''}`;
  const stage = h('div', { class: 'layer-bars' }, ...bars);
  let marked: HTMLElement | undefined;
  steps(stage, {
    label: `Relative error of each layer: ${range}`,
    count: all.length,
    said: (at) => said(all[at]),
    nearest: (share) => Math.floor(share * all.length),
    mark: (at) => {
      marked?.removeAttribute('data-at');
      marked = at === undefined ? undefined : bars[at];
      marked?.setAttribute('data-at', '');
    },
    open: (at) => choose(all[at].worst),
    readout,
  });
  const why = [all.some(({ worst }) => hasNan(worst)) && 'NaN on one side', all.some(({ error, worst }) => error === Infinity && !hasNan(worst)) && 'infinite: the base is all zeros'].filter((one) => one !== false);
  const endless = why.length > 0 && h('span', { class: 'layer-endless' }, h('span', { class: 'layer-key' }), why.join(', or '));
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
