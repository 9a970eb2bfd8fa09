/** One tensor: overview, statistics, picture, values, bytes. */

import type { OpenFile } from '../file.ts';
import { button, fill, h, icon, iconButton, pair, type Icon } from '../ui/dom.ts';
import { count, counted, exactSize, range, size } from '../ui/format.ts';
import { named } from '../ui/middle.ts';
import { accessOf, hasBlocks, hasValues, mayBePacked, savedAs } from '../storage.ts';
import { fetched } from '../ui/fetched.ts';
import { Tabs } from '../ui/tabs.ts';
import type { Verified } from '../worker/jobs.ts';
import type { MetaEntry, TensorDetails } from '../worker/tables.ts';
import type { Unpacked } from '../worker/unpacked.ts';
import { saveCsv, saveNpy } from './export.ts';
import { HexView } from './hex.ts';
import { showValue } from './metadata.ts';
import { StatisticsView } from './statistics.ts';

/** Maximum number of chunks listed in the overview. */
const CHUNKS = 50;
/** Maximum number of attributes listed in the overview. */
const ATTRIBUTES = 50;

const VERIFIED: Record<Verified, readonly [Icon, string]> = {
  right: ['valid', 'matches'],
  wrong: ['fatal', 'does not match'],
  unknown: ['unchecked', 'cannot be checked: unknown algorithm'],
  none: ['valid', 'decoded without errors; the file has no checksum'],
};

const TABS = [
  ['overview', 'Overview'],
  ['statistics', 'Statistics'],
  ['heat', 'Heat map'],
  ['values', 'Values'],
  ['hex', 'Hex'],
] as const;

export class TensorPanel {
  readonly element: HTMLElement;
  readonly tabs: Tabs;
  readonly #file: OpenFile;
  readonly #head = h('div', { class: 'panel-head' });
  readonly #bodies = new Map<string, HTMLElement>();
  readonly #statistics: StatisticsView;
  /** The weights behind the tensor, if others have its scales. */
  #packed: Unpacked | string = '';
  #tensor: TensorDetails | undefined;
  /** The tensor each tab shows. */
  readonly #drawn = new Map<string, number>();
  #leave = new AbortController();
  /** The view requested last; not every tensor has it. */
  #wanted = '';

  constructor(file: OpenFile) {
    this.#file = file;
    this.#statistics = new StatisticsView(file);
    this.tabs = new Tabs('Tensor views', (id) => {
      this.#wanted = id;
      this.#draw();
      file.moved.emit(false);
    });
    for (const [id, label] of TABS) {
      const body = h('div', { class: `panel-body panel-${id}` });
      this.#bodies.set(id, body);
      this.tabs.add({ id, label, make: () => body });
    }
    this.tabs.select('overview');
    this.element = h(
      'section',
      { class: 'panel', 'aria-label': 'Tensor', hidden: true },
      this.#head,
      this.tabs.list,
      this.tabs.panels,
    );
    file.selected.on((tensor) => void this.#show(tensor));
    file.validated.on(() => void this.#recheck());
    file.closing.signal.addEventListener('abort', () => this.#leave.abort());
  }

  /** Shows a view of the tensor without recording it in the address. */
  view(id: string): void {
    this.#wanted = id;
    this.tabs.select(id);
    this.#draw();
  }

  async #show(index: number | undefined): Promise<void> {
    this.#leave.abort();
    this.#leave = new AbortController();
    const { signal } = this.#leave;
    if (index === undefined) {
      this.element.hidden = true;
      return;
    }
    const tensor = await this.#file.tasks.run(
      'Reading the entry',
      (options) => this.#file.client.with(options).tensor(this.#file.id, index),
      signal,
    );
    if (signal.aborted) {
      return;
    }
    if (tensor === undefined) {
      this.#file.select(undefined, true);
      return;
    }
    this.#tensor = tensor;
    this.element.hidden = false;
    this.#drawn.clear();
    this.#offer('blocks', 'Blocks', hasBlocks(tensor));
    this.#offer('unpacked', 'Decoded', false);
    if (mayBePacked(tensor)) {
      void this.#unpack(tensor, signal);
    }
    fill(
      this.#head,
      iconButton('back', 'Back to the list', () => this.#file.select(undefined), { class: 'icon-button panel-back' }),
      h('h2', { class: 'panel-name', title: tensor.label }, named(tensor.label === '' ? '(empty name)' : tensor.label)),
      h('p', { class: 'panel-facts mono' }, `${tensor.dtype}  ${tensor.shapeText}`),
      iconButton('close', 'Close the tensor panel', () => this.#file.select(undefined), { class: 'icon-button panel-close' }),
    );
    this.#draw();
  }

  /** Adds or removes a tab that only some tensors have. */
  #offer(id: string, label: string, offered: boolean): void {
    if (!offered) {
      this.tabs.remove(id);
      this.#bodies.delete(id);
      return;
    }
    if (!this.tabs.ids.includes(id)) {
      const body = h('div', { class: `panel-body panel-${id}` });
      this.#bodies.set(id, body);
      this.tabs.add({ id, label, make: () => body });
    }
    if (this.#wanted === id) {
      this.tabs.select(id);
    }
  }

  /** Offers the weights behind a tensor whose scales are in other tensors. */
  async #unpack(tensor: TensorDetails, signal: AbortSignal): Promise<void> {
    const { api, id, config } = this.#file;
    const what = await api.unpacked(id, tensor.index, config).catch((error: Error) => `Not decoded: ${error.message}.`);
    if (what !== undefined && !signal.aborted) {
      this.#packed = what;
      this.#offer('unpacked', 'Decoded', true);
      this.#draw();
    }
  }

  /** Redraws if a check has found that the entry is broken. */
  async #recheck(): Promise<void> {
    const tensor = this.#tensor;
    const { checking, closing, outdated, api, id } = this.#file;
    if (tensor === undefined || tensor.index !== this.#file.tensor || checking || outdated !== undefined || closing.signal.aborted) {
      return;
    }
    const again = await api.tensor(id, tensor.index);
    if (again.status !== tensor.status && tensor === this.#tensor && tensor.index === this.#file.tensor) {
      await this.#show(tensor.index);
    }
  }

  #draw(): void {
    const tensor = this.#tensor;
    const id = this.tabs.current;
    // Another tensor is drawn once it has been read.
    if (tensor === undefined || tensor.index !== this.#file.tensor || this.#drawn.get(id) === tensor.index) {
      return;
    }
    this.#drawn.set(id, tensor.index);
    const body = this.#bodies.get(id)!;
    const file = this.#file;
    const { signal } = this.#leave;
    if (tensor.status !== 'sound' && id !== 'overview' && id !== 'hex') {
      fill(body, h('p', { class: 'empty' }, `The data cannot be read because the entry is ${tensor.status}. See the findings.`));
      return;
    }
    switch (id) {
      case 'overview':
        void this.#overview(tensor, body);
        break;
      case 'statistics':
        this.#statistics.show(tensor, body, signal);
        break;
      case 'heat':
        void fetched(body, async () => new (await import('./heat.ts')).HeatView(file, tensor, signal), signal);
        break;
      case 'blocks':
        void fetched(body, async () => new (await import('./quant.ts')).BlockView(file, tensor, signal), signal);
        break;
      case 'unpacked':
        void fetched(body, async () => ({ element: (await import('./unpacked.ts')).unpackedView(file, tensor, this.#packed) }), signal);
        break;
      case 'values':
        if (hasValues(tensor)) {
          void fetched(body, async () => new (await import('./values.ts')).ValuesView(file, tensor), signal);
        } else {
          fill(body, h('p', { class: 'empty' }, `Values are not available for ${tensor.dtype}.`));
        }
        break;
      case 'hex':
        void this.#hex(tensor, body);
        break;
    }
  }

  async #chunks(tensor: TensorDetails) {
    return await this.#file.tasks.run(
      'Reading chunks',
      (options) => this.#file.client.with(options).chunks(this.#file.id, tensor.index, 0, CHUNKS),
      this.#leave.signal,
    );
  }

  async #hex(tensor: TensorDetails, body: HTMLElement): Promise<void> {
    const page = await this.#chunks(tensor);
    if (this.#tensor !== tensor) {
      return;
    }
    if (page === undefined) {
      const again = button('Try again', () => void this.#hex(tensor, body), { class: 'link' });
      fill(body, h('p', { class: 'empty' }, 'The position of the data has not been read. ', again));
      return;
    }
    const [first] = page.chunks;
    if (first === undefined) {
      fill(body, h('p', { class: 'empty' }, 'This tensor has no data.'));
      return;
    }
    const view = new HexView(this.#file, { at: first.offset, len: first.stored });
    fill(
      body,
      page.total > 1n && h('p', { class: 'note' }, `Showing the first of ${count(page.total)} chunks.`),
      view.element,
    );
  }

  async #overview(tensor: TensorDetails, body: HTMLElement): Promise<void> {
    const file = this.#file;
    const [page, attributes] = await Promise.all([
      tensor.status === 'broken' ? undefined : this.#chunks(tensor),
      file.tasks.run(
        'Reading metadata',
        (options) => file.client.with(options).metadata(file.id, tensor.index, 0, ATTRIBUTES),
        this.#leave.signal,
      ),
    ]);
    if (this.#tensor !== tensor) {
      return;
    }
    const one = page?.chunks.length === 1 ? page.chunks[0] : undefined;
    const part = file.partAt(tensor.offset ?? tensor.at);
    const facts = h(
      'dl',
      { class: 'facts-list' },
      pair('Shape', h('span', { class: 'mono' }, tensor.shapeText)),
      pair('Type', h('span', { class: 'mono' }, tensor.dtype), tensor.dtypeRaw !== undefined && ` (${tensor.dtypeRaw})`),
      pair('Elements', count(tensor.elements)),
      pair('Stored', exactSize(tensor.stored)),
      tensor.bytes !== undefined && tensor.bytes !== tensor.stored && pair('Decoded', exactSize(tensor.bytes)),
      pair('Layout', tensor.layout),
      pair('Encoding', tensor.encoding),
      pair('Byte order', tensor.endianness),
      tensor.codec !== undefined && pair('Codec', h('code', {}, tensor.codec)),
      one !== undefined && pair('Data', this.#span(one.offset, one.stored)),
      part !== undefined && pair('File', h('bdi', { class: 'breakable' }, part.name)),
      pair('Entry', button(file.hex(tensor.at), () => file.reveal(tensor.at, 1n), { class: 'link mono' })),
      pair('State', tensor.status),
      tensor.id !== undefined && pair('ID', String(tensor.id)),
      tensor.nameHex !== undefined && pair('Name in hex', h('code', { class: 'breakable' }, tensor.nameHex)),
      pair('Checksum', this.#checksum(tensor)),
    );
    fill(
      body,
      facts,
      h(
        'div',
        { class: 'actions' },
        button('Save as .npy', () => void saveNpy(file, tensor), { disabled: tensor.status !== 'sound' || !isSavable(tensor) }),
        button('Values as CSV', () => void saveCsv(file, tensor), { disabled: tensor.status !== 'sound' || !hasValues(tensor) }),
        this.#copy('name', () => tensor.name),
        this.#copy('shape', () => tensor.shapeText),
        this.#copy('Python', async () => (await import('./python.ts')).python(file, tensor)),
        accessOf(tensor) === 'dense' && tensor.layout === 'channels-last' && h('span', { class: 'muted' }, `${tensor.layout}: elements are saved in file order`),
      ),
      tensor.quantization !== undefined && quantization(tensor.quantization),
      page !== undefined && page.chunks.length > 1 && this.#chunkTable(page),
      attributes !== undefined && attributes.entries.length > 0 && this.#attributes(tensor, attributes),
    );
  }

  #copy(what: string, text: () => string | Promise<string>): HTMLElement {
    const { tasks } = this.#file;
    const copy = async () => {
      const copied = await text();
      await navigator.clipboard.writeText(copied);
      tasks.say(`Copied: ${copied}`);
    };
    return button(`Copy ${what}`, () => void copy().catch(() => tasks.fail('The browser does not let this page write to the clipboard.')), { title: `Copy the ${what === 'Python' ? 'line of Python that reads the tensor' : what}` });
  }

  #span(at: bigint, len: bigint): HTMLElement {
    const own = at - (this.#file.partAt(at)?.base ?? 0n);
    return button(range(own, len), () => this.#file.reveal(at, len), { class: 'link mono', title: `${count(len)} bytes at offset ${count(own)}` });
  }

  #checksum(tensor: TensorDetails): Node {
    const { checksum } = tensor;
    const many = tensor.encoding !== 'raw';
    if (checksum === undefined && !many) {
      return h('span', { class: 'muted' }, 'none');
    }
    const outcome = h('span', { class: 'outcome', role: 'status' });
    const verify = button('Verify', async () => {
      const verified = await this.#file.tasks.run(
        'Verifying',
        (options) => this.#file.client.with(options).verify(this.#file.id, tensor.index),
        this.#leave.signal,
      );
      if (verified !== undefined) {
        const [mark, text] = VERIFIED[verified];
        fill(outcome, icon(mark), text);
      }
    });
    return h('span', { class: 'verify' }, checksum === undefined ? 'none' : h('code', { class: 'breakable' }, checksum), ' ', verify, ' ', outcome);
  }

  #chunkTable(page: { total: bigint; chunks: { offset: bigint; stored: bigint; decoded?: bigint; row: bigint; elements: bigint; encoding: string }[] }): HTMLElement {
    return h(
      'details',
      { class: 'block', open: true },
      h('summary', {}, `${count(page.total)} chunks`),
      h(
        'table',
        { class: 'plain' },
        h('thead', {}, h('tr', {}, ...['Bytes', 'Stored', 'Decoded', 'From row', 'Elements', 'Encoding'].map((label) => h('th', { scope: 'col' }, label)))),
        h(
          'tbody',
          {},
          ...page.chunks.map((chunk) =>
            h(
              'tr',
              {},
              h('td', {}, this.#span(chunk.offset, chunk.stored)),
              h('td', {}, size(chunk.stored)),
              h('td', {}, chunk.decoded === undefined ? '–' : size(chunk.decoded)),
              h('td', {}, count(chunk.row)),
              h('td', {}, count(chunk.elements)),
              h('td', {}, chunk.encoding),
            ),
          ),
        ),
      ),
      page.total > BigInt(page.chunks.length) && h('p', { class: 'note' }, `Only the first ${page.chunks.length} are listed.`),
    );
  }

  #attributes(tensor: TensorDetails, { total, entries }: { total: number; entries: MetaEntry[] }): HTMLElement {
    const value = h('div', { class: 'meta-value' });
    return h(
      'details',
      { class: 'block', open: true },
      h('summary', {}, counted(total, 'metadata entry', 'metadata entries')),
      h(
        'table',
        { class: 'plain' },
        h('thead', {}, h('tr', {}, ...['Key', 'Type', 'Value'].map((label) => h('th', { scope: 'col' }, label)))),
        h(
          'tbody',
          {},
          ...entries.map((entry) =>
            h(
              'tr',
              {},
              h('td', {}, button(entry.key, () => void showValue(this.#file, tensor.index, entry, value), { class: 'link' })),
              h('td', { class: 'mono' }, entry.type),
              h('td', {}, h('bdi', {}, entry.preview)),
            ),
          ),
        ),
      ),
      total > entries.length && h('p', { class: 'note' }, `Only the first ${entries.length} are listed.`),
      value,
    );
  }
}

/** Whether the tensor is a dense array of numbers that can be saved. */
function isSavable(tensor: TensorDetails): boolean {
  const access = savedAs(tensor);
  return access === 'dense' || access === 'rows';
}

function quantization({ kind, parameters }: NonNullable<TensorDetails['quantization']>): HTMLElement {
  return h(
    'details',
    { class: 'block', open: true },
    h('summary', {}, `Quantization: ${kind}`),
    h(
      'dl',
      { class: 'facts-list' },
      ...parameters.map(({ name, value }) =>
        pair(name, h('span', { class: 'mono breakable' }, value.length > 64 ? `${value.slice(0, 64).join(', ')}, … ${value.length - 64} more` : value.join(', '))),
      ),
    ),
  );
}
