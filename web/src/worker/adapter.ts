/** Adapters: which tensors of a base they change, with which rank, and how much. */

import type { Tensors } from './tensors.ts';
import type { Context } from './rpc.ts';
import { statistics } from './jobs.ts';
import { session, computing, type Session } from './session.ts';
import { listTensors } from './tensors.ts';
import { besideOf } from './beside.ts';

/** Elements per read. */
const STEP = 1 << 16;
/** Maximum number of `alpha` tensors read for the facts. */
const MOST_ALPHAS = 8192;
/** Maximum rank whose update is measured: the time grows with its square. */
const MOST_RANK = 1024;

/** The matrices of an update, by the ends of their names. `down` is as long as the rank on axis 0. */
const ENDS = [
  ['down', /[._]lora(?:_embedding)?_A(?:\.[^.]+)??(?:\.weight)?$|\.lora_down\.weight$|[._]lora\.down\.weight$/],
  ['up', /[._]lora(?:_embedding)?_B(?:\.[^.]+)??(?:\.weight)?$|\.lora_up\.weight$|[._]lora\.up\.weight$/],
  ['alpha', /\.alpha$/],
  ['magnitude', /\.lora_magnitude_vector(?:\.[^.]+)??(?:\.weight)?$|\.dora_scale$/],
  ['hadamard', /\.hada_w[12]_[ab]$|\.hada_t[12]$/],
  ['kronecker', /\.lokr_w[12](?:_[ab])?$|\.lokr_t2$/],
] as const;

type End = (typeof ENDS)[number][0];

interface Module {
  name: string;
  parts: Partial<Record<End, number>>;
  rank: number;
  /** Rows and columns of the update; the columns of a convolution are all its other axes. */
  rows: number;
  columns: number;
}

export interface AdapterFacts {
  method: string;
  /** Who writes such names. */
  names: 'PEFT' | 'kohya' | 'diffusers';
  updates: number;
  /** Ranks and scales (alpha) with how many updates have them, the most frequent first. */
  ranks: [string, number][];
  alphas: [string, number][];
  /** Names of the modules, without the path. */
  targets: [string, number][];
  base: string | undefined;
  /** Where the alpha comes from; `undefined` if nothing says it. */
  scaled: string | undefined;
  notes: string[];
}

export interface Update {
  name: string;
  method: string;
  rank: number;
  alpha: number | undefined;
  shape: string;
  /** The Frobenius norm of what is added to the base. */
  norm?: number;
  /** The tensor of the base. */
  base?: { index: number; name: string };
  /** Why it does not fit. */
  why?: string;
  /** The norm, relative to that of the tensor. */
  relative?: number;
}

/** The updates of an adapter, in the order of the file; empty if it is none. */
function modulesOf(tensors: Tensors): Module[] {
  const all = new Map<string, Module>();
  tensors.names.forEach((name, index) => {
    const [end, pattern] = ENDS.find(([, pattern]) => pattern.test(name)) ?? [];
    if (end === undefined) {
      return;
    }
    const key = name.replace(pattern!, '');
    const module = all.get(key) ?? { name: key, parts: {}, rank: 0, rows: 0, columns: 0 };
    all.set(key, module);
    module.parts[end] ??= index;
    const shape = tensors.shapes[index].map(Number);
    const rest = shape.slice(1).reduce((a, b) => a * b, 1);
    if (end === 'down') {
      [module.rank, module.columns] = [shape[0] ?? 0, rest];
    } else if (end === 'up') {
      module.rows = shape[0] ?? 0;
    }
  });
  return [...all.values()].filter(({ parts: { down, up, hadamard, kronecker } }) => (down !== undefined && up !== undefined) || hadamard !== undefined || kronecker !== undefined);
}

function methodOf({ parts }: Module): string {
  return parts.hadamard !== undefined ? 'LoHa' : parts.kronecker !== undefined ? 'LoKr' : parts.magnitude !== undefined ? 'DoRA' : 'LoRA';
}

/** How often each occurs, the most frequent first. */
function tally(all: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  all.forEach((one) => counts.set(one, (counts.get(one) ?? 0) + 1));
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** The last part of a module's name that is no number: `q_proj`, `attn1_to_q`. */
function target(name: string): string {
  const path = name.split('.');
  const last = path.findLast((part) => !/^\d+$/.test(part)) ?? name;
  return path.length > 1 && !/^(?:lora|lycoris)_/.test(last) ? last : last.replace(/(?:_\d+)+$/, '').replace(/^.*_\d+_/, '');
}

const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** A setting for a module: that of the first pattern that fits, otherwise the common one. */
function setting(config: Record<string, unknown> | undefined, patterns: string, common: string, module: string): number | undefined {
  const own = config?.[patterns];
  const found = typeof own === 'object' && own !== null ? Object.entries(own).find(([key]) => module === key || module.endsWith(`.${key}`)) : undefined;
  return number(found?.[1]) ?? number(config?.[common]);
}

/** What is known about an adapter; `undefined` if the file is none. */
export async function adapterOf(file: Session, metadata: ReadonlyMap<string, unknown>, context: Context): Promise<AdapterFacts | undefined> {
  const tensors = await listTensors(file, context);
  // Most files have no such name.
  const modules = tensors.names.some((name) => /lora|lokr|hada_w/.test(name)) ? modulesOf(tensors) : [];
  if (modules.length === 0) {
    return undefined;
  }
  const config = (await besideOf(file))?.adapter;
  const alphas = await alphasOf(file, modules, metadata, config, context);
  const notes: string[] = [];
  const stated = number(config?.r);
  const odd = modules.filter(({ name, rank }) => stated !== undefined && rank > 0 && rank !== setting(config, 'rank_pattern', 'r', name));
  if (odd.length > 0) {
    notes.push(`adapter_config.json says rank ${stated}, but ${odd.length} of ${modules.length} updates have another, such as ${odd[0].rank} in ${odd[0].name}`);
  }
  const wanted = config?.target_modules;
  const found = new Set(modules.map(({ name }) => target(name)));
  const absent = Array.isArray(wanted) ? wanted.filter((one) => typeof one === 'string' && ![...modules].some(({ name }) => name === one || name.endsWith(`.${one}`)) && !found.has(one)) : [];
  if (absent.length > 0) {
    notes.push(`adapter_config.json names target modules that no tensor changes: ${absent.slice(0, 8).join(', ')}`);
  }
  const names = modules.some(({ name }) => /^base_model\./.test(name)) ? 'PEFT' : modules.some(({ name }) => /^(?:lora|lycoris)_/.test(name)) ? 'kohya' : 'diffusers';
  const text = (value: unknown) => (typeof value === 'string' && value !== '' && value !== 'None' ? value : undefined);
  return {
    method: tally(modules.map(methodOf)).map(([method]) => method).join(', '),
    names,
    updates: modules.length,
    ranks: tally(modules.filter(({ rank }) => rank > 0).map(({ rank }) => String(rank))),
    alphas: tally(alphas.values.filter((alpha) => alpha !== undefined).map(String)),
    targets: tally(modules.map(({ name }) => target(name))),
    base: text(config?.base_model_name_or_path) ?? text(metadata.get('ss_sd_model_name')) ?? text(metadata.get('ss_base_model_version')) ?? text(metadata.get('modelspec.architecture')),
    scaled: alphas.from,
    notes,
  };
}

/** The alpha of each update: in the file, in the settings, or in the metadata. */
async function alphasOf(file: Session, modules: readonly Module[], metadata: ReadonlyMap<string, unknown>, config: Record<string, unknown> | undefined, context: Context): Promise<{ values: (number | undefined)[]; from: string | undefined }> {
  const values: (number | undefined)[] = [];
  let from: string | undefined;
  const trained = Number(metadata.get('ss_network_alpha') ?? NaN);
  for (const [i, { name, parts: { alpha } }] of modules.entries()) {
    if (alpha !== undefined && i < MOST_ALPHAS) {
      const { data } = await file.settle(() => file.document.values(alpha, 0n, 1), context);
      values.push(data.length === 1 ? Number(data[0]) : undefined);
      from = 'alpha tensors';
    } else if (number(config?.lora_alpha) !== undefined) {
      values.push(setting(config, 'alpha_pattern', 'lora_alpha', name));
      from ??= 'adapter_config.json';
    } else if (Number.isFinite(trained)) {
      values.push(trained);
      from ??= 'ss_network_alpha';
    } else {
      values.push(undefined);
    }
    context.signal.throwIfAborted();
  }
  return { values, from };
}

/** The updates of an adapter, with the tensors of `base` that they change, and measured if asked. */
export async function updates(context: Context, id: number, metadata: ReadonlyMap<string, unknown>, base: number | undefined, measured: boolean): Promise<Update[]> {
  const file = session(id);
  const modules = modulesOf(await listTensors(file, context));
  const config = (await besideOf(file))?.adapter;
  const { values: alphas } = await alphasOf(file, modules, metadata, config, context);
  const find = base === undefined ? undefined : await finder(session(base), context);
  const found: Update[] = [];
  for (const [i, module] of modules.entries()) {
    const { name, rank, rows, columns, parts: { down, up } } = module;
    const alpha = alphas[i];
    const update: Update = { name, method: methodOf(module), rank, alpha, shape: rows > 0 ? `${rows} × ${columns}` : '' };
    if (find !== undefined) {
      Object.assign(update, find(module, config?.fan_in_fan_out === true));
    }
    if (measured && down !== undefined && up !== undefined && update.method === 'LoRA' && rank > 0 && rank <= MOST_RANK) {
      context.progress({ label: `update ${i + 1} of ${modules.length}`, done: i / modules.length });
      const scale = alpha === undefined ? 1 : alpha / (config?.use_rslora === true ? Math.sqrt(rank) : rank);
      update.norm = Math.abs(scale) * (await product(file, down, up, rank, columns, rows, context));
      if (update.base !== undefined && update.why === undefined) {
        const { summary } = await statistics({ ...context, progress: () => undefined }, base!, update.base.index);
        const norm = Math.sqrt(Number(summary.count) * (summary.deviation ** 2 + summary.mean ** 2));
        update.relative = norm > 0 ? update.norm / norm : update.norm > 0 ? Infinity : 0;
      }
    }
    context.signal.throwIfAborted();
    found.push(update);
  }
  return found;
}

async function floats(file: Session, tensor: number, count: number, context: Context): Promise<Float32Array> {
  const all = new Float32Array(count);
  for (let from = 0; from < count; from += STEP) {
    const { data } = await file.settle(() => file.document.values(tensor, BigInt(from), Math.min(STEP, count - from)), context);
    all.set(data as Float32Array, from);
  }
  return all;
}

/** The Frobenius norm of up · down, from their Gram matrices: the product itself may be large. */
async function product(file: Session, down: number, up: number, rank: number, columns: number, rows: number, context: Context): Promise<number> {
  const a = await floats(file, down, rank * columns, context);
  const b = await floats(file, up, rows * rank, context);
  // Rows of the transpose are adjacent in memory, as those of `a` are.
  const turned = new Float32Array(b.length);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < rank; k++) {
      turned[k * rows + row] = b[row * rank + k];
    }
  }
  let sum = 0;
  for (let i = 0; i < rank; i++) {
    for (let j = i; j < rank; j++) {
      sum += (i === j ? 1 : 2) * dot(a, i * columns, j * columns, columns) * dot(turned, i * rows, j * rows, rows);
    }
  }
  // Rounding may leave the sum of an update of zeros below zero.
  return Math.sqrt(Math.max(0, sum));
}

function dot(data: Float32Array, i: number, j: number, length: number): number {
  let sum = 0;
  for (let k = 0; k < length; k++) {
    sum += data[i + k] * data[j + k];
  }
  return sum;
}

/** Marks the end of a name that several tensors have. */
const SEVERAL = -1;

/** Returns a function that finds the tensor of the base that a module stands for. */
async function finder(base: Session, context: Context) {
  const tensors = await listTensors(base, context);
  const { ggufNames } = await computing();
  const whole = new Map(tensors.names.map((name, index) => [name, index]));
  // Names of kohya have underscores instead of dots: look for the ends of names.
  const ends = new Map<string, number>();
  tensors.names.forEach((name, index) => {
    const path = name.replace(/\.weight$/, '').split('.');
    for (let from = 0; from < path.length && path.length - from >= 2; from++) {
      const end = path.slice(from).join('_');
      ends.set(end, ends.has(end) ? SEVERAL : index);
    }
  });
  const indexOf = (module: string): number | undefined => {
    const path = module.replace(/^base_model\.model\./, '').split('.');
    const dotted = path.join('.');
    const exact = [dotted, `${dotted}.weight`, ...ggufNames(`${dotted}.weight`)].map((name) => whole.get(name)).find((index) => index !== undefined);
    if (exact !== undefined) {
      return exact;
    }
    const flat = path.join('_').replace(/^(?:lora|lycoris)_(?:unet|transformer|te\d?|prior)?_?/, '');
    // The base may have another prefix; what is left must still name a layer.
    for (let from = 0; from < Math.max(1, path.length - 2); from++) {
      const found = ends.get(path.length > 1 ? path.slice(from).join('_') : flat);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  };
  return ({ name, rows, columns }: Module, transposed: boolean): Pick<Update, 'base' | 'why'> => {
    const index = indexOf(name);
    if (index === undefined || index === SEVERAL) {
      return { why: index === undefined ? 'no such tensor' : 'several tensors have this name' };
    }
    const [first = 0, ...others] = tensors.shapes[index].map(Number);
    const rest = others.reduce((a, b) => a * b, 1);
    const fits = rows === 0 || (first === rows && rest === columns) || ((transposed || /embedding|embed_tokens/.test(name)) && first === columns && rest === rows);
    return { base: { index, name: tensors.names[index] }, why: fits ? undefined : `the tensor is ${tensors.shapes[index].join(' × ')}` };
  };
}
