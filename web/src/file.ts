/** An open file as the page knows it. */

import type { Profile, Verdict } from 'weighbridge';
import type { Api, Opened } from './worker/main.ts';
import type { Picture, StatisticsResult } from './worker/jobs.ts';
import type { Health } from './worker/swept.ts';
import type { Part } from './worker/joined.ts';
import type { Client, Remote } from './worker/rpc.ts';
import { Kept } from './kept.ts';
import { Topic } from './ui/dom.ts';
import { hex, range } from './ui/format.ts';
import type { Tasks } from './ui/tasks.ts';

/** Data up to this size is checked without being asked for. */
const SMALL = 16n << 20n;

/** Statistics, and bytes of pictures, that are kept; others are computed again. */
const STATISTICS = 32;
const PICTURES = 48 << 20;

export type Depth = 'index' | 'structure' | 'payloads';

export interface Span {
  at: bigint;
  len: bigint;
}

export class OpenFile {
  readonly info: Opened;
  /** Whether files that are dropped join it. */
  droppable = false;
  readonly client: Client<Api>;
  readonly tasks: Tasks;
  /** The next verdict, or the next stage. */
  readonly validated = new Topic();
  /** More is known of the weights, or the sweep begins or ends. */
  readonly swept = new Topic();
  readonly selected = new Topic<number | undefined>();
  /** Bytes that the hex view shall show. */
  readonly revealed = new Topic<Span>();
  /** The view has changed; `true` where that is no step to go back from. */
  readonly moved = new Topic<boolean>();
  /** There are settings of the model from elsewhere. */
  readonly configured = new Topic();
  /** Aborted when the file is closed. */
  readonly closing = new AbortController();

  /** The files that it lies in, if it is a model in several. */
  parts: Part[] | undefined;
  /** By tensor. */
  readonly statistics = new Kept<number, StatisticsResult>(STATISTICS);
  /** By tensor and what is drawn of it. */
  readonly pictures = new Kept<string, Picture>(PICTURES, ({ mean }) => 4 * mean.byteLength);

  profile: Profile = 'strict';
  verdict: Verdict | undefined;
  depth: Depth = 'index';
  checking = false;
  /** What was found out about the weights. */
  health: Health | undefined;
  sweeping = false;
  tensor: number | undefined;
  span: Span | undefined;
  /** The text of a `config.json`. */
  config: string | undefined;
  /** Why what is shown is no longer what is in the file. */
  outdated: string | undefined;
  /** Opens the file anew. */
  readonly reload: () => void;

  constructor(info: Opened, client: Client<Api>, tasks: Tasks, reload: () => void) {
    this.reload = reload;
    this.info = info;
    this.parts = info.parts;
    this.client = client;
    this.tasks = tasks;
  }

  get id(): number {
    return this.info.id;
  }

  get api(): Remote<Api> {
    return this.client.api;
  }

  /** Looks whether the file is still the one that was opened; the worker tells if not. */
  touch(): void {
    if (!this.info.remote && this.outdated === undefined) {
      this.api.touch(this.id).catch(() => undefined);
    }
  }

  /** The file is not the one any more that was opened. */
  outdate(message: string): void {
    if (this.outdated === undefined) {
      this.outdated = message;
      this.tasks.say(message);
      this.validated.emit();
    }
  }

  /** The file that a byte is in, of several. */
  partAt(at: bigint): Part | undefined {
    return this.parts?.findLast(({ base, size }) => base <= at && size > 0n);
  }

  /** An offset as it is in the file that the byte is in. */
  hex(at: bigint): string {
    return hex(at - (this.partAt(at)?.base ?? 0n));
  }

  /** As `hex`, of several bytes, with the name of the file if there are others. */
  range(at: bigint, len: bigint | number): string {
    const part = this.partAt(at);
    return `${range(at - (part?.base ?? 0n), len)}${part === undefined ? '' : ` in ${part.name}`}`;
  }

  /** Whether positions in this file mean something in another view of it. */
  get isTable(): boolean {
    return this.info.format === 'idv';
  }

  /** Whether a summary of a model makes sense: there are weights, or a tokenizer alone. */
  get isModel(): boolean {
    return !this.isTable && this.info.format !== 'shards' && !this.info.refused;
  }

  /** Takes a `config.json`, which says what names and shapes do not. */
  configure(config: string): void {
    try {
      JSON.parse(config);
    } catch {
      this.tasks.fail('config.json is not valid JSON.');
      return;
    }
    this.config = config;
    this.configured.emit();
  }

  select(tensor: number | undefined): void {
    if (tensor !== this.tensor) {
      this.tensor = tensor;
      this.touch();
      this.selected.emit(tensor);
      this.moved.emit(false);
    }
  }

  reveal(at: bigint, len: bigint): void {
    this.span = { at, len };
    this.revealed.emit(this.span);
    this.moved.emit(false);
  }

  /** Proves the structure, and the data too when that is quick or takes no reading. */
  async check(): Promise<void> {
    await this.audit('structure');
    const quick = !this.info.remote && this.info.size <= SMALL;
    if (this.depth === 'structure' && (quick || this.verdict?.checkable === false)) {
      await this.audit('payloads');
    }
  }

  async audit(depth: 'structure' | 'payloads'): Promise<void> {
    if (this.checking) {
      return;
    }
    this.checking = true;
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
    }
    await this.validate();
  }

  /** Whether there are weights to scan. */
  get hasWeights(): boolean {
    return !this.isTable && this.info.format !== 'shards' && !this.info.refused && this.info.elements > 0n;
  }

  /** Reads all weights that were not read yet. */
  async sweep(): Promise<void> {
    if (this.sweeping) {
      return;
    }
    this.sweeping = true;
    this.swept.emit();
    await this.tasks.run('Scanning weights', (options) => this.client.with(options).sweep(this.id), this.closing.signal);
    this.sweeping = false;
    if (!this.closing.signal.aborted) {
      this.health = await this.api.health(this.id);
      this.swept.emit();
    }
  }

  async validate(profile = this.profile): Promise<void> {
    this.profile = profile;
    this.verdict = await this.api.verdict(this.id, profile);
    if (this.parts !== undefined) {
      // How much of what is listed was found.
      this.parts = await this.api.parts(this.id);
    }
    this.validated.emit();
  }

  close(): void {
    this.closing.abort();
    void this.api.close(this.id);
  }
}
