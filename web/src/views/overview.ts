/** A model on one page: numbers, settings, parts, blocks. */

import type { Fact, ModelSummary, Share } from 'weighbridge';
import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, pair, segmented, setText } from '../ui/dom.ts';
import { count, counted, parameters, real, size, visible } from '../ui/format.ts';
import type { ModelFacts } from '../worker/summary.ts';
import { beside } from './beside.ts';
import { blockChart } from './blocks.ts';

/** Labels of the facts, in display order. */
const LABELS: Record<string, string> = {
  architecture: 'Architecture',
  size_label: 'Size label',
  file_type: 'File type',
  context_length: 'Context length',
  block_count: 'Blocks',
  embedding_length: 'Embedding length',
  feed_forward_length: 'Feed-forward length',
  head_count: 'Heads',
  head_count_kv: 'KV heads',
  key_length: 'Key length',
  value_length: 'Value length',
  kv_lora_rank: 'KV rank',
  q_lora_rank: 'Query rank',
  sliding_window: 'Sliding window',
  sliding_window_pattern: 'Window per block',
  layer_types: 'Layer types',
  attention_layer_count: 'Attention layers',
  state_layer_count: 'Layers with state',
  kv_shared_layer_count: 'Layers with shared KV',
  nextn_layer_count: 'Multi-token prediction layers',
  expert_count: 'Experts',
  expert_layer_count: 'Expert layers',
  expert_used_count: 'Experts per token',
  expert_shared_count: 'Shared experts',
  expert_feed_forward_length: 'Expert length',
  rope_base: 'RoPE base',
  rope_dimension_count: 'RoPE dimensions',
  rope_scaling_type: 'RoPE scaling',
  rope_scaling_factor: 'RoPE factor',
  rope_original_context_length: 'Original context',
  norm_epsilon: 'Norm epsilon',
  vocab_size: 'Vocabulary',
};

const ORIGINS: Record<Fact['from'], string> = {
  metadata: '',
  config: 'config.json',
  names: 'from names',
  shapes: 'from shapes',
  computed: 'derived',
};

function plain(value: unknown): string {
  return typeof value === 'number' ? (Number.isInteger(value) ? count(value) : real(value)) : visible(String(value));
}

/** A value as text; for a list, how often each item occurs. */
function shown(value: unknown): string {
  if (!Array.isArray(value)) {
    return plain(value);
  }
  const counts = new Map<string, number>();
  value.forEach((item) => counts.set(plain(item), (counts.get(plain(item)) ?? 0) + 1));
  const kinds = [...counts].slice(0, 6).map(([item, times]) => `${item} × ${count(times)}`);
  return kinds.join(', ') + (counts.size > 6 ? ', …' : '');
}

const number = (facts: Fact[], name: string): number | undefined => {
  const value = facts.find((fact) => fact.name === name)?.value;
  return typeof value === 'number' ? value : undefined;
};

const bits = ({ bytes, parameters: all }: Share) => (all === 0n ? '–' : ((8 * Number(bytes)) / Number(all)).toFixed(2));

function tile(label: string, value: string, ...notes: (string | undefined)[]): HTMLElement {
  return h('div', { class: 'tile' }, h('dt', {}, label), h('dd', {}, h('strong', {}, value), ...notes.filter((note) => note !== undefined && note !== '').map((note) => h('span', { class: 'tile-note' }, note))));
}

export function overview(file: OpenFile, model: ModelFacts): HTMLElement {
  const { summary, adapter, components, quantised } = model;
  const { facts, all, active, others, notes, dtypes, parts, blocks } = summary;
  const text = (name: string) => {
    const value = facts.find((fact) => fact.name === name)?.value;
    return value === undefined ? undefined : visible(String(value));
  };
  const vocabulary = facts.find(({ name }) => name === 'vocab_size');
  const context = number(facts, 'context_length');
  const settled = facts.filter(({ name }) => name in LABELS);
  const noShares = all.tensors === 0n;
  return h(
    'div',
    { class: 'scroll model-overview', tabindex: '0' },
    h(
      'div',
      { class: 'model-head' },
      h('h2', {}, h('bdi', {}, text('name') ?? file.name)),
      h('p', { class: 'muted' }, ...[adapter === undefined ? (text('architecture') ?? 'Architecture not specified') : `${adapter.method} adapter${adapter.base === undefined ? '' : ` of ${visible(adapter.base)}`}`, text('size_label'), text('file_type')].filter((it) => it !== undefined).flatMap((it, i) => [i > 0 && ' · ', h('bdi', {}, it)])),
    ),
    notes.length > 0 && h('ul', { class: 'model-notes', 'aria-label': 'Inconsistencies' }, ...notes.map((note) => h('li', {}, icon('lint'), h('span', {}, visible(note), '.')))),
    h(
      'dl',
      { class: 'tiles' },
      !noShares && tile('Parameters', parameters(all.parameters), count(all.parameters), active === undefined ? undefined : `${parameters(active)} active per token`),
      !noShares && tile('Bits per weight', bits(all), others > 0n ? `${counted(others, 'other element')}: scales, tables` : undefined),
      !noShares && tile('Weights', size(all.bytes), `${count(all.bytes)} B in ${counted(all.tensors, 'tensor')}`),
      context !== undefined && tile('Context', count(context), 'positions'),
      vocabulary !== undefined && tile('Vocabulary', shown(vocabulary.value), vocabulary.from === 'shapes' ? 'embedding rows' : 'tokens'),
    ),
    h(
      'div',
      { class: 'model-columns' },
      h('div', {}, architecture(file, settled, quantised), ...beside(model)),
      h('div', {}, memory(summary, context, text('architecture') !== undefined), components.length > 0 && componentTable(components), !noShares && shares('Parameters by part', parts, all, true), !noShares && shares('Parameters by type', dtypes, all, false)),
    ),
    blocks.length > 0 && blockChart(summary),
  );
}

function section(title: string, ...children: (Node | string | false | undefined)[]): HTMLElement {
  return h('section', { class: 'model-part', 'aria-label': title }, h('h3', {}, title), ...children);
}

/** The models in a file of several, with their shares of the bytes. */
function componentTable(components: ModelFacts['components']): HTMLElement {
  const head = ['', 'Tensors', 'Elements', 'Stored'].map((label, i) => h('th', { scope: 'col', class: i === 0 ? '' : 'number' }, label === '' ? h('span', { class: 'visually-hidden' }, 'Name') : label));
  const rows = components.map(({ name, tensors, elements, stored }) => h('tr', {}, h('th', { scope: 'row' }, h('bdi', {}, visible(name))), ...[count(tensors), parameters(elements), size(stored)].map((cell) => h('td', { class: 'number' }, cell))));
  const table = h('table', { class: 'shares components' }, h('thead', {}, h('tr', {}, ...head)));
  const list = h('tbody', {});
  fill(list, ...rows);
  table.append(list);
  const copy = components.find(({ name }) => name === 'EMA copy');
  return section('Components', table, copy !== undefined && h('p', { class: 'note' }, `The EMA copy repeats the diffusion model: without it, ${size(copy.stored)} less.`));
}

function architecture(file: OpenFile, facts: Fact[], quantised: ModelFacts['quantised']): HTMLElement {
  // Where all but a few come from is said once, below the list.
  const usual = facts.filter(({ from }) => from === 'config').length > facts.length / 2 ? 'config' : 'metadata';
  const list = facts.map(({ name, value, from, key }) => {
    const origin = from === usual ? '' : from === 'metadata' ? 'metadata' : ORIGINS[from];
    const row = pair(LABELS[name], h('bdi', {}, shown(value)), origin !== '' && h('span', { class: 'origin' }, origin));
    row.title = key;
    return row;
  });
  list.push(...quantised.map(({ layout, tensors }) => pair('Quantised', `${layout} · ${counted(tensors, 'tensor')}`, h('span', { class: 'origin' }, ORIGINS.names))));
  const picker = h('input', { type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': 'A config.json' });
  picker.addEventListener('change', () => {
    const chosen = picker.files?.[0];
    void chosen?.text().then((text) => file.configure(text, chosen.name));
  });
  const told = facts.some(({ from, key }) => from === 'metadata' && key.includes('.') && !key.startsWith('general.') && !key.startsWith('modelspec.'));
  return section(
    'Architecture',
    list.length > 0 ? h('dl', { class: 'model-facts' }, ...list) : h('p', { class: 'note' }, 'The file contains no architecture settings.'),
    !told && h('p', { class: 'note' }, file.config === undefined ? 'A config.json provides more than names and shapes. ' : usual === 'config' ? 'From config.json, where nothing else is said. ' : 'Includes settings from a config.json. ', button(file.config === undefined ? 'Add config.json' : 'Choose another', () => picker.click(), { class: 'link' })),
    picker,
  );
}

/** Bytes per element of the cache, including the scales of block types. */
const CACHES = [
  ['f16', 'f16', 2],
  ['q8_0', 'q8_0', 34 / 32],
  ['q4_0', 'q4_0', 18 / 32],
] as const;

function memory({ cache, state, assumes, noCache, all, withoutData }: ModelSummary, context: number | undefined, described: boolean): HTMLElement {
  if (cache.length === 0 && state === undefined) {
    // A graph with activations is no bare set of weights that a config.json describes.
    const isGraph = withoutData.tensors > 0n;
    const why = !described
      ? isGraph ? '' : 'A language model also keeps a KV cache; its size needs a config.json.'
      : /at once/.test(noCache ?? '')
        ? `There is no KV cache: ${noCache}.`
        : `The size of the KV cache is unknown: ${noCache ?? 'no information'}.`;
    const without = isGraph ? `${counted(withoutData.tensors, 'tensor')} without data, such as activations, take ${size(withoutData.bytes)}.` : '';
    return section('Memory', h('p', { class: 'note' }, [`Weights take ${size(all.bytes)}.`, without, why].filter((text) => text !== '').join(' ')));
  }
  let bytes: number = CACHES[0][2];
  const field = h('input', { type: 'number', min: '1', max: '100000000', step: '1', value: String(Math.min(context ?? 4096, 100_000_000)), 'aria-label': 'Context length' });
  const bar = h('div', { class: 'stack', role: 'presentation' }, h('div', { class: 'stack-weights' }), h('div', { class: 'stack-cache' }));
  const [weights, kept, sum] = [0, 1, 2].map(() => h('dd', {}));
  const draw = () => {
    const positions = Math.max(0, Math.floor(Number(field.value)) || 0);
    field.setAttribute('aria-invalid', String(!(positions > 0)));
    const elements = cache.reduce((total, { layers, elements: each, window }) => total + Number(layers) * Number(each) * Math.min(positions, Number(window ?? positions)), 0);
    const taken = elements * bytes;
    const together = Number(all.bytes) + taken + Number(state?.bytes ?? 0);
    setText(weights, size(all.bytes));
    setText(kept, `${size(taken)}${positions > 0 ? ` (${size(taken / positions)} per position)` : ''}`);
    setText(sum, size(together));
    (bar.firstElementChild as HTMLElement).style.width = `${(100 * Number(all.bytes)) / Math.max(1, together)}%`;
  };
  field.addEventListener('input', draw);
  const type = segmented('Cache type', CACHES.map(([value, label]) => [value, label] as const), 'f16', (choice) => {
    bytes = CACHES.find(([value]) => value === choice)![2];
    draw();
  });
  const presets = [4096, 32_768, 131_072].filter((length) => context === undefined || length < context);
  draw();
  return section(
    'Memory',
    h(
      'div',
      { class: 'memory-bar' },
      h('label', {}, 'Context ', field),
      ...[...presets, ...(context === undefined ? [] : [context])].map((length) =>
        button(length % 1024 === 0 ? `${length / 1024} Ki` : count(length), () => {
          field.value = String(length);
          draw();
        }),
      ),
      type,
    ),
    bar,
    h('dl', { class: 'model-facts', 'aria-live': 'polite' }, swatched('Weights', 'stack-weights', weights), swatched('KV cache', 'stack-cache', kept), state !== undefined && pair('State', `${state.bytes === undefined ? 'Unknown size' : size(state.bytes)} in ${counted(state.layers, 'layer')}`), h('div', { class: 'pair' }, h('dt', {}, 'Total'), sum)),
    h('details', { class: 'note' }, h('summary', {}, 'Assumptions'), h('ul', { class: 'assumes' }, ...assumes.map((line) => h('li', {}, `${visible(line)}.`)), h('li', {}, 'the weights as they are stored; memory used by computation is not included.'))),
  );
}

function swatched(label: string, kind: string, value: HTMLElement): HTMLElement {
  return h('div', { class: 'pair' }, h('dt', {}, h('span', { class: `swatch ${kind}` }), ` ${label}`), value);
}

/** A table of tensors grouped by a common property. */
function shares(title: string, rows: (Share & { name: string })[], all: Share, coloured: boolean): HTMLElement {
  const head = ['', 'Parameters', '', 'Stored', 'Bits'].map((label, i) => h('th', { scope: 'col', class: i === 0 || i === 2 ? '' : 'number' }, label === '' ? h('span', { class: 'visually-hidden' }, i === 0 ? 'Name' : 'Share') : label));
  const body = rows.map((row) => {
    const part = Number(row.parameters) / Math.max(1, Number(all.parameters));
    const fillBar = h('span', {});
    fillBar.style.width = `${100 * part}%`;
    const bar = h('span', { class: 'share', 'data-part': coloured ? row.name : undefined }, fillBar);
    const percent = part === 0 ? '0 %' : part < 0.001 ? '< 0.1 %' : `${(100 * part).toFixed(1)} %`;
    return h(
      'tr',
      { title: `${counted(row.tensors, 'tensor')}, ${count(row.parameters)} parameters, ${count(row.bytes)} B` },
      h('th', { scope: 'row' }, row.name),
      h('td', { class: 'number' }, parameters(row.parameters)),
      h('td', { class: 'share-cell' }, bar, h('span', {}, percent)),
      h('td', { class: 'number' }, size(row.bytes)),
      h('td', { class: 'number' }, bits(row)),
    );
  });
  const table = h('table', { class: 'shares' }, h('thead', {}, h('tr', {}, ...head)));
  const list = h('tbody', {});
  fill(list, ...body);
  table.append(list);
  return section(title, table);
}
