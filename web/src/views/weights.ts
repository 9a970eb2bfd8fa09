/** The weights: scans them on request, then shows suspects and charts across the layers. */

import type { OpenFile } from '../file.ts';
import { button, h, icon, segmented } from '../ui/dom.ts';
import { count, counted, real, size } from '../ui/format.ts';
import { named } from '../ui/middle.ts';
import { moreOf, offer, renew } from '../ui/redraw.ts';
import type { Course, Suspect } from '../worker/statistics.ts';
import { courseChart, type Measure } from './trend.ts';
import { base, download } from './export.ts';
import { position } from './statistics.ts';

/** Suspects drawn at a time. */
const PAGE = 100;
/** Charts drawn at a time. */
const CHARTS = 24;

/** Explains a sign of a tensor. */
function sentence(sign: string, it: Suspect): string {
  const first = (at: bigint | undefined) => (at === undefined ? '' : `; the first is at ${position(at, it)}`);
  const all = counted(it.elements, 'element');
  switch (sign) {
    case 'nan':
      return `${count(it.nans)} of ${all} ${it.nans === 1 ? 'is' : 'are'} NaN${first(it.firstNan)}.`;
    case 'infinite':
      return `${count(it.infinities)} of ${all} ${it.infinities === 1 ? 'is' : 'are'} infinite${first(it.firstInfinity)}.`;
    case 'zero':
      return `All ${all} are zero.`;
    case 'constant':
      return `All ${all} are ${real(it.min)}.`;
    case 'zero-rows':
      return `${count(it.zeroRows)} of ${counted(it.rows, 'row')} ${it.zeroRows === 1 ? 'is' : 'are'} all zeros.`;
    case 'outlier':
      if (Number.isNaN(it.outlier)) {
        return `The standard deviation exceeds the range of a double: the elements range from ${real(it.min)} to ${real(it.max)}.`;
      }
      return `The farthest element lies ${Math.round(it.outlier).toLocaleString('en-GB')} standard deviations from the mean: the range is ${real(it.min)} to ${real(it.max)}.`;
    case 'cut':
      if (it.hole === undefined) {
        return '';
      }
      return `${it.hole.zeros ? 'Zeros' : 'Copies of one page'} from byte ${count(it.hole.offset)} of the file to ${count(it.hole.offset + it.hole.len - 1n)}: whole pages of a disk, as a download that broke off or a disk that fails leaves them.`;
    default:
      return '';
  }
}

export class WeightsView {
  readonly element: HTMLElement;
  readonly #file: OpenFile;
  readonly #head = h('div', { class: 'weights-head' });
  readonly #list = h('ol', { class: 'findings suspects', 'aria-label': 'Suspicious tensors, faults first' });
  readonly #more = button('Show more', () => void this.#load(this.#shown, this.#shown + PAGE), { class: 'more', hidden: true });
  readonly #suspicious = h('section', { class: 'weights-part', 'aria-label': 'Suspicious' }, h('h3', {}, 'Suspicious'), this.#list, this.#more);
  readonly #charts = h('ul', { class: 'courses' });
  readonly #rest = button('Show more', () => this.#drawCharts(this.#drawn), { class: 'more', hidden: true });
  readonly #along: HTMLElement;
  #measure: Measure = 'deviation';
  #courses: Course[] = [];
  #drawn = 0;
  #shown = 0;
  #round = 0;

  constructor(file: OpenFile) {
    this.#file = file;
    const measure = segmented(
      'Across layers',
      [
        ['deviation', 'Std'],
        ['most', 'Max |x|'],
      ] as const,
      this.#measure,
      (choice) => {
        this.#measure = choice;
        this.#drawCharts();
      },
    );
    this.#along = h(
      'section',
      { class: 'weights-part', 'aria-label': 'Across layers' },
      h('div', { class: 'weights-bar' }, h('h3', {}, 'Across layers'), measure, h('span', { class: 'muted small' }, 'A dot marks a suspicious tensor; press Enter or click to open it.')),
      this.#charts,
      this.#rest,
    );
    this.element = h('div', { class: 'scroll weights-view', tabindex: '0' }, this.#head, this.#suspicious, this.#along);
    file.swept.on(() => void this.#draw());
    void this.#draw();
  }

  async #draw(): Promise<void> {
    const { health, sweeping, info } = this.#file;
    const scan = (label: string) => button(label, () => void this.#file.sweep(), { class: 'primary', disabled: sweeping });
    const known = health !== undefined && health.done > 0;
    this.#suspicious.hidden = !known;
    if (!known) {
      this.#along.hidden = true;
      const cost = info.remote ? `${size(info.size)} will be downloaded.` : `${size(info.size)} will be read once.`;
      renew(
        this.#head,
        h('h2', {}, sweeping ? 'Scanning…' : 'The weights have not been scanned'),
        h('p', { class: 'muted' }, `Finds NaN, infinities, zeros, constant tensors, outliers, rows of zeros and duplicates. ${cost}`),
        h('p', {}, scan('Scan weights')),
      );
      return;
    }
    const { text, faulty, suspicious, skipped, done, total } = health;
    const mark = faulty ? 'fatal' : suspicious > 0 ? 'lint' : done < total || skipped > 0 ? 'unchecked' : 'valid';
    const save = (label: string, make: (id: number) => Promise<Blob>, extension: string) =>
      button(label, () => void this.#save(label, make, extension));
    renew(
      this.#head,
      h('h2', { class: 'weights-verdict', 'data-state': faulty ? 'faulty' : '' }, icon(mark), h('span', {}, `Weights: ${text}`)),
      done < total && h('p', { class: 'muted' }, `${count(done)} of ${counted(total, 'tensor')} scanned.`),
      h(
        'p',
        { class: 'weights-actions' },
        done < total && scan(sweeping ? 'Scanning…' : 'Resume scanning'),
        save('Export as CSV', (id) => this.#file.api.weightsCsv(id), 'csv'),
        save('Export as JSON', (id) => this.#file.api.weightsJson(id), 'json'),
      ),
    );
    const round = ++this.#round;
    await this.#load(0, Math.max(PAGE, this.#shown));
    if (round !== this.#round || this.#file.closing.signal.aborted) {
      return;
    }
    const courses = await this.#file.api.courses(this.#file.id);
    if (round !== this.#round) {
      return;
    }
    this.#courses = courses;
    this.#along.hidden = this.#courses.length === 0;
    this.#drawCharts();
  }

  /** Draws the first charts anew, or adds those from the one given. */
  #drawCharts(from = 0): void {
    const open = (tensor: number) => this.#file.select(tensor);
    const charts = this.#courses.slice(from, from + CHARTS).map((course) => courseChart(course, this.#measure, open));
    if (from === 0) {
      renew(this.#charts, ...charts);
    } else {
      this.#charts.append(...charts);
    }
    this.#drawn = from + charts.length;
    const left = this.#courses.length - this.#drawn;
    offer(this.#rest, moreOf(left, CHARTS, left === 1 ? 'kind' : 'kinds'), charts);
  }

  async #load(from: number, to: number): Promise<void> {
    const round = this.#round;
    const { total, suspects } = await this.#file.api.suspects(this.#file.id, from, to);
    // The list may have been drawn anew since, or the same page added.
    if (round !== this.#round || (from > 0 && from !== this.#shown)) {
      return;
    }
    const items = suspects.map((suspect) => this.#item(suspect));
    if (from === 0) {
      renew(this.#list, ...items);
    } else {
      this.#list.append(...items);
    }
    this.#shown = from + suspects.length;
    this.#suspicious.hidden = total === 0;
    const left = total - this.#shown;
    offer(this.#more, moreOf(left, PAGE), items);
  }

  #item(suspect: Suspect): HTMLElement {
    const { name, signs, fault, why, twin, tensor } = suspect;
    const said = signs.filter((sign) => sign !== 'duplicate').map((sign) => h('p', { class: 'message' }, sentence(sign, suspect)));
    return h(
      'li',
      { class: 'finding', 'data-severity': fault ? 'fatal' : why === undefined ? 'lint' : 'unchecked', 'data-signs': signs.join(' ') },
      h(
        'div',
        { class: 'finding-head' },
        icon(fault ? 'fatal' : why === undefined ? 'lint' : 'unchecked'),
        h('span', { class: 'severity' }, fault ? 'fault' : why === undefined ? 'worth a look' : 'not scanned'),
        ...signs.map((sign) => h('code', { class: 'rule' }, sign)),
        named(name, { class: 'finding-name', title: name }),
      ),
      ...said,
      twin !== undefined && h('p', { class: 'message' }, 'The elements are identical to those of ', button(twin.name, () => this.#file.select(twin.tensor), { class: 'link mono' }), '.'),
      why !== undefined && h('p', { class: 'message' }, why),
      h('p', { class: 'finding-where' }, button('Open tensor', () => this.#file.select(tensor), { class: 'link', 'aria-label': `Open tensor ${name}` })),
    );
  }

  async #save(label: string, make: (id: number) => Promise<Blob>, extension: string): Promise<void> {
    const blob = await this.#file.tasks.run(label, () => make(this.#file.id), this.#file.closing.signal);
    if (blob !== undefined) {
      download(blob, `${base(this.#file.name)}.weights.${extension}`);
    }
  }
}
