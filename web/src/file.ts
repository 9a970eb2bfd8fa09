/** An open file, as the page sees it. */

import type { Profile, Verdict } from 'weighbridge';
import { folderOf, numbered } from './names.ts';
import { partWord } from './parts.ts';
import type { Api, Opened } from './worker/main.ts';
import type { Picture, StatisticsResult } from './worker/jobs.ts';
import type { FindingGroup } from './worker/grouped.ts';
import type { Health } from './worker/statistics.ts';
import type { Part } from './worker/joint.ts';
import type { Client, Remote } from './worker/rpc.ts';
import { Kept } from './cache.ts';
import { Topic } from './ui/dom.ts';
import { count, counted, hex, range } from './ui/format.ts';
import type { Tasks } from './ui/tasks.ts';

/** Files up to this size are fully checked without asking. */
const SMALL = 16n << 20n;

/** Number of statistics and bytes of pictures to keep. The others are recomputed. */
const STATISTICS = 32;
const PICTURES = 48 << 20;

export type Depth = 'index' | 'structure' | 'payloads';

export interface Span {
  at: bigint;
  len: bigint;
}

export class OpenFile {
  readonly info: Opened;
  /** Whether dropped files can be added to it. */
  droppable = false;
  readonly client: Client<Api>;
  readonly tasks: Tasks;
  /** The verdict has changed, or a check has started. */
  readonly validated = new Topic();
  /** Emitted when a sweep starts or ends. */
  readonly swept = new Topic();
  readonly selected = new Topic<number | undefined>();
  /** Bytes to show in the hex view. */
  readonly revealed = new Topic<Span>();
  /** The view has changed; `true` if this must not add a history entry. */
  readonly moved = new Topic<boolean>();
  /** The chat template has been asked for, perhaps before the summary is there. */
  readonly templated = new Topic();
  wantsTemplate = false;
  /** The model's settings have been loaded from a `config.json`, or files beside it were added. */
  readonly configured = new Topic();
  /** Aborted when the file is closed. */
  readonly closing = new AbortController();

  /** The files of a multi-file model. */
  parts: Part[] | undefined;
  /** Keyed by tensor. */
  readonly statistics = new Kept<number, StatisticsResult>(STATISTICS);
  /** Keyed by tensor and what is drawn. */
  readonly pictures = new Kept<string, Picture>(PICTURES, ({ mean }) => 4 * mean.byteLength);

  profile: Profile = 'strict';
  verdict: Verdict | undefined;
  /** The rules with findings, the most severe first. */
  groups: readonly FindingGroup[] = [];
  depth: Depth = 'index';
  checking = false;
  /** Whether to check the payloads once the structure has been checked. */
  #further = false;
  /** The verdict on the weights. */
  health: Health | undefined;
  sweeping = false;
  tensor: number | undefined;
  span: Span | undefined;
  /** The text of a `config.json`. */
  config: string | undefined;
  /** Files of the same folder that describe the model. */
  beside: readonly File[] = [];
  /** Why the view no longer matches the file. */
  outdated: string | undefined;
  /** Reopens the file. */
  readonly reload: () => void;

  /** What people call it: a model of several files by its folder, as all have the same file names. Of equal names, later ones are numbered. */
  readonly name: string;

  /** When the file was changed last, in milliseconds since 1970. */
  readonly modified: number | undefined;

  constructor(info: Opened, client: Client<Api>, tasks: Tasks, reload: () => void, folder?: string, modified?: number, taken: readonly string[] = []) {
    this.modified = modified;
    this.reload = reload;
    this.info = info;
    const own = folder ?? (info.address && folderOf(info.address));
    this.name = numbered((info.parts && own) ?? info.name, taken);
    this.parts = info.parts;
    this.client = client;
    this.tasks = tasks;
  }

  /** With the name of the main file. */
  get fullName(): string {
    const { name, info } = this;
    return name === info.name ? name : `${name} (${info.name})`;
  }

  /** Whether it is an index without any of its files. */
  get isAbsent(): boolean {
    const { parts } = this;
    return this.info.format === 'shards' && parts !== undefined && parts.length > 1 && parts.every(({ state }) => state === 'index' || state === 'missing');
  }

  get id(): number {
    return this.info.id;
  }

  get api(): Remote<Api> {
    return this.client.api;
  }

  /** Checks whether the file has changed since it was opened; the worker reports it if so. */
  touch(): void {
    if (!this.info.remote && this.outdated === undefined) {
      this.api.touch(this.id).catch(() => undefined);
    }
  }

  /** Marks the file as changed since it was opened. */
  outdate(message: string): void {
    if (this.outdated === undefined) {
      this.outdated = message;
      this.tasks.say(message);
      this.validated.emit();
    }
  }

  /** The part that contains a byte, for a multi-file model. */
  partAt(at: bigint): Part | undefined {
    return this.parts?.findLast(({ base, size }) => base <= at && size > 0n);
  }

  /** What the specification calls a part of the file; without an offset, all parts of the kind. */
  partWord(part: string, at?: bigint): string {
    const { format, parts } = this.info;
    const own = format === 'shards' ? (at === undefined ? parts?.at(-1) : this.partAt(at)) : undefined;
    const inside = own === undefined || own.name.endsWith('.json') ? format : own.name.endsWith('.safetensors') ? 'safetensors' : 'pytorch';
    return partWord(inside, part, at === undefined ? undefined : at - (this.partAt(at)?.base ?? 0n));
  }

  /** An offset relative to the file that contains the byte. */
  hex(at: bigint): string {
    return hex(at - (this.partAt(at)?.base ?? 0n));
  }

  /** Like `hex`, for a range of bytes. Includes the file name if there are several files. */
  range(at: bigint, len: bigint | number): string {
    const part = this.partAt(at);
    return `${range(at - (part?.base ?? 0n), len)}${part === undefined ? '' : ` in ${part.name}`}`;
  }

  /** Whether all tensors without data are activations: those of a program whose data is not in other files. */
  get hasActivations(): boolean {
    const isProgram = this.info.format === 'tflite' || this.info.format === 'executorch';
    const isElsewhere = this.groups.some(({ rule }) => rule === 'E-UNCHECKED' || rule === 'T-EXTERNAL');
    return isProgram && !isElsewhere && this.info.withoutData > 0;
  }

  /** Counts tensors without data. */
  countedWithout(tensors: number): string {
    return this.hasActivations ? counted(tensors, 'activation') : `${count(tensors)} without data`;
  }

  /** Whether the file is a table (a data view) and not a model. */
  get isTable(): boolean {
    return this.info.format === 'idv';
  }

  /** Number of findings that are nothing to worry about. */
  get notes(): number {
    return this.groups.reduce((sum, { severity, count }) => sum + (severity === 'note' ? count : 0), 0);
  }

  /** Whether a model summary makes sense: the file has weights, or at least a tokenizer. */
  get isModel(): boolean {
    return !this.isTable && this.info.format !== 'shards' && !this.info.refused;
  }

  /** Applies a `config.json`, which adds what names and shapes do not tell. `name` is the file's. */
  configure(config: string, name = 'config.json'): void {
    try {
      JSON.parse(config);
    } catch {
      this.tasks.fail(`${name} is not valid JSON.`);
      return;
    }
    this.config = config;
    this.configured.emit();
  }

  /** Adds files that describe the model. */
  accompany(files: readonly File[]): void {
    if (files.length > 0) {
      this.beside = files;
      this.configured.emit();
    }
  }

  /** Selects a tensor, or none; `replace` keeps it out of the history. */
  select(tensor: number | undefined, replace = false): void {
    if (tensor !== this.tensor) {
      this.tensor = tensor;
      this.touch();
      this.selected.emit(tensor);
      this.moved.emit(replace);
    }
  }

  reveal(at: bigint, len: bigint): void {
    this.span = { at, len };
    this.revealed.emit(this.span);
    this.moved.emit(false);
  }

  /** Checks the structure, and also the data if that is quick or requires no reads. */
  async check(): Promise<void> {
    await this.audit('structure');
    const quick = !this.info.remote && this.info.size <= SMALL;
    if (this.depth === 'structure' && (quick || this.verdict?.checkable === false)) {
      await this.audit('payloads');
    }
  }

  async audit(depth: 'structure' | 'payloads'): Promise<void> {
    if (this.checking) {
      this.#further ||= depth === 'payloads';
      return;
    }
    this.checking = true;
    this.#further = false;
    this.validated.emit();
    const done = await this.tasks.run(
      depth === 'structure' ? 'Checking structure' : 'Checking payloads',
      async (options) => {
        await this.client.with(options).audit(this.id, depth);
        return true;
      },
      this.closing.signal,
    );
    this.checking = false;
    if (this.closing.signal.aborted) {
      return;
    }
    if (done === true) {
      this.depth = depth;
    } else {
      // Nothing is being checked any more, even if there will be no verdict.
      this.validated.emit();
    }
    await this.validate();
    if (this.#further && this.depth === 'structure') {
      await this.audit('payloads');
    }
  }

  /** Whether there are weights to scan. */
  get hasWeights(): boolean {
    return !this.isTable && this.info.format !== 'shards' && !this.info.refused && this.info.elements > 0n;
  }

  /** Reads all weights that have not been read yet. */
  async sweep(): Promise<void> {
    if (this.sweeping) {
      return;
    }
    this.sweeping = true;
    this.swept.emit();
    await this.tasks.run('Scanning weights', (options) => this.client.with(options).sweep(this.id), this.closing.signal);
    this.sweeping = false;
    this.swept.emit();
    if (!this.closing.signal.aborted) {
      this.health = await this.api.health(this.id);
      this.swept.emit();
    }
  }

  async validate(profile = this.profile): Promise<void> {
    this.profile = profile;
    const verdict = await this.api.verdict(this.id, profile);
    const groups = await this.api.findingGroups(this.id);
    if (profile !== this.profile) {
      return;
    }
    this.groups = groups;
    this.verdict = verdict;
    if (this.parts !== undefined) {
      // Updates how many of the listed tensors were found.
      this.parts = await this.api.parts(this.id);
    }
    this.validated.emit();
  }

  close(): void {
    this.closing.abort();
    void this.api.close(this.id);
  }
}
