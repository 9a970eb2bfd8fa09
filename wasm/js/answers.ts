// Unpacks the module's answers: tables, values, metadata.

import type { Metadata, MetaValue, Numbers, Quantization, Tensor, Values } from './entry.js';
import { KINDS } from './kinds.js';
import type { Groups, Layout, Rows, Verdict } from './tables.js';
import { ruleOf, Texts, type Unpack } from './unpack.js';

/** The shortest decimal that parses to the same 32-bit float. */
function short(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) {
      return shorter;
    }
  }
  return value;
}

/** A one-line preview of numbers. */
function preview(numbers: Numbers): string {
  const first: Iterable<number | bigint> = numbers.subarray(0, 64);
  const values = Array.from(first, (value) => (numbers instanceof Float32Array ? short(Number(value)) : value));
  const line = values.join(', ');
  return numbers.length > values.length || line.length > 256 ? `${line.slice(0, 256)}…` : line;
}

/** Elements of a tensor or of a metadata array. */
export function values(dtype: string, data: Numbers): Values {
  return {
    dtype,
    data,
    width: 1,
    missing: new Uint32Array(0),
    texts: undefined,
    ends: undefined,
    indices: undefined,
    lengths: undefined,
    coordinates: undefined,
  };
}

/** Elements that are no numbers, as texts. */
export function textValues(dtype: string, texts: Texts): Values {
  return { ...values(dtype, new Uint8Array(0)), texts };
}

/** Rows of a column, an annotation's value, or entries of a sparse tensor. */
export function cells(dtype: string, fields: Unpack): Values {
  const given = <T>(there: boolean, value: T) => (there ? value : undefined);
  const data = fields.numbers();
  const textual = fields.flag();
  const texts = given(textual, fields.texts());
  const width = fields.u32();
  const missing = fields.column(Uint32Array);
  const vectors = fields.flag();
  const ends = given(vectors, fields.column(Uint32Array));
  const indices = given(vectors, fields.column(Uint32Array));
  const lengths = given(vectors, fields.column(Uint32Array));
  const sparse = fields.flag();
  const coordinates = given(sparse, fields.column(BigUint64Array));
  return { dtype, data, width, missing, texts, ends, indices, lengths, coordinates };
}

/** A metadata table, with previews made from texts and numbers. */
export function metadataTable(total?: number) {
  return (fields: Unpack): Metadata => {
    const count = fields.u32();
    const keys = fields.texts();
    const types = [...fields.texts()];
    const previews = [...fields.texts()];
    const index = fields.column(Uint32Array);
    const at = fields.column(BigUint64Array);
    const len = fields.column(BigUint64Array);
    for (let i = 0; i < count; i++) {
      const dtype = fields.text();
      const numbers = fields.optionalNumbers();
      const shaped = fields.flag();
      const shape = fields.column(BigUint64Array);
      if (numbers !== undefined) {
        previews[i] = preview(numbers);
      }
      if (shaped) {
        types[i] += ` ${dtype} [${Array.from(shape).join(', ')}]`;
      }
    }
    return { total: total ?? count, index, keys, types: Texts.of(types), previews: Texts.of(previews), at, len };
  };
}

/** Rows of the tensor table. */
export function rowTable(fields: Unpack): Rows {
  return {
    total: fields.u32(),
    index: fields.column(Uint32Array),
    names: fields.texts(),
    dtype: fields.column(Uint16Array),
    status: fields.column(Uint16Array),
    layout: fields.column(Uint16Array),
    encoding: fields.column(Uint16Array),
    elements: fields.column(BigUint64Array),
    stored: fields.column(BigUint64Array),
    offset: fields.column(BigUint64Array),
    dims: fields.column(BigUint64Array),
    dimEnds: fields.column(Uint32Array),
    chunks: fields.column(BigUint64Array),
    findings: fields.column(Uint32Array),
    big: fields.column(Uint8Array),
  };
}

/** A metadata entry with its value. */
export function metaValue(fields: Unpack): MetaValue {
  const key = fields.text();
  const keyHex = fields.optionalText();
  const type = fields.text();
  const dtype = fields.text();
  const isText = fields.flag();
  const text = fields.text();
  const textHex = fields.optionalText();
  const json = fields.optionalText();
  const numbers = fields.optionalNumbers();
  const shaped = fields.flag();
  const shape = fields.column(BigUint64Array);
  return {
    key,
    keyHex,
    type,
    dtype,
    text: isText ? text : json,
    textHex,
    values: numbers && values(dtype, numbers),
    shape: shaped ? shape : undefined,
    truncated: fields.flag(),
  };
}

/** A verdict, with a diagnosis if the file is not what it should be. */
export function validity(fields: Unpack): Pick<Verdict, 'verdict' | 'valid' | 'diagnosis' | 'diagnosisKind' | 'missing' | 'leftOut'> {
  const accepted = fields.flag();
  const unsupported = fields.flag();
  const { diagnosis, diagnosisKind, missing } = described(fields);
  const leftOut = fields.optionalText();
  return {
    verdict: unsupported ? 'unsupported' : accepted ? 'valid' : 'invalid',
    valid: accepted && !unsupported,
    diagnosis,
    diagnosisKind,
    missing,
    leftOut,
  };
}

/** The diagnosis, and the bytes missing at the end if there is only one file. */
function described(fields: Unpack): Pick<Verdict, 'diagnosis' | 'diagnosisKind' | 'missing'> {
  const name = fields.optionalText();
  const missing = fields.optional();
  const tensors = fields.u64();
  const sentence = fields.optionalText();
  const code = fields.u32();
  const diagnosisKind = KINDS[fields.u32() - 1];
  const text = missing !== undefined ? cutOff(missing, tensors) : code !== 0 ? ruleOf(code).message : sentence;
  return name === undefined ? { diagnosis: text, diagnosisKind, missing } : { diagnosis: `${name}: ${text}`, diagnosisKind, missing: undefined };
}

/** Worded as in the command-line tool. */
function cutOff(missing: bigint, tensors: bigint): string {
  const count = (n: bigint, thing: string) => `${n.toLocaleString('en')} ${thing}${n === 1n ? '' : 's'}`;
  const reach = tensors === 1n ? 'reaches' : 'reach';
  const past = tensors === 0n ? '' : `; ${count(tensors, 'tensor')} ${reach} past the end`;
  return `${count(missing, 'byte')} short${past}: download it again`;
}

/** Numbers of findings per rule that are counted but not listed. */
export function notListed(rules: Uint16Array, counts: BigUint64Array): Pick<Verdict, 'notListed'> {
  const one = (code: number, i: number) => ({ rule: ruleOf(code).id, count: Number(counts[i]) });
  return { notListed: Array.from(rules, one) };
}

/** All about the tensor at `index`. */
export function tensorDetails(index: number) {
  return (fields: Unpack): Tensor => {
    const name = fields.text();
    const nameHex = fields.optionalText();
    const label = fields.text();
    const dtype = fields.text();
    const status = fields.text() as Tensor['status'];
    const layout = fields.text();
    const encoding = fields.text();
    const endianness = fields.text() as Tensor['endianness'];
    const shape = fields.column(BigUint64Array);
    const elements = fields.u64();
    const stored = fields.u64();
    const chunks = fields.u64();
    const at = fields.u64();
    const bytes = fields.optional();
    const offset = fields.optional();
    const id = fields.optional();
    const shapeTableIndex = fields.optional();
    const code = fields.optional();
    const spelling = fields.optionalText();
    const dtypeRaw = code === undefined ? spelling : String(code);
    const codec = fields.optionalText();
    const checksum = fields.optionalText();
    const descr = fields.optionalText();
    const names = [...fields.texts()];
    const shown = fields.flag();
    const kind = fields.optionalText();
    let quantization: Quantization | undefined;
    if (kind !== undefined) {
      const axis = fields.optional();
      const scales = values('f32', fields.column(Float32Array));
      const zeroPoints = values('i32', fields.column(Int32Array));
      const parameters: Quantization['parameters'] = [];
      if (axis !== undefined) {
        parameters.push({ name: 'axis', value: axis });
      }
      parameters.push({ name: 'scales', value: scales });
      if (zeroPoints.data.length > 0) {
        parameters.push({ name: 'zero points', value: zeroPoints });
      }
      quantization = { kind, parameters };
    }
    return {
      index,
      name,
      label,
      nameHex,
      id,
      dtype,
      dtypeRaw,
      status,
      layout,
      encoding,
      endianness,
      shape,
      shapeTableIndex,
      elements,
      bytes,
      stored,
      offset,
      chunks,
      at,
      codec,
      checksum,
      descr,
      fields: names,
      hasItems: shown,
      quantization,
    };
  };
}

/** What is known of a file. */
export interface Facts {
  format: string | undefined;
  title: string | undefined;
  version: string | undefined;
  refused: boolean;
  unknown: boolean;
  cut: boolean;
  needsFull: boolean;
  tensors: number;
  metadata: number;
  findings: number;
}

export function factsOf(fields: Unpack): Facts {
  return {
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
  };
}

/** A level of the tree. */
export function groupTable(fields: Unpack): Groups {
  return {
    names: fields.texts(),
    keys: fields.texts(),
    count: fields.column(Uint32Array),
    stored: fields.column(BigUint64Array),
    index: fields.column(Uint32Array),
    findings: fields.column(Uint32Array),
    elements: fields.column(BigUint64Array),
    dtype: fields.column(Uint16Array),
    first: fields.column(Uint32Array),
    inKey: fields.column(Uint8Array),
  };
}

/** Parts of the file. */
export function layoutTable(fields: Unpack): Layout {
  return {
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
  };
}
