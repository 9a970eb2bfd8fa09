// The class Document, a wrapper that hides the WebAssembly's own.

import { cells, metadataTable, metaValue, notListed, rowTable, tensorDetails, validity, values } from './answers.js';
import { lent } from './blocks.js';
import { decoders } from './decoder.js';
import { npy } from './npy.js';
import { failure, number, ruleOf, sentence, Texts, unpack } from './unpack.js';

const GOALS = ['index', 'structure', 'payloads'];
const SORTS = ['index', 'name', 'dtype', 'elements', 'stored', 'offset', 'rank', 'findings', 'given'];
const KINDS = { tensor: 1, attribute: 1, metadata: 2, sizevar: 3 };
const MOST = 0xffff_ffff_ffff_ffffn;

function sortCode(sort = 'index') {
  const descending = sort.startsWith('-');
  const code = SORTS.indexOf(descending ? sort.slice(1) : sort);
  if (code < 0) {
    throw failure(`unknown column ${sort}`);
  }
  return code | (descending ? 16 : 0);
}

/** The class for one WebAssembly module. */
export function documents(glue) {
  const decoder = decoders(glue);
  return class Document {
    #raw;
    #facts;
    #words = [];
    #only;
    #entry;
    #blocks = false;
    #seed = crypto.getRandomValues(new BigUint64Array(1))[0];

    constructor(length, { format = '', name = '', budget = 16 << 20, granule = 64 << 10 } = {}) {
      if (format !== '' && !glue.formats().some(({ name }) => name === format)) {
        throw failure(`unknown format ${format}`);
      }
      this.length = BigInt(length);
      this.#raw = new glue.RawDocument(this.length, format, name, this.#seed, budget, granule);
    }

    free() {
      this.#raw.free();
    }

    [Symbol.dispose ?? Symbol('dispose')]() {
      this.free();
    }

    advance(goal) {
      const code = GOALS.indexOf(goal);
      if (code < 0) {
        throw failure(`unknown goal ${goal}`);
      }
      this.#facts = undefined;
      return this.#raw.advance(code);
    }

    need() {
      return this.#raw.need();
    }

    get requires() {
      // Missing bytes are those of a later call.
      const waits = this.#blocks && lent() === undefined && this.need().length === 0;
      return waits ? 'compute' : undefined;
    }

    supply(at, bytes) {
      this.#raw.supply(BigInt(at), bytes);
    }

    progress() {
      return unpack(this.#raw.progress(), (fields) => ({
        stage: fields.text(),
        entries: fields.u32(),
        supplied: fields.u64(),
      }));
    }

    #known() {
      return (this.#facts ??= unpack(this.#raw.facts(), (fields) => ({
        format: fields.optionalText(),
        title: fields.optionalText(),
        version: fields.optionalText(),
        refused: fields.flag(),
        unknown: fields.flag(),
        cut: fields.flag(),
        needsFull: fields.flag(),
        tensors: fields.u32(),
        metadata: fields.u32(),
        findings: fields.u32(),
      })));
    }

    get format() {
      return this.#known().format;
    }

    get title() {
      return this.#known().title;
    }

    get version() {
      return this.#known().version;
    }

    get refused() {
      return this.#known().refused;
    }

    get unknown() {
      return this.#known().unknown;
    }

    get cut() {
      return this.#known().cut;
    }

    get needsFull() {
      return this.#known().needsFull;
    }

    get tensorCount() {
      return this.#known().tensors;
    }

    get metadataCount() {
      return this.#known().metadata;
    }

    get findingCount() {
      return this.#known().findings;
    }

    words() {
      this.#words.push(...unpack(this.#raw.words(this.#words.length), (fields) => fields.texts()));
      return this.#words;
    }

    /** Unpacks a table with codes, after updating `words` so that it covers them. */
    #coded(packed, read) {
      this.words();
      return unpack(packed, read);
    }

    verdict(profile = 'strict') {
      if (profile !== 'strict' && profile !== 'lenient') {
        throw failure(`unknown profile ${profile}`);
      }
      return unpack(this.#raw.verdict(profile === 'lenient'), (fields) => ({
        ...validity(fields),
        worst: fields.optionalText(),
        fatal: fields.f64(),
        violation: fields.f64(),
        lint: fields.f64(),
        unchecked: fields.f64(),
        dropped: fields.f64(),
        checked: [...fields.texts()],
        ...notListed(fields.column(Uint16Array), fields.column(BigUint64Array)),
        checkable: fields.flag(),
      }));
    }

    findings(from, to) {
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
        const numbers = Array.from(rule, (code, i) => {
          const { message } = ruleOf(code);
          return { expected: number(message, 'expected', expected[i]), found: number(message, 'found', found[i]) };
        });
        const messages = Texts.of(
          Array.from(rule, (code, i) => sentence(code, expected[i], found[i], part[i])),
        );
        return { total, rule, severity, kind, entry, part, at, len, expected, found, numbers, messages, names };
      });
    }

    rule(code) {
      return ruleOf(code);
    }

    /** Selects rows and their order; returns their number. */
    #select(sort, { text = '', prefix = '', dtypes, least = 0n, most = MOST, faulty = false, only } = {}) {
      if (only !== this.#only) {
        this.#raw.allow(only);
        this.#only = only;
      }
      const codes = Uint16Array.from(dtypes ?? [], (name) => this.#raw.code(name));
      const flags = (dtypes === undefined ? 1 : 0) | (faulty ? 2 : 0);
      const sizes = [BigInt(least), BigInt(most)];
      return this.#raw.select(sortCode(sort), text, prefix, codes, ...sizes, flags);
    }

    rows(from, to, sort = 'index', filter = {}) {
      if (sort === 'index' && Object.keys(filter).length === 0) {
        // Rows of the file's own order, without losing the cached order.
        return this.#coded(this.#raw.plainRows(from, to), rowTable);
      }
      this.#select(sort, filter);
      return this.#coded(this.#raw.rows(from, to), rowTable);
    }

    give(numbers) {
      this.#raw.give(numbers);
    }

    rankOf(tensor, sort, filter) {
      this.#select(sort, filter);
      return this.#raw.rank(tensor);
    }

    groups(prefix, filter = {}) {
      const narrower = prefix.startsWith(filter.prefix ?? '') ? prefix : filter.prefix;
      this.#select('index', { ...filter, prefix: narrower });
      const skip = new TextEncoder().encode(prefix).length;
      return this.#coded(this.#raw.groups(skip), (fields) => ({
        names: fields.texts(),
        keys: fields.texts(),
        count: fields.column(Uint32Array),
        stored: fields.column(BigUint64Array),
        index: fields.column(Uint32Array),
        findings: fields.column(Uint32Array),
        elements: fields.column(BigUint64Array),
        dtype: fields.column(Uint16Array),
      }));
    }

    totals(filter) {
      this.#select('index', filter);
      return this.#coded(this.#raw.totals(), (fields) => ({
        dtype: fields.column(Uint16Array),
        count: fields.column(Uint32Array),
        elements: fields.column(BigUint64Array),
        stored: fields.column(BigUint64Array),
      }));
    }

    find(name) {
      return this.#raw.find(name);
    }

    entryName(kind, entry) {
      const code = KINDS[kind];
      return code === undefined ? '' : unpack(this.#raw.entryName(code, entry), (f) => f.text());
    }

    positionOf(kind, entry) {
      const code = KINDS[kind];
      return code === undefined ? -1 : this.#raw.positionOf(code, entry);
    }

    tensor(index) {
      return unpack(this.#raw.tensor(index), tensorDetails(index));
    }

    chunks(index, from, to) {
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

    attributes(index) {
      return unpack(this.#raw.attributes(index), metadataTable());
    }

    metadata(from, to) {
      const table = unpack(this.#raw.metadata(from, to), metadataTable(this.metadataCount));
      // Each kind of table is numbered from 0; positions are not.
      return table && { ...table, index: table.index.map((_, i) => from + i) };
    }

    value(index) {
      return unpack(this.#raw.value(index), metaValue);
    }

    attributeValue(tensor, index) {
      // Reads the entry and its payload separately: they need not be in memory together.
      const known = this.#entry?.tensor === tensor && this.#entry.index === index;
      const value = known
        ? this.#entry.value
        : unpack(this.#raw.attributeValue(tensor, index), metaValue);
      this.#entry = { tensor, index, value };
      if (value === undefined) {
        this.#entry = undefined;
      }
      if (value === undefined || value.text !== undefined || value.values?.data.length > 0) {
        return value;
      }
      // Values other than plain numbers are in a payload.
      return this.#annotation('annotation', [tensor, index], (found, truncated) => ({
        ...value,
        values: found === undefined ? value.values : { ...found, dtype: value.dtype },
        truncated: truncated ?? value.truncated,
      }));
    }

    #annotation(method, args, make) {
      if (this.#raw[method] === undefined) {
        return make(undefined);
      }
      return unpack(this.#raw[method](...args), (fields) => {
        if (!fields.flag()) {
          return make(undefined);
        }
        const truncated = fields.flag();
        return make(cells('', fields), truncated);
      });
    }

    keyValues(index) {
      return this.#annotation('keyValues', [index], (found) => {
        if (found === undefined) {
          return Texts.of([]);
        }
        return found.texts ?? Texts.of(Array.from(found.data, String));
      });
    }

    values(index, from, count) {
      // The first module has no formats with rows or sparse layouts.
      const packed = this.#raw.cells === undefined ? [] : this.#raw.cells(index, BigInt(from), count);
      if (packed === undefined || packed.length > 0) {
        return unpack(packed, (fields) => cells(fields.text(), fields));
      }
      return this.grid(index, from, 1, 0n, count, 1n);
    }

    grid(index, from, rows, rowStep, columns, columnStep) {
      const steps = [BigInt(rowStep), columns, BigInt(columnStep)];
      const packed = this.#raw.grid(index, BigInt(from), rows, ...steps);
      return unpack(packed, (fields) => {
        const dtype = fields.text();
        return fields.flag() ? this.#decoded(dtype, fields) : values(dtype, fields.numbers());
      });
    }

    /** Decodes elements in blocks; `undefined` before `compute` is loaded. */
    #decoded(dtype, fields) {
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

    layout(from, to) {
      return this.#coded(this.#raw.layout(from, to), (fields) => ({
        total: fields.u32(),
        part: fields.column(Uint16Array),
        at: fields.column(BigUint64Array),
        len: fields.column(BigUint64Array),
        kind: fields.column(Uint16Array),
        entry: fields.column(Uint32Array),
        overlap: fields.column(BigUint64Array),
        partnerPart: fields.column(Uint16Array),
        partnerKind: fields.column(Uint16Array),
        partner: fields.column(Uint32Array),
      }));
    }

    locate(at) {
      return this.#raw.locate(BigInt(at));
    }

    strip(at, len, columns) {
      return this.#raw.strip(BigInt(at), BigInt(len), columns);
    }

    decoder(index, chunk) {
      const found = this.chunks(index, chunk, chunk + 1);
      if (found === undefined) {
        return undefined;
      }
      if (found.offset.length === 0) {
        throw failure('no such chunk');
      }
      const encoding = this.words()[found.encoding[0]];
      const [offset] = found.offset;
      const [stored] = found.stored;
      const decoded = found.decoded[0] === MOST ? undefined : found.decoded[0];
      const about = { offset, stored, decoded, encoding };
      return decoder(about, () => this.#raw.decoder(index, chunk), this.#raw.hasher?.(index));
    }

    npy(index) {
      const tensor = this.tensor(index);
      if (tensor === undefined) {
        throw failure('call `tensor` first, and supply bytes until it returns one');
      }
      const [elements, , numeric] = glue.rawUnit(tensor.dtype);
      if (numeric || elements < 2) {
        return npy(glue, tensor);
      }
      this.#blocks = true;
      const compute = lent();
      return compute && npy(compute, tensor);
    }

    digest() {
      return this.#raw.digest();
    }

    code(word) {
      return this.#raw.code(word);
    }

    join(part, base) {
      this.#facts = undefined;
      this.#raw.join(part.#raw, base);
    }

    listed() {
      return unpack(this.#raw.listed(this.#seed), (fields) => ({
        names: [...fields.texts()],
        listed: fields.column(Uint32Array),
        found: fields.column(Uint32Array),
      }));
    }

    begin(profile) {
      return this.#raw.begin(profile === 'lenient', this.#seed);
    }

    addPart(part, ...place) {
      this.#raw.addPart(part.#raw, ...place);
    }

    addAbsent(number, missing) {
      this.#raw.addAbsent(number, missing);
    }

    end() {
      this.#facts = undefined;
      return this.#raw.end();
    }
  };
}
