/** A folder as one table: each model and what is no model, with its verdict. */

import styles from '../style/folder.css?inline';
import { near, pathFrom, sortOut } from '../sorting.ts';
import type { Given } from '../picker.ts';
import { button, fill, h, icon, setText, type Icon } from '../ui/dom.ts';
import { count, counted, size } from '../ui/format.ts';
import type { Tasks } from '../ui/tasks.ts';
import type { FindingGroup } from '../worker/grouped.ts';
import type { Api } from '../worker/main.ts';
import { isAbort, type CallOptions, type Client } from '../worker/rpc.ts';

/** Names of files that may belong together with others. */
const SEVERAL = /\.index\.json$|-of-\d+\.|\.onnx$/i;

/** Number of files that are read at a time. */
const TOGETHER = 4;

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

/** The verdicts, the worst first, with their words. */
const STATES = {
  invalid: ['fatal', 'Invalid'],
  unsupported: ['unchecked', 'Not supported'],
  failed: ['unchecked', 'Not read'],
  missing: ['unchecked', 'Files missing'],
  remarks: ['lint', 'Valid, with remarks'],
  valid: ['valid', 'Valid'],
  waiting: ['busy', 'Not checked yet'],
} as const satisfies Record<string, readonly [Icon, string]>;

type State = keyof typeof STATES;

interface Line {
  given: Given;
  /** The other files of a set. */
  parts: Given[];
  state: State;
  format: string;
  size: bigint;
  words: string;
  findings: string;
  row: HTMLElement;
}

/** The most severe rule, and how many others have findings. */
function summary(groups: readonly FindingGroup[]): string {
  const [first, ...others] = groups.filter(({ severity }) => severity !== 'note');
  return first === undefined ? '' : `${first.rule}${first.count > 1 ? ` × ${count(first.count)}` : ''}${others.length > 0 ? ` and ${counted(others.length, 'other rule')}` : ''}`;
}

export class FolderView {
  readonly element: HTMLElement;
  readonly #list: readonly Given[];
  readonly #client: Client<Api>;
  readonly #tasks: Tasks;
  readonly #open: (files: Given[]) => void;
  readonly #head = h('strong', { role: 'status' });
  readonly #again = button('Check the rest', () => void this.check(), { hidden: true });
  readonly #rows = h('tbody', {});
  readonly #closing = new AbortController();
  #lines: Line[];

  /** `open` is called with the files of a model and what lies beside them. */
  constructor(name: string, list: readonly Given[], client: Client<Api>, tasks: Tasks, open: (files: Given[]) => void) {
    if (!document.adoptedStyleSheets.includes(sheet)) {
      document.adoptedStyleSheets.push(sheet);
    }
    this.#list = list;
    this.#client = client;
    this.#tasks = tasks;
    this.#open = open;
    this.#lines = sortOut(list.map((given) => ({ ...given, unknown: undefined }))).models.map((given) => ({
      given,
      parts: [],
      state: 'waiting',
      format: '',
      size: BigInt(given.file.size),
      words: STATES.waiting[1],
      findings: '',
      row: h('tr', {}),
    }));
    const head = ['File', 'Format', 'Size', 'Verdict', 'Findings'].map((label) => h('th', { scope: 'col', class: label === 'Size' ? 'number' : '' }, label));
    this.element = h(
      'section',
      { class: 'folder scroll', tabindex: '0', 'aria-label': `The folder ${name}` },
      h('h1', {}, h('bdi', {}, name)),
      h('p', { class: 'folder-head' }, this.#head, this.#again),
      h('table', { class: 'folder-table', 'aria-label': 'Files of the folder' }, h('thead', {}, h('tr', {}, ...head)), this.#rows),
    );
    this.#lines.forEach((line) => this.#draw(line));
    this.#arrange();
    void this.check();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Checks the files that have not been checked. */
  async check(): Promise<void> {
    this.#again.hidden = true;
    const all = this.#lines.length;
    await this.#tasks.run(
      'Checking the folder',
      async (options) => {
        const waiting = this.#lines.filter(({ state }) => state === 'waiting');
        const take = async (lines: Line[]) => {
          for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
            if (this.#lines.includes(line)) {
              options.progress({ label: line.given.file.name, done: this.#lines.filter(({ state }) => state !== 'waiting').length / all });
              await this.#one(line, options);
              options.signal.throwIfAborted();
              this.#draw(line);
              this.#count();
            }
          }
        };
        // Parts of larger files come first and one by one.
        await take(waiting.filter(({ given }) => SEVERAL.test(given.file.name)));
        const others = waiting.filter(({ given }) => !SEVERAL.test(given.file.name));
        await Promise.all(Array.from({ length: TOGETHER }, () => take(others)));
      },
      this.#closing.signal,
    );
    this.#again.hidden = this.#lines.every(({ state }) => state !== 'waiting');
    this.#arrange();
  }

  async #one(line: Line, options: CallOptions): Promise<void> {
    const { given } = line;
    const { file } = given;
    const beside = SEVERAL.test(file.name) ? this.#list.filter((other) => pathFrom(given, other) !== undefined) : [];
    try {
      const { info, verdict, groups } = await this.#client.with({ signal: options.signal }).glance(file, near(given, beside));
      const names = new Set(info.parts?.filter(({ state }) => state !== 'surplus').map(({ name }) => name));
      line.parts = beside.filter((other) => other.file !== file && names.has(pathFrom(given, other)!));
      // The files of a set are no lines of their own.
      const joined = new Set(line.parts.map((part) => part.file));
      this.#lines = this.#lines.filter((other) => other === line || !joined.has(other.given.file) || (other.row.remove(), false));
      line.size = info.size;
      line.format = info.title ?? info.format ?? '';
      const absent = info.format === 'shards' && info.parts !== undefined && info.parts.length > 1 && info.parts.every(({ state }) => state === 'index' || state === 'missing');
      const remarks = groups.some(({ severity }) => severity === 'lint' || severity === 'violation');
      line.state = verdict.verdict !== 'valid' ? verdict.verdict : absent ? 'missing' : remarks ? 'remarks' : 'valid';
      const [, words] = STATES[line.state];
      line.words = verdict.missing !== undefined ? 'Truncated' : line.state === 'valid' && !verdict.checked.includes('payloads') ? 'Structure valid' : info.refused && (verdict.diagnosis !== undefined || info.format === undefined) ? 'Not a model' : words;
      line.findings = [info.refused || verdict.missing !== undefined ? verdict.diagnosis : undefined, summary(groups)].filter((part) => part !== undefined && part !== '').join(' · ');
    } catch (error) {
      if (isAbort(error) || options.signal?.aborted) {
        throw error;
      }
      line.state = 'failed';
      line.words = STATES.failed[1];
      line.findings = (error as Error).message;
    }
  }

  /** The worst first, in the order of the names. */
  #arrange(): void {
    const ranks = Object.keys(STATES);
    const path = ({ given: { folder = '', file } }: Line) => `${folder}/${file.name}`;
    const compare = new Intl.Collator('en', { numeric: true }).compare;
    this.#lines.sort((a, b) => ranks.indexOf(a.state) - ranks.indexOf(b.state) || compare(path(a), path(b)));
    const held = this.#rows.querySelector(':focus');
    this.#rows.append(...this.#lines.map(({ row }) => row));
    (held as HTMLElement | null)?.focus();
    this.#count();
  }

  #count(): void {
    const parts = [counted(this.#lines.length, 'file')];
    for (const [state, [, words]] of Object.entries(STATES)) {
      const found = this.#lines.filter((line) => line.state === state).length;
      if (found > 0) {
        parts.push(`${count(found)} ${words.toLowerCase()}`);
      }
    }
    setText(this.#head, parts.join(' · '));
  }

  #draw(line: Line): void {
    const { given, parts, state, format, words, findings, row } = line;
    const within = given.folder?.replace(/^[^/]*\/?/, '') ?? '';
    const path = `${within === '' ? '' : `${within}/`}${given.file.name}`;
    row.dataset.state = state;
    fill(
      row,
      h(
        'th',
        { scope: 'row' },
        button(path, () => this.#open([given, ...parts, ...this.#companions(given)]), { class: 'link' }),
        parts.length > 0 && h('span', { class: 'muted' }, ` and ${counted(parts.length, 'file')}`),
        // In place of the last column of a narrow window.
        findings !== '' && h('p', { class: 'folder-findings' }, h('bdi', {}, findings)),
      ),
      h('td', {}, format),
      h('td', { class: 'number' }, size(line.size)),
      h('td', { class: 'folder-verdict' }, icon(STATES[state][0]), ` ${words}`),
      h('td', {}, h('bdi', {}, findings)),
    );
  }

  /** The settings of a model, and what describes it. */
  #companions({ folder }: Given): Given[] {
    const { configs, beside } = sortOut(this.#list.filter((other) => other.folder === folder));
    return [...configs.values(), ...beside];
  }

  focus(): void {
    this.element.focus();
  }
}
