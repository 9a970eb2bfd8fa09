/** The blocks of a model as columns: size and composition of each. */

import type { ModelSummary } from 'weighbridge';
import { h } from '../ui/dom.ts';
import { count, counted, parameters, size } from '../ui/format.ts';
import { steps } from '../ui/steps.ts';

/** Maximum number of blocks per stack, and of stacks. */
const MOST_BLOCKS = 512;
const MOST_STACKS = 12;
const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 96;

type Block = ModelSummary['blocks'][number];

function rect(attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  return element;
}

export function blockChart({ blocks, parts }: ModelSummary): HTMLElement {
  const stacks = new Map<string, Block[]>();
  for (const block of blocks) {
    const all = stacks.get(block.stack);
    if (all === undefined) {
      stacks.set(block.stack, [block]);
    } else {
      all.push(block);
    }
  }
  const weight = (all: Block[]) => all.reduce((sum, block) => sum + block.bytes, 0n);
  const sorted = [...stacks].sort(([, a], [, b]) => Number(weight(b) - weight(a)));
  const present = parts.filter((part, i) => part.parameters > 0n && blocks.some((block) => block.parts[i] > 0n));
  return h(
    'section',
    { class: 'model-part model-blocks', 'aria-label': 'Blocks' },
    h('h3', {}, 'Blocks'),
    h('p', { class: 'parts-legend' }, ...present.map(({ name }) => h('span', {}, h('span', { class: 'swatch part', 'data-part': name }), ` ${name}`)), h('span', { class: 'muted' }, 'Column height is the stored size of the block; use the arrow keys to read the values.')),
    ...sorted.slice(0, MOST_STACKS).map(([stack, all]) => chart(stack, all, parts)),
    sorted.length > MOST_STACKS && h('p', { class: 'note' }, `${counted(sorted.length - MOST_STACKS, 'smaller stack')} not shown.`),
  );
}

function chart(stack: string, all: Block[], parts: ModelSummary['parts']): HTMLElement {
  const drawn = all.slice(0, MOST_BLOCKS);
  const most = drawn.reduce((a, { bytes }) => Math.max(a, Number(bytes)), 1);
  const svg = document.createElementNS(SVG, 'svg');
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${drawn.length} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })) {
    svg.setAttribute(name, value);
  }
  drawn.forEach((block, i) => {
    const high = (Number(block.bytes) / most) * (HEIGHT - 2);
    let y = HEIGHT;
    block.parts.forEach((share, part) => {
      const height = block.parameters === 0n ? 0 : (high * Number(share)) / Number(block.parameters);
      if (height > 0) {
        y -= height;
        svg.append(rect({ x: i + 0.08, y, width: 0.84, height, class: 'part', 'data-part': parts[part].name }));
      }
    });
  });
  const cursor = rect({ y: 0, width: 1, height: HEIGHT, class: 'block-cursor', visibility: 'hidden' });
  svg.append(cursor);
  const said = (i: number) => {
    const { number, parameters: own, bytes, tensors } = drawn[i];
    return `block ${number}: ${parameters(own)} parameters, ${size(bytes)} in ${counted(tensors, 'tensor')}`;
  };
  const sizes = new Set(drawn.map(({ bytes }) => bytes));
  const range = `${sizes.size === 1 ? `${size(drawn[0].bytes)} each` : 'up to ' + size(BigInt(most))}${all.length > drawn.length ? `; the first ${count(drawn.length)} are shown` : ''}`;
  const readout = h('span', { class: 'muted' }, range);
  const stage = h('div', { class: 'block-stage' });
  stage.append(svg);
  steps(stage, {
    label: `${stack}, ${counted(all.length, 'block')}: ${range}`,
    count: drawn.length,
    said,
    nearest: (share) => Math.floor(share * drawn.length),
    mark: (at) => {
      cursor.setAttribute('x', String(at ?? 0));
      cursor.setAttribute('visibility', at === undefined ? 'hidden' : 'visible');
    },
    readout,
  });
  stage.style.setProperty('--blocks', String(drawn.length));
  return h('div', { class: 'block-chart' }, h('h4', {}, h('bdi', { class: 'mono' }, stack), ` ${counted(all.length, 'block')} `, readout), stage);
}
