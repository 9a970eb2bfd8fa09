/** An adapter: its settings, the tensors of a base that it changes, and by how much. */

import { line } from '../csv.ts';
import type { OpenFile } from '../file.ts';
import { button, fill, h, pair, setText } from '../ui/dom.ts';
import { count, counted, real, short, visible } from '../ui/format.ts';
import type { AdapterFacts, Update } from '../worker/adapter.ts';
import { base, download } from './export.ts';

/** Maximum number of updates and of kinds that are listed. */
const MOST = 500;
const KINDS = 12;

/** `q_proj × 32, v_proj × 32`; without the counts if all have the same value. */
function tallied(all: readonly [string, number][], updates: number): string {
  const shown = all.slice(0, KINDS).map(([name, times]) => (times === updates ? name : `${name} × ${count(times)}`));
  return visible(shown.join(', ')) + (all.length > KINDS ? ', …' : '');
}

export class AdapterView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #others: () => OpenFile[];
  readonly #choice = h('select', { 'aria-label': 'Base', onchange: () => void this.#load(false) });
  readonly #measure = button('Measure updates', () => void this.#load(true));
  readonly #fit = h('strong', { role: 'status' });
  readonly #table = h('div', {});
  #updates: Update[] = [];
  #asked = 0;

  constructor(file: OpenFile, facts: AdapterFacts, others: () => OpenFile[]) {
    this.#file = file;
    this.#others = others;
    const { method, names, updates, ranks, alphas, targets, base: of, scaled } = facts;
    const rows: [string, string | undefined][] = [
      ['Method', `${method}, names as of ${names}`],
      ['Base', of],
      ['Updates', count(updates)],
      ['Rank', ranks.length === 0 ? undefined : tallied(ranks, updates)],
      ['Alpha', alphas.length === 0 ? undefined : `${tallied(alphas, updates)} (${scaled ?? 'unknown'})`],
      ['Target modules', tallied(targets, updates)],
    ];
    this.element = h(
      'div',
      { class: 'scroll adapter', tabindex: '0' },
      h('section', { class: 'model-part', 'aria-label': 'Adapter' }, h('h2', {}, 'Adapter'), h('dl', { class: 'model-facts' }, ...rows.map(([label, value]) => value !== undefined && pair(label, h('bdi', {}, visible(value))))), scaled === undefined && h('p', { class: 'note' }, 'Neither the file nor an adapter_config.json beside it says the alpha: updates are measured without it.')),
      h(
        'section',
        { class: 'model-part', 'aria-label': 'Updates' },
        h('h2', {}, 'Updates'),
        h('div', { class: 'toolbar adapter-bar' }, h('label', {}, 'Base ', this.#choice), this.#measure, button('Export as CSV', () => this.#save()), this.#fit),
        this.#table,
      ),
    );
    this.filesChanged();
  }

  /** Lists the open files; the first is the base unless another was chosen. */
  filesChanged(): void {
    const chosen = this.#choice.value;
    const others = this.#others().filter(({ hasWeights }) => hasWeights);
    fill(this.#choice, h('option', { value: '' }, 'not open'), ...others.map(({ id, name }) => h('option', { value: id, selected: String(id) === chosen || (chosen === '' && id === others[0].id) }, name)));
    if (this.#asked === 0 || this.#choice.value !== chosen) {
      void this.#load(false);
    }
  }

  async #load(measured: boolean): Promise<void> {
    const own = ++this.#asked;
    const file = this.#file;
    const of = this.#choice.value === '' ? undefined : Number(this.#choice.value);
    const found = await file.tasks.run(measured ? 'Measuring updates' : 'Listing updates', (options) => file.client.with(options).updates(file.id, of, measured), file.closing.signal);
    if (own === this.#asked && found !== undefined) {
      this.#updates = measured ? found.sort((a, b) => (b.relative ?? b.norm ?? -1) - (a.relative ?? a.norm ?? -1)) : found;
      this.#draw(of !== undefined);
    }
  }

  #draw(compared: boolean): void {
    const all = this.#updates;
    const fits = all.filter(({ base, why }) => base !== undefined && why === undefined).length;
    setText(this.#fit, compared ? `${count(fits)} of ${counted(all.length, 'update')} ${fits === 1 ? 'fits' : 'fit'} the base` : '');
    this.#fit.dataset.state = !compared ? '' : fits === all.length ? 'ok' : 'bad';
    const measured = all.some(({ norm }) => norm !== undefined);
    const columns: [string, boolean, (update: Update) => Node | string][] = [
      ['Module', true, ({ name }) => h('bdi', {}, name)],
      ['Adds', true, ({ method, shape }) => [method, shape].join(' ')],
      ['Rank', true, ({ rank }) => (rank > 0 ? count(rank) : '–')],
      ['Alpha', true, ({ alpha }) => (alpha === undefined ? '–' : short(alpha))],
      ['Norm', measured, ({ norm }) => (norm === undefined ? '–' : short(norm))],
      ['Of the tensor', measured && compared, ({ relative }) => (relative === undefined ? '–' : relative === Infinity ? '∞' : `${short(100 * relative)} %`)],
      ['Tensor of the base', compared, ({ base, why }) => h('span', { class: why === undefined ? '' : 'bad' }, base === undefined ? (why ?? '') : why === undefined ? h('bdi', {}, base.name) : `does not fit: ${why}`)],
    ];
    const shown = columns.filter(([, isShown]) => isShown);
    const numeric = /^(?:Rank|Alpha|Norm|Of)/;
    // What does not fit comes first.
    const rows = compared && !measured ? [...all].sort((a, b) => Number(a.why === undefined) - Number(b.why === undefined)) : all;
    const table = h('table', { class: 'updates', 'aria-label': 'Updates' });
    table.append(
      h('thead', {}, h('tr', {}, ...shown.map(([label]) => h('th', { scope: 'col', class: numeric.test(label) ? 'number' : '' }, label)))),
      h('tbody', {}, ...rows.slice(0, MOST).map((update) => h('tr', {}, ...shown.map(([label, , cell], i) => h(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : { class: numeric.test(label) ? 'number' : '' }, cell(update)))))),
    );
    fill(this.#table, table, all.length > MOST && h('p', { class: 'note' }, `${counted(all.length - MOST, 'more update')} in the CSV file.`));
  }

  #save(): void {
    const rows = this.#updates.map(({ name, method, rank, alpha, shape, norm, base: of, why, relative }) => line([name, method, rank, alpha ?? '', shape, norm === undefined ? '' : real(norm), of?.name ?? '', why ?? '', relative === undefined ? '' : real(relative)]));
    download(new Blob([line(['module', 'method', 'rank', 'alpha', 'shape', 'norm', 'base', 'why', 'relative']), ...rows], { type: 'text/csv' }), `${base(this.#file.name)}.updates.csv`);
  }
}
