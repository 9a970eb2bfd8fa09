/** One document for several files: the shards of an index or the parts of a split GGUF. */

import { type Code, type Document, type Global, type Goal, type JointDocument, load, type Metadata, type Pickle, type Profile, settle, type Storage, type Texts, type Verdict } from 'weighbridge';
import type { Context } from './rpc.ts';
import { SHARD } from '../names.ts';
import { basesOf, concatenated, NotFound, type Source } from './sources.ts';
import { statedBy, statedRows, statedValue, type Stated } from './stated.ts';

/** A file of a model. It begins at `base` in the concatenation of all files. */
export interface Member {
  name: string;
  base: bigint;
  source?: Source;
  document?: JointDocument;
  /** Why the file could not be read. */
  why?: string;
  /** The name fits the set, but the index does not list it. */
  surplus?: true;
  /** Number of its first tensor, and of its first metadata entry, in the set. */
  first: number;
  firstEntry: number;
}

/** A file of a model, as the page shows it. */
export interface Part {
  name: string;
  base: bigint;
  size: bigint;
  state: 'index' | 'open' | 'missing' | 'unread' | 'surplus';
  why: string | undefined;
  /** Whether the file is valid as far as it was checked. */
  valid: boolean;
  /** Number of its first tensor; `undefined` if those of several files alternate. */
  first: number | undefined;
  tensors: number;
  /** For an index: the tensors it lists for the file, and how many of them the file has. */
  listed: number;
  found: number;
}

/** Base of an index's metadata entries, which are not listed with those of its files. */
const APART = 2 ** 31;
/** The parts of `Document` that are used here. */
export interface Paper extends Omit<Document, 'find' | 'positionOf' | 'verdict'> {
  /** What the pickles of the file import; the first module follows none. */
  globals?(): Global[];
  /** The pickles, the operations of one, and the storages of a checkpoint. */
  pickles?(): Pickle[];
  pickle?: JointDocument['pickle'];
  storages?(): Storage[];
  /** Returns `undefined` if bytes are missing. */
  verdict(profile?: Profile): Verdict | undefined;
}

/** Methods that the head answers for the whole set. */
const WHOLE = ['words', 'findings', 'rule', 'rows', 'give', 'rankOf', 'groups', 'totals', 'digest', 'layout', 'locate', 'strip'] as const;
/** Methods that take a tensor and return no offset. */
const OWN = ['attributeValue', 'values', 'grid', 'keyValues', 'npy'] as const;

export interface Joined extends Pick<Document, (typeof WHOLE)[number] | (typeof OWN)[number]> {}

export class Joined implements Paper {
  readonly length: bigint;
  declare readonly format: string | undefined;
  declare readonly title: string | undefined;
  declare readonly version: string | undefined;
  readonly #head: JointDocument;
  readonly #files: readonly Member[];
  /** The files that have a document. */
  readonly #open: Required<Omit<Member, 'why' | 'surplus'>>[];
  /** The index, if there is one. */
  readonly #index: Member | undefined;
  /** Listed after the metadata of the files. */
  readonly #stated: readonly Stated[];
  #profile: Profile = 'strict';
  /** The profile of a verdict that could not finish because bytes were missing. */
  #ending: Profile | undefined;
  /** The file whose document needs bytes. */
  #waiting: Member;

  /** `head` has the tensors of all files in order; `index` is the index file, which comes first. */
  constructor(head: JointDocument, files: readonly Member[], index: Member | undefined, stated: readonly Stated[]) {
    this.#head = head;
    this.#index = index;
    this.#stated = stated;
    this.#files = files;
    this.#open = files.filter(({ document }) => document !== undefined) as Required<Member>[];
    this.#waiting = this.#open[0];
    const last = this.#open.at(-1)!;
    this.length = last.base + last.source.size;
    // The first readable part determines the format of the whole set.
    const { format, title, version } = (this.#parts.find(({ document }) => !document.refused) ?? this.#open[0]).document;
    type Call = (...args: never[]) => unknown;
    const own = (name: string) => (tensor: number, ...args: never[]) => this.#ask(tensor, (document, local) => (document[name as 'values'] as (tensor: number, ...args: never[]) => unknown)(local, ...args));
    Object.assign(this, { format, title, version }, Object.fromEntries([...WHOLE.map((name) => [name, (...args: never[]) => (head[name] as Call)(...args)]), ...OWN.map((name) => [name, own(name)])]));
  }

  /** What the pickles of all files import, each name once. */
  globals(): Global[] {
    const all = new Map<string, Global>();
    let before = 0;
    for (const { document, base } of this.#open) {
      const pickles = document.pickles();
      for (const global of document.globals()) {
        const known = all.get(global.name);
        const place = pickles[global.pickle]?.compressed === true ? global.place : base + global.place;
        const here = { ...global, offset: base + global.offset, place, pickle: before + global.pickle };
        all.set(global.name, known === undefined ? here : { ...known, called: known.called || global.called });
      }
      before += pickles.length;
    }
    return [...all.values()];
  }

  /** The pickles of all files. */
  pickles(): Pickle[] {
    return this.#open.flatMap(({ document, base, name: file }) => document.pickles().map((pickle) => ({ ...pickle, offset: base + pickle.offset, name: `${file}: ${pickle.name}` })));
  }

  /** A pickle of all files, by its number; paths are in the order of `globals()`. */
  pickle(number: number, stored: Uint8Array, offsets: readonly bigint[], count: number): Code {
    let own = number;
    for (const { document, base } of this.#open) {
      const pickles = document.pickles();
      const pickle = pickles[own];
      if (pickle !== undefined) {
        const shift = pickle.compressed ? 0n : base;
        const code = document.pickle(own, stored, offsets.map((offset) => offset - shift), count);
        const paths = new Map(document.globals().map(({ name }, i) => [name, code.paths[i]]));
        return {
          paths: this.globals().map(({ name, pickle: of }) => (of === number ? paths.get(name) : undefined)),
          operations: code.operations.map((operation) => ({ ...operation, offset: operation.offset + shift })),
        };
      }
      own -= pickles.length;
    }
    return { paths: [], operations: [] };
  }

  /** The storages of all files. */
  storages(): Storage[] {
    return this.#parts.flatMap(({ document, base, first }) =>
      document.storages().map((storage) => ({ ...storage, offset: base + storage.offset, tensors: storage.tensors.map((tensor) => tensor + first) })),
    );
  }

  /** The files, as the page shows them. */
  get files(): Part[] {
    const { listed, found } = (this.#index && this.#head.listed()) ?? { listed: [], found: [] };
    let number = 0;
    return this.#files.map((file) => {
      const { name, base, source, document, why, first, surplus } = file;
      const isIndex = file === this.#index;
      const state = isIndex ? 'index' : surplus ? 'surplus' : document !== undefined ? 'open' : why !== undefined ? 'unread' : 'missing';
      const i = isIndex ? -1 : number++;
      const valid = document?.verdict(this.#profile).valid ?? false;
      return { name, base, size: source?.size ?? 0n, state, why, first, valid, tensors: isIndex ? 0 : (document?.tensorCount ?? 0), listed: listed[i] ?? 0, found: found[i] ?? 0 };
    });
  }

  get #parts() {
    return this.#open.filter((file) => file !== this.#index);
  }

  /** The file that contains a byte. */
  at(offset: bigint) {
    return this.#open.findLast(({ base }) => base <= offset) ?? this.#open[0];
  }

  /** The file that contains a tensor. */
  of(tensor: number) {
    const file = this.#parts.findLast(({ first }) => first <= tensor);
    if (file === undefined) {
      throw new Error('no such tensor');
    }
    return file;
  }

  /** Calls the document that contains a tensor. */
  #ask<T>(tensor: number, call: (document: Document, tensor: number) => T): T {
    const file = this.of(tensor);
    const answer = call(file.document, tensor - file.first);
    if (answer === undefined) {
      this.#waiting = file;
    }
    return answer;
  }

  free(): void {
    this.#open.forEach(({ document }) => document !== this.#head && document.free());
    this.#head.free();
  }

  advance(goal: Goal): boolean {
    const waiting = this.#open.find(({ document }) => !document.advance(goal));
    this.#waiting = waiting ?? this.#waiting;
    return waiting === undefined;
  }

  need(): BigUint64Array {
    const { document, base } = this.#waiting;
    return document!.need().map((number, i) => (i % 2 === 0 ? number + base : number));
  }

  get requires() {
    return this.#waiting.document!.requires;
  }

  supply(at: bigint, bytes: Uint8Array): void {
    const { document, base } = this.at(at);
    document.supply(at - base, bytes);
  }

  progress() {
    const { stage, entries } = this.#waiting.document!.progress();
    return { stage, entries, supplied: this.#open.reduce((sum, { document }) => sum + document.progress().supplied, 0n) };
  }

  readonly refused = false;
  readonly unknown = false;
  readonly cut = false;
  readonly needsFull = false;

  get tensorCount() {
    return this.#head.tensorCount;
  }

  get metadataCount() {
    return this.#entries + this.#stated.length;
  }

  /** Number of metadata entries of the files. */
  get #entries() {
    const last = this.#parts.at(-1);
    return last === undefined ? this.#head.metadataCount : last.firstEntry + last.document.metadataCount;
  }

  get findingCount() {
    return this.#head.findingCount;
  }

  words() {
    return this.#head.words();
  }

  /**
   * Combines the verdicts of the files with the checks across them; `undefined` if bytes are
   * missing.
   */
  verdict(profile: Profile = 'strict'): Verdict | undefined {
    const head = this.#head;
    this.#profile = profile;
    // Without its files, only the index is validated, unless the files were looked for and not
    // found.
    const { remote, looks } = this.#index?.source ?? {};
    const looked = remote === true || looks === true || this.#files.some(({ why }) => why !== undefined);
    if (this.#parts.length > 0 || looked) {
      if (this.#ending !== profile) {
        if (!head.begin(profile)) {
          this.#waiting = this.#index!;
          return undefined;
        }
        this.#files
          .filter((file) => file !== this.#index && !file.surplus)
          .forEach(({ document, name, base, first, firstEntry, why }, number) =>
            document === undefined ? head.addAbsent(number, why === undefined) : head.addPart(document, number, name, base, first, firstEntry),
          );
      }
      const done = head.end();
      this.#ending = done ? undefined : profile;
      if (!done) {
        this.#waiting = this.#index!;
        return undefined;
      }
    }
    const verdict = head.verdict(profile);
    const failed = this.#files.find(({ why }) => why !== undefined);
    return failed === undefined ? verdict : { ...verdict, leftOut: `${failed.name} could not be read: ${failed.why}` };
  }

  #entryOf(entry: number) {
    return this.#parts.findLast(({ firstEntry }) => entry < APART && firstEntry <= entry) ?? this.#open[0];
  }

  entryName(kind: string, entry: number) {
    if (kind === 'tensor' || kind === 'attribute') {
      return this.#head.entryName(kind, entry);
    }
    const { document, firstEntry } = this.#entryOf(entry);
    return document.entryName(kind, entry - (entry < APART ? firstEntry : APART));
  }

  tensor(index: number) {
    const { base } = this.of(index);
    const it = this.#ask(index, (document, own) => document.tensor(own));
    return it && { ...it, index, at: it.at + base, offset: it.offset === undefined ? undefined : it.offset + base };
  }

  chunks(index: number, from: number, to: number) {
    const { base, document } = this.of(index);
    const table = this.#ask(index, (document, own) => document.chunks(own, from, to));
    return table && { ...table, offset: table.offset.map((at) => at + base), encoding: table.encoding.map((code) => this.#head.code(document.words()[code])) };
  }

  attributes(index: number) {
    const { base } = this.of(index);
    const table = this.#ask(index, (document, own) => document.attributes(own));
    return table && { ...table, at: table.at.map((at) => at + base) };
  }

  metadata(from: number, to: number): Metadata | undefined {
    const tables: Metadata[] = [];
    for (const file of this.#parts.length > 0 ? this.#parts : this.#open) {
      const { document, firstEntry, base } = file;
      const end = Math.max(0, Math.min(document.metadataCount, to - firstEntry));
      const table = document.metadata(Math.min(end, Math.max(0, from - firstEntry)), end);
      if (table === undefined) {
        this.#waiting = file;
        return undefined;
      }
      tables.push({ ...table, index: table.index.map((index) => index + firstEntry), at: table.at.map((at) => at + base) });
    }
    const first = Math.max(from, this.#entries);
    const stated = statedRows(this.#stated.slice(first - this.#entries, Math.max(0, to - this.#entries)), first, this.#index?.base ?? 0n);
    type Table = Metadata | typeof stated;
    const all = <T>(of: (table: Table) => Iterable<T>) => [...tables, stated].flatMap((table) => [...of(table)]);
    return {
      total: this.metadataCount,
      index: Uint32Array.from(all(({ index }) => index)),
      keys: all(({ keys }) => keys) as unknown as Texts,
      types: all(({ types }) => types) as unknown as Texts,
      previews: all(({ previews }) => previews) as unknown as Texts,
      at: BigUint64Array.from(all(({ at }) => at)),
      len: BigUint64Array.from(all(({ len }) => len)),
    };
  }

  value(index: number) {
    const stated = this.#stated[index - this.#entries];
    if (stated !== undefined) {
      return statedValue(stated);
    }
    const file = this.#entryOf(index);
    const value = file.document.value(index - file.firstEntry);
    this.#waiting = file;
    return value;
  }

  decoder(index: number, chunk: number) {
    const { base } = this.of(index);
    const decoder = this.#ask(index, (document, own) => document.decoder(own, chunk));
    return decoder && Object.assign(decoder, { offset: decoder.offset + base });
  }
}

/** The files next to a file. */
export interface Beside {
  /** Known names. */
  names: readonly string[];
  /** Opens a file by its path, relative to the folder; `undefined` if it does not exist. */
  open(name: string): Promise<Source | undefined>;
}

/** Matches the name of a part of a split GGUF. */
const PART = /^(.*)-\d{5}-of-(\d{5})\.gguf$/;
/** The common part of the names of an index's shards; any other name is returned unchanged. */
function stemOf(name: string): string {
  return name.replace(SHARD, '-');
}

/** Files of a set opened in parallel. */
const AT_ONCE = 4;
/** After this many missing files, the others are not looked for. */
const MOST_MISSING = 1000;
/** Upper bound of the total size of a model's files. */
const LONGEST = 1n << 63n;
/** Maximum bytes that each document keeps, except those it needs now. */
const KEPT = 1 << 20;

/** Opens a set; returns `undefined` if the file stands alone. */
export async function together(source: Source, document: Document, context: Context, beside: Beside): Promise<[Source, Joined] | undefined> {
  const split = document.format === 'gguf' ? PART.exec(source.name) : null;
  const isIndex = document.format === 'shards' && !document.refused;
  if (!isIndex && (split === null || Number(split[2]) < 2)) {
    return undefined;
  }
  const { Document } = await load('full');
  const { signal } = context;
  const index: Member | undefined = isIndex ? { name: source.name, source, document: document as JointDocument, base: 0n, first: 0, firstEntry: APART } : undefined;
  const head = index?.document ?? new Document(0n);
  const names = split === null ? (await settle(document, source, () => head.listed(), { signal })).names : Array.from({ length: Number(split[2]) }, (_, i) => source.name.replace(/\d{5}(?=-of-\d{5}\.gguf$)/, String(i + 1).padStart(5, '0')));
  const stated = isIndex ? await statedBy(source, signal) : [];
  const parts = names.map((name): Member => ({ name, base: 0n, first: 0, firstEntry: 0 }));
  // As loaders do: a shard with another extension is a checkpoint of PyTorch, told by its content.
  const formatOf = (name: string) => (!isIndex ? 'gguf' : name.toLowerCase().endsWith('.safetensors') ? 'safetensors' : undefined);
  let missing = 0;
  let done = 0;
  const open = async (part: Member) => {
    try {
      if (part.name !== source.name && missing >= MOST_MISSING) {
        throw new Error(`it was skipped because ${MOST_MISSING} other files could not be read`);
      }
      part.source = part.name === source.name ? source : await beside.open(part.name);
      const { source: found } = part;
      if (found !== undefined) {
        const own = new Document(found.size, { format: formatOf(part.name), budget: KEPT, name: part.name });
        part.document = own;
        await settle(own, found, () => own.advance('index'), { signal });
      }
    } catch (error) {
      part.document?.free();
      part.document = undefined;
      signal.throwIfAborted();
      if (!(error instanceof NotFound)) {
        part.why = (error as Error).message;
      }
    }
    missing += Number(part.document === undefined);
    context.progress({ label: `file ${++done} of ${names.length}`, done: done / names.length });
  };
  const queue = parts.values();
  // Files whose names fit the set.
  const stems = new Set(names.map(stemOf));
  const surplus = beside.names.filter((name) => isIndex && stems.has(stemOf(name)) && !names.includes(name));
  const all = [...(index === undefined ? [] : [index]), ...parts, ...surplus.map((name): Member => ({ name, base: 0n, first: 0, firstEntry: 0, surplus: true }))];
  try {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const part of queue) {
          signal.throwIfAborted();
          await open(part);
        }
      }),
    );
  } catch (error) {
    all.forEach((one) => one.document?.free());
    throw error;
  }
  const there = all.filter((one) => one.document !== undefined);
  if (split !== null && there.length < 2) {
    there.forEach((one) => one.document!.free());
    return undefined;
  }
  const bases = basesOf(there.map((one) => one.source!.size));
  if (there.length > 0 && bases.at(-1)! + there.at(-1)!.source!.size >= LONGEST) {
    there.forEach((one) => one.document!.free());
    throw new Error('the sizes of its files are implausible');
  }
  let [first, firstEntry] = [0, 0];
  there.forEach((one, i) => {
    one.base = bases[i];
    if (one !== index) {
      Object.assign(one, { first, firstEntry });
      first += one.document!.tensorCount;
      firstEntry += one.document!.metadataCount;
      head.join(one.document!, one.base);
    }
  });
  if (split !== null) {
    document.free();
  }
  if (index !== undefined && there.length === 1) {
    index.firstEntry = 0;
  }
  return [concatenated(source.name, there.map((one) => one.source!)), new Joined(head, all, index, stated)];
}
