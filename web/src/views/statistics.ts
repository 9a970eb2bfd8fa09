/** Statistics of a tensor, and its histogram with linear and logarithmic bins. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, pair, segmented } from '../ui/dom.ts';
import { count, counted, element, real, short, size } from '../ui/format.ts';
import { fetched } from '../ui/fetched.ts';
import { onRecolour } from '../ui/recolour.ts';
import { refill } from '../ui/redraw.ts';
import type { StatisticsResult } from '../worker/jobs.ts';
import type { TensorDetails } from '../worker/tables.ts';
import { accessOf, hasChannels } from '../storage.ts';
import { Histogram } from './histogram.ts';

/** Up to this size, statistics are computed without asking. */
const SMALL = 64n << 20n;
/** A tensor's statistics, computed if not cached; `undefined` if cancelled. */
export async function statisticsOf(file: OpenFile, tensor: number, signal: AbortSignal): Promise<StatisticsResult | undefined> {
  const known = file.statistics.get(tensor);
  if (known !== undefined) {
    return known;
  }
  const result = await file.tasks.run('Statistics', (options) => file.client.with(options).statistics(file.id, tensor), signal);
  if (result !== undefined) {
    file.statistics.set(tensor, result);
  }
  return result;
}

export class StatisticsView {
  readonly #file: OpenFile;
  #scale: 'linear' | 'log' = 'linear';
  /** The histogram shown now: listeners must not refer to an earlier one. */
  #histogram: Histogram | undefined;

  constructor(file: OpenFile) {
    this.#file = file;
    onRecolour(() => this.#histogram?.draw(), file.closing.signal);
  }

  show(tensor: TensorDetails, into: HTMLElement, signal: AbortSignal): void {
    const known = this.#file.statistics.get(tensor.index);
    if (accessOf(tensor) === undefined) {
      fill(into, h('p', { class: 'empty' }, `Statistics are not available for ${tensor.dtype}.`));
    } else if (known !== undefined) {
      this.#draw(tensor, known, into);
    } else if (tensor.stored > SMALL || this.#file.info.remote) {
      fill(
        into,
        h('p', { class: 'empty' }, `${size(tensor.stored)} will be read.`, ' ', button('Compute statistics', () => void this.#run(tensor, into, signal), { class: 'primary' })),
      );
    } else {
      void this.#run(tensor, into, signal);
    }
  }

  async #run(tensor: TensorDetails, into: HTMLElement, signal: AbortSignal): Promise<void> {
    refill(into, h('p', { class: 'empty', tabindex: '-1' }, 'Reading…'));
    const result = await statisticsOf(this.#file, tensor.index, signal);
    if (signal.aborted) {
      return;
    }
    if (result === undefined) {
      refill(into, h('p', { class: 'empty' }, 'Not computed. ', button('Compute statistics', () => void this.#run(tensor, into, signal))));
      return;
    }
    this.#draw(tensor, result, into);
  }

  #draw(tensor: TensorDetails, result: StatisticsResult, into: HTMLElement): void {
    const { summary } = result;
    // They are estimates, from bins that reach beyond the elements.
    const [, least, most, , low, median, high] = Array.from(result.quantiles, (value) => Math.max(summary.min, Math.min(value, summary.max)));
    const histogram = new Histogram(result);
    this.#histogram = histogram;
    histogram.scale = this.#scale;
    const scale = segmented(
      'Bins',
      [
        ['linear', 'Linear'],
        ['log', 'Logarithmic'],
      ] as const,
      this.#scale,
      (choice) => {
        this.#scale = choice;
        histogram.scale = choice;
      },
    );
    const share = (part: bigint) => {
      if (part === 0n || summary.count === 0n) {
        return '';
      }
      const percent = (100 * Number(part)) / Number(summary.count);
      return ` (${percent < 0.01 ? '< 0.01' : percent.toPrecision(3)} %)`;
    };
    const number = (label: string, value: number, text = real(value)) =>
      pair(label, h('span', { class: 'mono', title: String(value), 'data-full': text === String(value) ? undefined : String(value) }, text));
    const special = (label: string, value: bigint, first?: bigint) =>
      pair(
        label,
        h(
          'span',
          { class: value > 0n && first !== undefined ? 'mono warn' : 'mono' },
          value > 0n && first !== undefined && icon('violation'),
          count(value),
          share(value),
        ),
        first !== undefined && h('span', { class: 'muted' }, ` first at ${position(first, tensor)}`),
      );
    refill(
      into,
      h(
        'dl',
        { class: 'facts-list statistics' },
        number('Minimum', summary.min, element(summary.min, tensor.dtype)),
        number('Maximum', summary.max, element(summary.max, tensor.dtype)),
        number('Mean', summary.mean),
        number('Standard deviation', summary.deviation),
        number('Norm (L2)', Math.sqrt(Number(summary.count - summary.nans - summary.infinities) * (summary.deviation ** 2 + summary.mean ** 2))),
        Number.isFinite(median) && pair('Quartiles', h('span', { class: 'mono' }, [low, median, high].map(short).join(', '))),
        Number.isFinite(median) && pair('1 % to 99 %', h('span', { class: 'mono' }, `${short(least)} to ${short(most)}`)),
        pair(accessOf(tensor) === 'entries' ? 'Entries stored' : 'Elements', h('span', { class: 'mono' }, count(summary.count))),
        special('Zeros', summary.zeros),
        special('Subnormal', summary.subnormals),
        special('NaN', summary.nans, summary.firstNan),
        special('Infinite', summary.infinities, summary.firstInfinity),
      ),
      h('div', { class: 'toolbar' }, h('h3', {}, 'Histogram'), scale),
      histogram.element,
      hasChannels(tensor) && this.#channels(tensor),
    );
    this.#file.tasks.say(`Statistics of ${counted(summary.count, 'element')}`);
  }

  /** A place for the norms of rows and columns, which are computed on request. */
  #channels(tensor: TensorDetails): HTMLElement {
    const { client, id, tasks, closing } = this.#file;
    const place = h('div', { class: 'channels' });
    const spectrum = () => tasks.run('Singular values', (options) => client.with(options).spectrum(id, tensor.index), closing.signal);
    const run = async () => {
      const found = await tasks.run('Rows and columns', (options) => client.with(options).channels(id, tensor.index), closing.signal);
      if (found !== undefined) {
        await fetched(place, async () => ({ element: (await import('./channels.ts')).channelsView(found, spectrum) }));
      }
    };
    fill(place, button('Norms of rows and columns', () => void run()));
    return place;
  }
}

/** The position of an element in storage order, by axis if the layout is known. */
export function position(element: bigint, { shape, layout }: { shape: BigUint64Array; layout: string }): string {
  // The specifications do not say which axis other layouts store densest.
  if (shape.length < 2 || (layout !== 'row-major' && layout !== 'blocks')) {
    return `[${count(element)}]`;
  }
  const at: bigint[] = [];
  let rest = element;
  for (const extent of Array.from(shape).reverse()) {
    at.unshift(rest % (extent || 1n));
    rest /= extent || 1n;
  }
  return `[${at.join(', ')}]`;
}
