/** The weights behind quantised layouts of several tensors, decoded with their scales row by row. */

import type { Context } from './rpc.ts';
import { FP4, nibble, nf4, parametersOf, type Reader } from './nibbles.ts';
import { session, type Session } from './session.ts';
import { listTensors, type Tensors } from './tensors.ts';
import { valueList } from './text.ts';

/** Maximum number of columns: a row is decoded in one piece. */
const MOST_COLUMNS = 1 << 20;
/** Reads kept of the tensors in a group. */
const KEPT = 64;

/** A packed tensor as the matrix that it stands for. */
export interface Unpacked {
  layout: string;
  rows: number;
  columns: number;
  /** What rows and columns are. */
  order: string;
}

interface Layout extends Unpacked {
  row(at: number): Promise<Float32Array>;
}

/** The settings that tell what shapes do not; of a `config.json`. */
interface Settings {
  bits?: number;
  groupSize?: number;
  /** Whether GPTQ stores zero points as they are, not reduced by 1. */
  plainZeros: boolean;
}

const OUTPUTS_FIRST = 'rows are outputs, columns inputs';
const INPUTS_FIRST = 'rows are inputs, columns outputs';
/** Where AWQ keeps the eight columns of a word, in units of 4 bits. */
const AWQ = [0, 4, 1, 5, 2, 6, 3, 7];

/** The bits of packed numbers that end at word boundaries; `undefined` for other widths. */
const whole = (bits: number | undefined) => (bits !== undefined && [2, 4, 8].includes(bits) ? bits : undefined);
const field = (word: number, at: number, bits: number) => (word >>> (at * bits)) & ((1 << bits) - 1);

function settingsOf(config: string | undefined): Settings {
  const parsed = config === undefined ? undefined : (JSON.parse(config) as Record<string, unknown> | null);
  const own = ((parsed?.quantization_config ?? parsed?.quantization) as Record<string, unknown> | undefined) ?? {};
  const number = (key: string) => (typeof own[key] === 'number' ? own[key] : undefined);
  return { bits: number('bits'), groupSize: number('group_size'), plainZeros: own.checkpoint_format === 'gptq_v2' };
}

/** Finds the tensors beside a packed one, and reads them. */
class Group implements Reader {
  readonly #file: Session;
  readonly #context: Context;
  readonly #tensors: Tensors;
  readonly #index: Map<string, number>;
  readonly #kept = new Map<string, Promise<ArrayLike<number>>>();
  readonly base: string;
  readonly main: string;

  constructor(file: Session, context: Context, tensors: Tensors, tensor: number) {
    this.#file = file;
    this.#context = context;
    this.#tensors = tensors;
    this.#index = new Map(tensors.names.map((name, i) => [name, i]));
    this.main = tensors.names[tensor];
    this.base = this.main.replace(/\.(?:qweight|weight_packed|weight)$|_blocks$/, '');
  }

  has(name: string): boolean {
    return this.#index.has(name);
  }

  dtype(name: string): string {
    return this.#tensors.dtypes[this.#index.get(name) ?? -1] ?? '';
  }

  shape(name: string): number[] {
    return (this.#tensors.shapes[this.#index.get(name) ?? -1] ?? []).map(Number);
  }

  /** Elements of a tensor; those read last are kept. */
  async read(name: string, from: number, count: number): Promise<ArrayLike<number>> {
    const key = `${name} ${from} ${count}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      return await known;
    }
    const tensor = this.#index.get(name);
    if (tensor === undefined) {
      throw new Error(`${name} is not in the file`);
    }
    const reading = this.#file.settle(() => this.#file.document.values(tensor, BigInt(from), count), this.#context).then(({ data }) => {
      if (data.length !== count) {
        throw new Error(`${name} has no elements ${from} to ${from + count - 1}`);
      }
      return typeof data[0] === 'bigint' ? Array.from(data, Number) : (data as ArrayLike<number>);
    });
    this.#kept.set(key, reading);
    if (this.#kept.size > KEPT) {
      this.#kept.delete(this.#kept.keys().next().value!);
    }
    return await reading;
  }

  async all(name: string): Promise<ArrayLike<number>> {
    const count = this.shape(name).reduce((a, b) => a * b, 1);
    if (count > MOST_COLUMNS) {
      throw new Error(`${name} has ${count} elements, more than are read at once`);
    }
    return await this.read(name, 0, count);
  }
}

/** GPTQ: numbers packed along the inputs, zero points along the outputs. */
function gptq(group: Group, settings: Settings): Layout | string {
  const { base, main } = group;
  const [words, columns] = group.shape(main);
  const [groups = 0] = group.shape(`${base}.scales`);
  const given = group.shape(`${base}.g_idx`)[0];
  const zeros = group.shape(`${base}.qzeros`)[1];
  // As many zero points fit into a word as weights.
  const bits = whole(settings.bits ?? (32 * zeros) / columns);
  if (bits === undefined || zeros !== Math.ceil((columns * bits) / 32)) {
    return 'Only GPTQ with 2, 4 or 8 bits is decoded.';
  }
  const rows = given ?? (words * 32) / bits;
  const row = async (at: number) => {
    const of = given === undefined ? Math.floor(at / (rows / groups)) : (await group.all(`${base}.g_idx`))[at];
    if (!(of >= 0 && of < groups)) {
      throw new Error(`${base}.g_idx names group ${of} of ${groups}`);
    }
    const per = 32 / bits;
    const packed = await group.read(main, Math.floor(at / per) * columns, columns);
    const zero = await group.read(`${base}.qzeros`, of * zeros, zeros);
    const scales = await group.read(`${base}.scales`, of * columns, columns);
    const less = settings.plainZeros ? 0 : 1;
    return Float32Array.from({ length: columns }, (_, i) => scales[i] * (field(packed[i], at % per, bits) - field(zero[Math.floor(i / per)], i % per, bits) - less));
  };
  return { layout: `GPTQ, ${bits} bits`, rows, columns, order: INPUTS_FIRST, row };
}

/** AWQ: eight outputs in a word, in an order of its own. */
function awq(group: Group): Layout | string {
  const { base, main } = group;
  const [rows, words] = group.shape(main);
  const [groups = 0, columns = 0] = group.shape(`${base}.scales`);
  if (columns !== 8 * words || groups === 0 || group.shape(`${base}.qzeros`)[1] !== words) {
    return 'Only AWQ with 4 bits is decoded.';
  }
  const row = async (at: number) => {
    const of = Math.floor(at / (rows / groups));
    const packed = await group.read(main, at * words, words);
    const zero = await group.read(`${base}.qzeros`, of * words, words);
    const scales = await group.read(`${base}.scales`, of * columns, columns);
    return Float32Array.from({ length: columns }, (_, i) => scales[i] * (field(packed[i >> 3], AWQ[i & 7], 4) - field(zero[i >> 3], AWQ[i & 7], 4)));
  };
  return { layout: 'AWQ, 4 bits', rows, columns, order: INPUTS_FIRST, row };
}

/** compressed-tensors: numbers plus half their range, packed along the inputs. */
async function compressed(group: Group): Promise<Layout | string> {
  const { base, main } = group;
  const [rows, words] = group.shape(main);
  const columns = Number((await group.all(`${base}.weight_shape`))[1]);
  const [, groups = 1] = group.shape(`${base}.weight_scale`);
  const bits = [4, 8, 2].find((one) => Math.ceil((columns * one) / 32) === words);
  if (bits === undefined) {
    return 'Only compressed-tensors with 2, 4 or 8 bits are decoded.';
  }
  const per = 32 / bits;
  const points = `${base}.weight_zero_point`;
  const indices = `${base}.weight_g_idx`;
  const row = async (at: number) => {
    const packed = await group.read(main, at * words, words);
    const scales = await group.read(`${base}.weight_scale`, at * groups, groups);
    const isPacked = group.dtype(points) === 'i32';
    const zero = group.has(points) ? await group.read(points, (isPacked ? Math.floor(at / per) : at) * groups, groups) : undefined;
    const of = group.has(indices) ? await group.all(indices) : undefined;
    return Float32Array.from({ length: columns }, (_, i) => {
      const g = of !== undefined && of[i] >= 0 ? of[i] : Math.floor(i / Math.ceil(columns / groups));
      const half = 1 << (bits - 1);
      const point = zero === undefined ? half : isPacked ? field(zero[g], at % per, bits) : zero[g] + half;
      return scales[g] * (field(packed[Math.floor(i / per)], i % per, bits) - point);
    });
  };
  return { layout: `compressed-tensors, ${bits} bits`, rows, columns, order: OUTPUTS_FIRST, row };
}

/** MLX: numbers packed along the inputs, with a scale and a bias for each group. */
function mlx(group: Group, settings: Settings): Layout | string {
  const { base, main } = group;
  const [rows, words] = group.shape(main);
  const [, groups] = group.shape(`${base}.scales`);
  const size = settings.groupSize ?? 64;
  const columns = groups * size;
  const bits = whole((32 * words) / columns);
  if (bits === undefined) {
    return 'Only MLX with 2, 4 or 8 bits is decoded; the size of its groups is in config.json.';
  }
  const row = async (at: number) => {
    const packed = await group.read(main, at * words, words);
    const scales = await group.read(`${base}.scales`, at * groups, groups);
    const biases = await group.read(`${base}.biases`, at * groups, groups);
    return Float32Array.from({ length: columns }, (_, i) => field(packed[Math.floor((i * bits) / 32)], i % (32 / bits), bits) * scales[Math.floor(i / size)] + biases[Math.floor(i / size)]);
  };
  return { layout: `MLX, ${bits} bits`, rows, columns, order: OUTPUTS_FIRST, row };
}

/** MXFP4 of gpt-oss: 16 bytes of codes for each exponent. */
function mxfp4(group: Group): Layout | string {
  const shape = group.shape(group.main);
  const scales = `${group.base}_scales`;
  const [groups = 0, bytes] = shape.slice(-2);
  if (shape.length < 2 || bytes !== 16 || group.shape(scales).join() !== shape.slice(0, -1).join()) {
    return 'The blocks and scales of MXFP4 do not have the shapes expected: 16 bytes for each scale.';
  }
  const row = async (at: number) => {
    const packed = await group.read(group.main, at * groups * 16, groups * 16);
    const exponents = await group.read(scales, at * groups, groups);
    return Float32Array.from({ length: groups * 32 }, (_, i) => {
      const exponent = exponents[i >> 5];
      return exponent === 255 ? NaN : FP4[nibble(packed, i)] * 2 ** (exponent - 127);
    });
  };
  return { layout: 'MXFP4', rows: shape.slice(0, -2).reduce((a, b) => a * b, 1), columns: groups * 32, order: shape.length > 3 ? 'rows are the outputs of one expert after the other' : OUTPUTS_FIRST, row };
}

/** NVFP4: 16 codes for each scale, and one scale for all; compressed-tensors stores its inverse. */
function nvfp4(group: Group, common: string, inverse: boolean): Layout | string {
  const { base, main } = group;
  const [rows, bytes] = group.shape(main);
  const [, groups] = group.shape(`${base}.weight_scale`);
  if (groups * 8 !== bytes) {
    return 'The scales of NVFP4 do not have the shape expected: one for 8 bytes.';
  }
  const row = async (at: number) => {
    const packed = await group.read(main, at * bytes, bytes);
    const scales = await group.read(`${base}.weight_scale`, at * groups, groups);
    const [all] = Array.from(await group.all(common));
    return Float32Array.from({ length: bytes * 2 }, (_, i) => FP4[nibble(packed, i)] * scales[i >> 4] * (inverse ? 1 / all : all));
  };
  return { layout: 'NVFP4', rows, columns: bytes * 2, order: OUTPUTS_FIRST, row };
}

/** Numbers of 8 bits with a scale for the tensor, for each row, or for each block. */
function scaled(group: Group, layout: string, scales: string, times = 1): Layout | string {
  const [rows, columns = 1] = group.shape(group.main);
  const [down = 1, across = 1] = group.shape(scales);
  // Blocks are squares of 128 elements unless they divide the tensor otherwise.
  const sideOf = (extent: number, parts: number) => (Math.ceil(extent / 128) === parts ? 128 : extent % parts === 0 ? extent / parts : undefined);
  const [height, width] = [down === rows ? 1 : sideOf(rows, down), across === columns ? 1 : across === 1 ? columns : sideOf(columns, across)];
  if (height === undefined || width === undefined || group.shape(group.main).length > 2) {
    return `The shape of ${scales} does not fit that of the weights.`;
  }
  const row = async (at: number) => {
    const codes = await group.read(group.main, at * columns, columns);
    const own = await group.read(scales, (down === 1 ? 0 : Math.floor(at / height)) * across, across);
    return Float32Array.from({ length: columns }, (_, i) => codes[i] * own[Math.floor(i / width)] * times);
  };
  return { layout, rows, columns, order: OUTPUTS_FIRST, row };
}

/** The layout of a tensor, or why it is not decoded; `undefined` if it is not packed. */
async function layoutOf(group: Group, settings: Settings): Promise<Layout | string | undefined> {
  const { base, main } = group;
  const dtype = group.dtype(main);
  const beside = (end: string) => group.has(`${base}${end}`);
  if (main.endsWith('.qweight') && dtype === 'i32' && beside('.scales') && beside('.qzeros')) {
    // Only AWQ packs along the outputs.
    return group.shape(`${base}.scales`)[1] === group.shape(main)[1] ? gptq(group, settings) : awq(group);
  }
  if (main.endsWith('.weight_packed') && beside('.weight_scale')) {
    return beside('.weight_global_scale') ? nvfp4(group, `${base}.weight_global_scale`, true) : beside('.weight_shape') ? await compressed(group) : undefined;
  }
  if (main.endsWith('_blocks') && dtype === 'u8' && group.has(`${base}_scales`)) {
    return mxfp4(group);
  }
  const kind = ['nf4', 'fp4'].find((one) => beside(`.weight.quant_state.bitsandbytes__${one}`));
  if (kind !== undefined) {
    const parameters = parametersOf(await group.all(`${main}.quant_state.bitsandbytes__${kind}`));
    return typeof parameters === 'string' ? parameters : { layout: `bitsandbytes ${kind.toUpperCase()}`, order: OUTPUTS_FIRST, ...nf4(group, main, parameters) };
  }
  if (beside('.SCB') && dtype === 'i8') {
    return scaled(group, 'bitsandbytes int8', `${base}.SCB`, 1 / 127);
  }
  if (beside('.weight_scale_2') && beside('.weight_scale') && dtype === 'u8') {
    return nvfp4(group, `${base}.weight_scale_2`, false);
  }
  if (beside('.scales') && beside('.biases') && dtype === 'u32') {
    return mlx(group, settings);
  }
  const scales = ['.weight_scale_inv', '.weight_scale', '.scale_weight'].find(beside);
  return scales !== undefined && /^(?:f8|i8)/.test(dtype) ? scaled(group, dtype === 'i8' ? 'int8 with scales' : 'FP8 with scales', `${base}${scales}`) : undefined;
}

/** The layout of each file's tensor that was asked for last. */
const known = new WeakMap<Session, { key: string; found: Promise<Layout | string | undefined> }>();

async function layoutFor(context: Context, id: number, tensor: number, config: string | undefined): Promise<Layout | string | undefined> {
  const file = session(id);
  const key = `${tensor} ${config}`;
  const last = known.get(file);
  if (last?.key === key) {
    return await last.found;
  }
  const found = (async () => {
    const layout = await layoutOf(new Group(file, context, await listTensors(file, context), tensor), settingsOf(config));
    const fits = typeof layout !== 'object' || (layout.rows > 0 && Number.isSafeInteger(layout.rows) && layout.columns > 0 && layout.columns <= MOST_COLUMNS);
    return fits ? layout : 'The shapes of the weights and their scales do not fit together, or a row is too long.';
  })();
  known.set(file, { key, found });
  found.catch(() => known.delete(file));
  return await found;
}

/** What a tensor stands for, or why that cannot be decoded; `undefined` if it is not packed. */
export async function unpacked(context: Context, id: number, tensor: number, config: string | undefined): Promise<Unpacked | string | undefined> {
  const layout = await layoutFor(context, id, tensor, config);
  if (typeof layout !== 'object') {
    return layout;
  }
  const { row: _, ...facts } = layout;
  return facts;
}

async function opened(context: Context, id: number, tensor: number, config: string | undefined): Promise<Layout> {
  const layout = await layoutFor(context, id, tensor, config);
  if (typeof layout !== 'object') {
    throw new Error(layout ?? 'the tensor is not packed');
  }
  return layout;
}

/** Maximum number of decoded rows for a grid. */
const MOST_DECODED = 1024;

/** Texts of decoded values on a grid of steps in row-major order, as those of a plain matrix. */
export async function unpackedGrid(context: Context, id: number, tensor: number, config: string | undefined, from: bigint, rows: number, rowStep: bigint, columns: number, columnStep: bigint): Promise<string[]> {
  const layout = await opened(context, id, tensor, config);
  const decoded = new Map<number, Float32Array>();
  const data = new Float32Array(rows * columns);
  for (let i = 0; i < data.length; i++) {
    const place = Number(from + BigInt(Math.floor(i / columns)) * rowStep + BigInt(i % columns) * columnStep);
    const row = Math.floor(place / layout.columns);
    if (!decoded.has(row)) {
      if (row >= layout.rows || decoded.size >= MOST_DECODED) {
        throw new Error('the grid exceeds the matrix');
      }
      decoded.set(row, await layout.row(row));
    }
    data[i] = decoded.get(row)![place % layout.columns];
  }
  return valueList({ dtype: 'f32', data, width: 1, missing: new Uint32Array(), texts: undefined, ends: undefined, indices: undefined, lengths: undefined, coordinates: undefined });
}

export interface UnpackedStatistics {
  min: number;
  max: number;
  mean: number;
  deviation: number;
  norm: number;
  zeros: number;
  /** NaN and infinities. */
  broken: number;
}

/** Statistics of all decoded values. */
export async function unpackedStatistics(context: Context, id: number, tensor: number, config: string | undefined): Promise<UnpackedStatistics> {
  const { rows, columns, row } = await opened(context, id, tensor, config);
  let [min, max, sum, squares, zeros, broken] = [Infinity, -Infinity, 0, 0, 0, 0];
  for (let at = 0; at < rows; at++) {
    context.signal.throwIfAborted();
    for (const value of await row(at)) {
      if (!Number.isFinite(value)) {
        broken++;
        continue;
      }
      min = Math.min(min, value);
      max = Math.max(max, value);
      sum += value;
      squares += value * value;
      zeros += value === 0 ? 1 : 0;
    }
    context.progress({ label: 'Decoding', done: at / rows });
  }
  const count = rows * columns - broken;
  const mean = sum / count;
  return { min, max, mean, deviation: Math.sqrt(Math.max(0, squares / count - mean * mean)), norm: Math.sqrt(squares), zeros, broken };
}
