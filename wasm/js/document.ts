// A file: its index, and the windows of it in memory. A wrapper that hides the WebAssembly's own.

import type * as full from './full.js';
import type { Chunks, Metadata, MetaValue, Tensor, Values } from './entry.js';
import type { RawDocument, Reading } from './glue.js';
import type { Filter, Findings, Format, Groups, Layout, Profile, Progress, Rows, Rule, Severity, Sort, Totals, Verdict } from './tables.js';
import { cells, factsOf, groupTable, layoutTable, metadataTable, metaValue, notListed, rowTable, tensorDetails, textValues, validity, values, type Facts } from './answers.js';
import { lent } from './blocks.js';
import { Decoder } from './decoder.js';
import { npy, type Npy } from './npy.js';
import { GOALS, type DocumentOptions, type Goal } from './options.js';
import { failure, number, ruleOf, sentence, Texts, unpack, type Unpack } from './unpack.js';

const SORTS = ['index', 'name', 'dtype', 'elements', 'stored', 'offset', 'rank', 'findings', 'given'];
const KINDS: Readonly<Record<string, number>> = { tensor: 1, attribute: 1, metadata: 2, sizevar: 3 };
const MOST = 0xffff_ffff_ffff_ffffn;

function sortCode(sort: Sort = 'index'): number {
  const descending = sort.startsWith('-');
  const code = SORTS.indexOf(descending ? sort.slice(1) : sort);
  if (code < 0) {
    throw failure(`unknown column ${sort}`);
  }
  return code | (descending ? 16 : 0);
}

/**
 * A module that reads files, with the formats it reads.
 *
 * @internal
 */
export type Reader = Reading & { formats(): Format[] };

/**
 * What `JointDocument` may see of a document.
 *
 * @internal
 */
export let insides: (document: Document) => { raw: full.RawDocument; seed: bigint; glue: Reader };
/**
 * Forgets what was read of a document that changes, perhaps in length.
 *
 * @internal
 */
export let forget: (document: Document, length?: bigint) => void;

/**
 * A file: its index, and the windows of it in memory.
 *
 * A method that returns `undefined` or `false` when bytes are missing says so. Then `need()` is not
 * empty: supply those ranges and call again (`settle` does this). All methods that list entries use
 * the index in WebAssembly memory and never need bytes. Elements of block types such as `q4_k` need
 * the module `compute` too: `requires` says so until it is loaded.
 */
export class Document {
  /** Length of the file in bytes; the end of the last file appended to it. */
  readonly length: bigint;
  readonly #glue: Reader;
  readonly #raw: RawDocument;
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0]!;
  #facts: Facts | undefined;
  readonly #words: string[] = [];
  #only: Uint32Array | undefined;
  #entry: { tensor: number; index: number; value: MetaValue } | undefined;
  #blocks = false;

  static {
    insides = (document) => ({ raw: document.#raw as full.RawDocument, seed: document.#seed, glue: document.#glue });
    forget = (document, length = document.length) => {
      document.#facts = undefined;
      (document as { length: bigint }).length = length;
    };
  }

  /** @internal */
  constructor(glue: Reader, length: bigint | number, { format = '', name = '', budget = 16 << 20, granule = 64 << 10 }: DocumentOptions = {}) {
    if (format !== '' && !glue.formats().some(({ name }) => name === format)) {
      throw failure(`unknown format ${format}`);
    }
    this.#glue = glue;
    this.length = BigInt(length);
    this.#raw = new glue.RawDocument(this.length, format, name, this.#seed, budget, granule);
  }

  /** Frees the memory; the document must not be used afterwards. */
  free(): void {
    this.#raw.free();
  }

  /** `true` once the goal is reached, or cannot be because the file is refused. If `false`, see `need()`. */
  advance(goal: Goal): boolean {
    const code = GOALS.indexOf(goal);
    if (code < 0) {
      throw failure(`unknown goal ${goal}`);
    }
    this.#facts = undefined;
    return this.#raw.advance(code);
  }

  /** Missing ranges: pairs of offset and length, ascending and separate. */
  need(): BigUint64Array {
    return this.#raw.need();
  }

  /** The module that the last call needs, if it is not loaded. */
  get requires(): 'compute' | undefined {
    // Missing bytes are those of a later call.
    const waits = this.#blocks && lent() === undefined && this.need().length === 0;
    return waits ? 'compute' : undefined;
  }

  /** Adds a window. It may be longer or shorter than requested; bytes beyond the end are ignored. */
  supply(at: bigint | number, bytes: Uint8Array): void {
    this.#raw.supply(BigInt(at), bytes);
  }

  /** The current state of `advance`. */
  progress(): Progress {
    return unpack(this.#raw.progress(), (fields) => ({
      stage: fields.text(),
      entries: fields.u32(),
      supplied: fields.u64(),
    }));
  }

  #known(): Facts {
    return (this.#facts ??= unpack(this.#raw.facts(), factsOf));
  }

  /** The format's short name, such as `oinf`; `undefined` before it is known. */
  get format(): string | undefined {
    return this.#known().format;
  }

  /** The format's usual name, such as `OINF`. */
  get title(): string | undefined {
    return this.#known().title;
  }

  get version(): string | undefined {
    return this.#known().version;
  }

  /** Whether the file could not be opened. */
  get refused(): boolean {
    return this.#known().refused;
  }

  /** Whether it was refused because this module does not recognise the format. */
  get unknown(): boolean {
    return this.#known().unknown;
  }

  /** Whether the lists of entries are cut off because they do not fit into memory. */
  get cut(): boolean {
    return this.#known().cut;
  }

  /** Whether the module `full` lists this file faster; `open` then loads it. */
  get needsFull(): boolean {
    return this.#known().needsFull;
  }

  get tensorCount(): number {
    return this.#known().tensors;
  }

  get metadataCount(): number {
    return this.#known().metadata;
  }

  get findingCount(): number {
    return this.#known().findings;
  }

  /** Texts for the codes in `Rows`, `Findings` and `Layout`: one array, which grows with each table. */
  words(): string[] {
    this.#words.push(...unpack(this.#raw.words(this.#words.length), (fields) => fields.texts()));
    return this.#words;
  }

  /** Unpacks a table with codes, after updating `words` so that it covers them. */
  #coded<T>(packed: Uint8Array, read: (fields: Unpack) => T): T;
  #coded<T>(packed: Uint8Array | undefined, read: (fields: Unpack) => T): T | undefined;
  #coded<T>(packed: Uint8Array | undefined, read: (fields: Unpack) => T): T | undefined {
    this.words();
    return unpack(packed, read);
  }

  verdict(profile: Profile = 'strict'): Verdict {
    if (profile !== 'strict' && profile !== 'lenient') {
      throw failure(`unknown profile ${profile}`);
    }
    return unpack(this.#raw.verdict(profile === 'lenient'), (fields) => ({
      ...validity(fields),
      worst: fields.optionalText() as Severity | undefined,
      fatal: fields.f64(),
      violation: fields.f64(),
      lint: fields.f64(),
      unchecked: fields.f64(),
      dropped: fields.f64(),
      checked: [...fields.texts()] as Goal[],
      ...notListed(fields.column(Uint16Array), fields.column(BigUint64Array)),
      checkable: fields.flag(),
    }));
  }

  /** Findings `from..to` in file order. */
  findings(from: number, to: number): Findings {
    return this.#coded(this.#raw.findings(from, to), (fields) => {
      const total = fields.u32();
      const rule = fields.column(Uint16Array);
      const entry = fields.column(Uint32Array);
      const part = fields.column(Uint32Array);
      const at = fields.column(BigUint64Array);
      const len = fields.column(Uint32Array);
      const expected = fields.column(BigUint64Array);
      const found = fields.column(BigUint64Array);
      const severity = fields.column(Uint16Array);
      const kind = fields.column(Uint16Array);
      const names = fields.texts();
      const quoted = [...fields.texts()];
      const numbers = Array.from(rule, (code, i) => {
        const { message } = ruleOf(code);
        return { expected: number(message, 'expected', expected[i]!), found: number(message, 'found', found[i]!) };
      });
      const messages = Texts.of(Array.from(rule, (code, i) => sentence(code, expected[i]!, found[i]!, part[i]!, quoted[i]!)));
      return { total, rule, severity, kind, entry, part, at, len, expected, found, numbers, messages, names };
    });
  }

  /** The rule with this code (`Findings.rule`). */
  rule(code: number): Rule {
    return ruleOf(code);
  }

  /** Selects rows and their order; returns their number. */
  #select(sort: Sort | undefined, { text = '', prefix = '', dtypes, least = 0n, most = MOST, faulty = false, only }: Filter = {}): number {
    if (only !== this.#only) {
      this.#raw.allow(only);
      this.#only = only;
    }
    const codes = Uint16Array.from(dtypes ?? [], (name) => this.#raw.code(name));
    const flags = (dtypes === undefined ? 1 : 0) | (faulty ? 2 : 0);
    const sizes = [BigInt(least), BigInt(most)] as const;
    return this.#raw.select(sortCode(sort), text, prefix, codes, ...sizes, flags);
  }

  /** Rows `from..to` that pass `filter`, in the order of `sort`. The last order is cached. */
  rows(from: number, to: number, sort: Sort = 'index', filter: Filter = {}): Rows {
    if (sort === 'index' && Object.keys(filter).length === 0) {
      // Rows of the file's own order, without losing the cached order.
      return this.#coded(this.#raw.plainRows(from, to), rowTable);
    }
    this.#select(sort, filter);
    return this.#coded(this.#raw.rows(from, to), rowTable);
  }

  /** Sets a number per tensor for the order `given`; tensors with NaN come last. */
  give(numbers: Float64Array): void {
    this.#raw.give(numbers);
  }

  /** The position of a tensor in that order; -1 if it is filtered out. */
  rankOf(tensor: number, sort?: Sort, filter?: Filter): number {
    this.#select(sort, filter);
    return this.#raw.rank(tensor);
  }

  /** The next level of the tree below a prefix: groups and tensors. `like` is one of the tensors below, the `first`: another path may be written alike. */
  groups(prefix: string, filter: Filter = {}, like = 0): Groups {
    const narrower = prefix.startsWith(filter.prefix ?? '') ? prefix : filter.prefix;
    this.#select('index', { ...filter, prefix: narrower });
    const skip = new TextEncoder().encode(prefix).length;
    return this.#coded(this.#raw.groups(skip, like), groupTable);
  }

  /** Totals by element type. */
  totals(filter?: Filter): Totals {
    this.#select('index', filter);
    return this.#coded(this.#raw.totals(), (fields) => ({
      dtype: fields.column(Uint16Array),
      count: fields.column(Uint32Array),
      elements: fields.column(BigUint64Array),
      stored: fields.column(BigUint64Array),
      withoutData: fields.column(Uint32Array),
    }));
  }

  /** The first tensor with this name; -1 if there is none. */
  find(name: string): number {
    return this.#raw.find(name);
  }

  /** The name of an entry, safe to show; `kind` is a word of `Findings` or `Layout`. Empty for the file. */
  entryName(kind: string, entry: number): string {
    const code = KINDS[kind];
    return code === undefined ? '' : unpack(this.#raw.entryName(code, entry), (f) => f.text());
  }

  /** The position of that entry in the list of tensors or metadata; -1 if it is in neither. */
  positionOf(kind: string, entry: number): number {
    const code = KINDS[kind];
    return code === undefined ? -1 : this.#raw.positionOf(code, entry);
  }

  /** Details of one tensor; `undefined` if bytes are missing. */
  tensor(index: number): Tensor | undefined {
    return unpack(this.#raw.tensor(index), tensorDetails(index));
  }

  /** Chunks `from..to` of a tensor; `undefined` if bytes are missing. */
  chunks(index: number, from: number, to: number): Chunks | undefined {
    return this.#coded(this.#raw.chunks(index, from, to), (fields) => ({
      total: fields.u64(),
      offset: fields.column(BigUint64Array),
      stored: fields.column(BigUint64Array),
      decoded: fields.column(BigUint64Array),
      row: fields.column(BigUint64Array),
      elements: fields.column(BigUint64Array),
      encoding: fields.column(Uint16Array),
    }));
  }

  /** A tensor's own metadata (attributes, annotations); `undefined` if bytes are missing. */
  attributes(index: number): Metadata | undefined {
    return unpack(this.#raw.attributes(index), metadataTable());
  }

  /** Entries `from..to` of the file's metadata, with a preview of each value; `undefined` if bytes are missing. */
  metadata(from: number, to: number): Metadata | undefined {
    const table = unpack(this.#raw.metadata(from, to), metadataTable(this.metadataCount));
    // Each kind of table is numbered from 0; positions are not.
    return table && { ...table, index: table.index.map((_, i) => from + i) };
  }

  /** A metadata entry with its full value; `undefined` if bytes are missing. */
  value(index: number): MetaValue | undefined {
    return unpack(this.#raw.value(index), metaValue);
  }

  /** An entry of a tensor's own metadata with its full value; `undefined` if bytes are missing. */
  attributeValue(tensor: number, index: number): MetaValue | undefined {
    // Reads the entry and its payload separately: they need not be in memory together.
    const last = this.#entry;
    const known = last?.tensor === tensor && last.index === index;
    const value = known ? last.value : unpack(this.#raw.attributeValue(tensor, index), metaValue);
    this.#entry = value && { tensor, index, value };
    if (value === undefined || value.text !== undefined || (value.values?.data.length ?? 0) > 0) {
      return value;
    }
    // Values other than plain numbers are in a payload.
    const packed = this.#raw.annotation === undefined ? 'none' : this.#raw.annotation(tensor, index);
    return this.#annotation(packed, (found, truncated) => ({
      ...value,
      values: found === undefined ? value.values : { ...found, dtype: value.dtype },
      truncated: truncated ?? value.truncated,
    }));
  }

  #annotation<T>(packed: Uint8Array | undefined | 'none', make: (found: Values | undefined, truncated?: boolean) => T): T | undefined {
    if (packed === 'none') {
      return make(undefined);
    }
    return unpack(packed, (fields) => {
      if (!fields.flag()) {
        return make(undefined);
      }
      const truncated = fields.flag();
      return make(cells('', fields), truncated);
    });
  }

  /** The texts for the keys 1, 2, … of a column, empty if it has none; `undefined` if bytes are missing. */
  keyValues(index: number): Texts | undefined {
    const packed = this.#raw.keyValues === undefined ? 'none' : this.#raw.keyValues(index);
    return this.#annotation(packed, (found) => {
      if (found === undefined) {
        return Texts.of([]);
      }
      return found.texts ?? Texts.of(Array.from<number | bigint, string>(found.data, String));
    });
  }

  /**
   * Elements (for columns, rows) `from..from + count` of a tensor in storage order, fewer at its
   * end; `undefined` if bytes are missing. For sparse tensors these are the stored entries.
   * Compressed data is decoded up to there and kept, up to 64 MiB.
   */
  values(index: number, from: bigint | number, count: number): Values | undefined {
    // The first module has no formats with rows or sparse layouts.
    const packed = this.#raw.cells === undefined ? new Uint8Array(0) : this.#raw.cells(index, BigInt(from), count);
    if (packed === undefined || packed.length > 0) {
      return unpack(packed, (fields) => cells(fields.text(), fields));
    }
    return this.grid(index, from, 1, 0n, count, 1n);
  }

  /**
   * A table of `rows` × `columns` elements, the first at `from`; the steps are distances in
   * elements. `undefined` if bytes are missing.
   */
  grid(
    index: number,
    from: bigint | number,
    rows: number,
    rowStep: bigint | number,
    columns: number,
    columnStep: bigint | number,
  ): Values | undefined {
    const steps = [BigInt(rowStep), columns, BigInt(columnStep)] as const;
    const packed = this.#raw.grid(index, BigInt(from), rows, ...steps);
    return unpack(packed, (fields) => {
      const dtype = fields.text();
      const kind = fields.u32();
      return kind === 2 ? textValues(dtype, fields.texts()) : kind === 1 ? this.#decoded(dtype, fields) : values(dtype, fields.numbers());
    });
  }

  /** Decodes elements in blocks; `undefined` before `compute` is loaded. */
  #decoded(dtype: string, fields: Unpack): Values | undefined {
    this.#blocks = true;
    const compute = lent();
    if (compute === undefined) {
      return undefined;
    }
    const big = fields.text() === 'big';
    const packed = compute.rawBlocks(dtype, big, fields.column(Uint8Array), fields.column(Uint32Array));
    if (packed === undefined) {
      throw failure('elements of this type or encoding cannot be shown');
    }
    return values(dtype, unpack(packed, (numbers) => numbers.numbers()));
  }

  /** Parts `from..to` of the file in file order, including the gaps. Requires the goal `structure`. */
  layout(from: number, to: number): Layout {
    return this.#coded(this.#raw.layout(from, to), layoutTable);
  }

  /** The part that contains the byte at `at`; -1 past the end. */
  locate(at: bigint | number): number {
    return this.#raw.locate(BigInt(at));
  }

  /**
   * Divides `len` bytes from `at` into `columns` equal columns, and returns the parts that each one
   * touches, as bits: 1 header, 2 table, 4 metadata, 8 payload, 16 quantization, 32 tail, 64 gap,
   * 128 overlap, 256 the first byte of a finding.
   */
  strip(at: bigint | number, len: bigint | number, columns: number): Uint16Array {
    return this.#raw.strip(BigInt(at), BigInt(len), columns);
  }

  /** A decoder for one chunk, which does not need the document afterwards. `undefined` if bytes are missing. */
  decoder(index: number, chunk: number): Decoder | undefined {
    const found = this.chunks(index, chunk, chunk + 1);
    if (found === undefined) {
      return undefined;
    }
    if (found.offset.length === 0) {
      throw failure('no such chunk');
    }
    const encoding = this.words()[found.encoding[0]!]!;
    const decoded = found.decoded[0] === MOST ? undefined : found.decoded[0];
    const about = { offset: found.offset[0]!, stored: found.stored[0]!, decoded, encoding };
    return new Decoder(about, () => this.#raw.decoder(index, chunk), this.#raw.hasher?.(index));
  }

  /**
   * Converts the elements of a tensor to a .npy file; throws if NumPy cannot represent them. In a
   * dense layout the decoded bytes are the elements; for a column (layout `blocks`) they are what
   * `values` returns, row after row. `undefined` if a module is missing.
   */
  npy(index: number): Npy | undefined {
    const tensor = this.tensor(index);
    if (tensor === undefined) {
      throw failure('call `tensor` first, and supply bytes until it returns one');
    }
    const [elements, , numeric] = this.#glue.rawUnit(tensor.dtype) as unknown as [number, number, number];
    if (numeric || elements < 2) {
      return npy(this.#glue, tensor);
    }
    this.#blocks = true;
    const compute = lent();
    return compute && npy(compute, tensor);
  }

  /** Names, types, shapes and sizes, for `compare`. */
  digest(): Uint8Array<ArrayBuffer> {
    return this.#raw.digest() as Uint8Array<ArrayBuffer>;
  }
}

// For `using`. Not a member of the class: older types have no such symbol.
Object.defineProperty(Document.prototype, Symbol.dispose ?? Symbol('dispose'), {
  value(this: Document) {
    this.free();
  },
});
