// A document in the form that the command line writes.

import { marked, unmark } from './host.mjs';

const MOST = 0xffff_ffff_ffff_ffffn;

/** A number in its JSON form. */
function number(value) {
  if (typeof value === 'bigint') {
    return value;
  }
  if (Number.isNaN(value)) {
    return 'NaN';
  }
  return Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity';
}

const INTEGER = /^(?:[iu]\d+|t[12]|timespan|datetime|key)/;

/** Elements in the form that the command line writes: integers as integers, Booleans as Booleans. */
export function elements(dtype, data) {
  if (dtype === 'bool' || dtype === 'bitset') {
    // A byte that is neither 0 nor 1 is shown as its value.
    return Array.from(data, (value) => (value > 1 ? BigInt(value) : value === 1));
  }
  const whole = INTEGER.test(dtype) || typeof data[0] === 'bigint' || data instanceof Uint32Array || data instanceof Int32Array;
  return Array.from(data, (value) => (whole ? BigInt(value) : number(value)));
}

/** Rows of a column, an annotation's value, or entries of a sparse tensor. */
export function rows(values, shape = []) {
  const { dtype, data, width, missing, texts, ends, indices, lengths, coordinates } = values;
  const flat = elements(data instanceof Uint8Array ? 'bool' : dtype, data);
  const words = texts && [...texts];
  const absent = new Set(missing);
  const element = (i) => {
    if (absent.has(i)) {
      return null;
    }
    return words?.[i] ?? (width === 1 ? flat[i] : flat.slice(i * width, (i + 1) * width));
  };
  const count = words?.length ?? flat.length / width;
  const all = Array.from({ length: count }, (_, i) => element(i));
  if (coordinates !== undefined) {
    const rank = shape.length;
    return all.map((value, i) => ({ index: Array.from(coordinates.subarray(i * rank, (i + 1) * rank)), value }));
  }
  if (ends === undefined) {
    return all;
  }
  return Array.from(ends, (end, row) => {
    const start = row === 0 ? 0 : ends[row - 1];
    const stored = all.slice(start, end);
    return stored.length === lengths[row]
      ? stored
      : { length: BigInt(lengths[row]), indices: Array.from(indices.subarray(start, end), BigInt), values: stored };
  });
}

/** The output of `check --json` for a document that reached the goal `payloads`. */
export async function judge(document, ask) {
  const words = document.words();
  const findings = [];
  const unchecked = [];
  const all = document.findings(0, document.findingCount);
  const messages = [...all.messages];
  for (let i = 0; i < all.total; i++) {
    const rule = document.rule(all.rule[i]);
    const entry = await entryName(document, ask, words[all.kind[i]], all.entry[i]);
    const hex = entry?.hex === undefined ? {} : { entry_hex: entry.hex };
    if (rule.severity === 'unchecked') {
      unchecked.push({ entry: entry?.name ?? null, ...hex, why: messages[i] });
      continue;
    }
    findings.push({
      rule: rule.id,
      severity: rule.severity,
      offset: all.at[i],
      len: BigInt(all.len[i]),
      entry: entry?.name ?? null,
      ...hex,
      expected: all.numbers[i].expected ?? null,
      found: all.numbers[i].found ?? null,
      message: messages[i],
      spec: rule.spec,
    });
  }
  const { verdict, diagnosis, leftOut, checked } = document.verdict();
  if (document.refused) {
    unchecked.unshift({ entry: null, why: 'the file could not be opened' });
  }
  if (leftOut !== undefined) {
    unchecked.push({ entry: null, why: leftOut });
  }
  return {
    format: document.format ?? null,
    version: document.version ?? null,
    size: document.length,
    verdict,
    // The command's report names other kinds of files.
    diagnosis: /short|^an empty file|^zeros/.test(diagnosis) ? undefined : diagnosis,
    checked,
    unchecked,
    findings,
  };
}

/** The unescaped name of the entry that a finding is about. */
async function entryName(document, ask, kind, entry) {
  if (kind === 'file') {
    return undefined;
  }
  const index = document.positionOf(kind, entry);
  if (index < 0) {
    return undefined;
  }
  if (kind === 'tensor' || kind === 'attribute') {
    const { name, nameHex } = await ask(() => document.tensor(index));
    return { name, hex: nameHex };
  }
  const { key, keyHex } = await ask(() => document.value(index));
  return { name: key, hex: keyHex };
}

/** A metadata entry. */
function meta({ key, keyHex, type, dtype, text, textHex, values, shape, truncated }) {
  if (type === 'cbor') {
    return present({ key, key_hex: keyHex, type, value: JSON.parse(marked(text), unmark), value_hex: textHex, truncated: truncated || undefined });
  }
  // A list of texts, or of lists, is given as JSON.
  if (type === 'ndarray' && text !== undefined) {
    return present({ key, key_hex: keyHex, type, dtype, shape: Array.from(shape), value: JSON.parse(marked(text), unmark), truncated: truncated || undefined });
  }
  const found = values === undefined ? undefined : rows(values);
  // An annotation is a column of one row.
  const data = values?.ends === undefined ? found : found[0];
  const single = type !== 'bitset' && (type !== 'ndarray' || values?.texts !== undefined) && values?.ends === undefined && shape === undefined;
  return present({
    key,
    key_hex: keyHex,
    type,
    dtype: shape === undefined ? undefined : dtype,
    shape: shape === undefined ? undefined : Array.from(shape),
    value: text ?? (single ? data?.[0] : data) ?? null,
    value_hex: textHex,
    truncated: truncated || undefined,
  });
}

/** Removes absent fields. */
function present(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The type of an unknown dtype: a number if the format uses numbers. */
function raw(text) {
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : text;
}

function quantization(it) {
  if (it === undefined) {
    return null;
  }
  const of = (wanted) => it.parameters.find(({ name }) => name === wanted)?.value;
  const data = (values) => (values === undefined ? null : elements(values.dtype, values.data));
  return {
    scheme: it.kind,
    axis: of('axis') ?? null,
    scales: data(of('scales')),
    zero_points: data(of('zero points')),
  };
}

/** Metadata and tensors in the form that `inspect --json --values` writes. */
export async function describe(document, ask, most) {
  const metadata = [];
  for (let i = 0; i < document.metadataCount; i++) {
    metadata.push(meta(await ask(() => document.value(i))));
  }
  const tensors = [];
  for (let i = 0; i < document.tensorCount; i++) {
    const it = await ask(() => document.tensor(i));
    const { total, offset, stored, decoded } = await ask(() => document.chunks(i, 0, 1 << 20));
    const attributes = await ask(() => document.attributes(i));
    const own = [];
    for (const index of attributes.index) {
      own.push(meta(await ask(() => document.attributeValue(i, index))));
    }
    let values;
    try {
      const found = await ask(() => document.values(i, 0n, most));
      const shown = it.status === 'sound' ? rows(found, it.shape) : undefined;
      // The document shows the value of a Boolean byte; zTensor readers take all but 0 for true.
      const truth = it.dtype === 'bool' && document.format === 'ztensor';
      values = truth ? shown?.map((value) => typeof value === 'bigint' || value) : shown;
    } catch (error) {
      if (error.name !== 'WeighbridgeError') {
        throw error;
      }
    }
    tensors.push(
      present({
        name: it.name,
        name_hex: it.nameHex,
        id: it.id,
        dtype: it.dtype,
        dtype_raw: raw(it.dtypeRaw),
        shape: Array.from(it.shape, (extent) => (extent === MOST ? null : extent)),
        shape_table_index: it.shapeTableIndex,
        layout: it.layout,
        encoding: it.encoding,
        endianness: it.endianness,
        codec: it.codec,
        chunks: Array.from(offset.subarray(0, Number(total)), (at, k) => ({
          offset: at,
          stored: stored[k],
          decoded: decoded[k] === MOST ? null : decoded[k],
        })),
        checksum: it.checksum ?? null,
        quantization: quantization(it.quantization),
        metadata: own,
        values,
        status: it.status === 'sound' ? undefined : it.status,
      }),
    );
  }
  return { metadata, tensors };
}
