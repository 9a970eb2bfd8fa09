/** The worker: owns the files and the WebAssembly. */

import * as exports from './exports.ts';
import * as grouped from './grouped.ts';
import { direct, type Repository } from './hubs.ts';
import { fetching } from './code.ts';
import { differences } from './differences.ts';
import { EXPRESSION, serveExpression } from './expression.ts';
import { GAUGE, serveGauge } from './gauge.ts';
import * as jobs from './jobs.ts';
import { FULL } from '../names.ts';
import { serve, type Context } from './rpc.ts';
import type { Listing } from './repository.ts';
import { everyFormat, library, session, start, stop } from './session.ts';
import * as swept from './statistics.ts';
import { sweep } from './sweep.ts';
import { fromPort, type Offer } from './port.ts';
import { fromFile, fromUrl, touch as look } from './sources.ts';
import * as tables from './tables.ts';

/** A file near another, with its path from the folder of that. */
export interface Near {
  path: string;
  file: File;
}

/** Opens a file together with the files of its set among `others`. */
async function open(context: Context, what: File | Offer | string, others: readonly Near[] = []) {
  if (FULL.test(typeof what === 'string' ? what.replace(/[?#].*$/, '') : what.name)) {
    // Start loading now, in parallel with the first bytes.
    everyFormat().catch(() => undefined);
  }
  const offered = typeof what !== 'string' && 'port' in what ? fromPort(what) : undefined;
  const source = offered ?? (typeof what === 'string' ? await fromUrl(what, context.signal) : fromFile(what as File));
  const begun = performance.now();
  const open = async (name: string) => {
    if (typeof what === 'string') {
      const there = direct(what);
      there.pathname = there.pathname.replace(/[^/]*$/, name.split('/').map(encodeURIComponent).join('/'));
      return await fromUrl(there.href, context.signal);
    }
    if (offered !== undefined) {
      return await offered.beside(name);
    }
    const found = others.find(({ path }) => path === name);
    return found && fromFile(found.file);
  };
  const [id, { document, source: all, set }] = await start(source, context, { names: others.map(({ path }) => path), open });
  const totals = document.totals({});
  return {
    id,
    name: source.name,
    address: typeof what === 'string' ? what : undefined,
    remote: source.remote,
    size: all.size,
    /** End of the last byte in the concatenation of a set's files. */
    extent: document.length,
    /** The files of a set. */
    parts: set?.files,
    format: document.format,
    title: document.title,
    version: document.version,
    refused: document.refused,
    tensorCount: document.tensorCount,
    /** Of tensors with data. */
    elements: totals.elements.reduce((sum, elements) => sum + elements, 0n),
    withoutData: totals.withoutData.reduce((sum, tensors) => sum + tensors, 0),
    metadataCount: document.metadataCount,
    milliseconds: performance.now() - begun,
  };
}

export type Opened = Awaited<ReturnType<typeof open>>;

/** Files up to this size are checked in full at a glance. */
const SMALL = 16n << 20n;

/** Opens, checks and closes a file of a folder. */
async function glance(context: Context, what: File, others: readonly Near[]) {
  const info = await open(context, what, others);
  const { id } = info;
  try {
    await jobs.audit(context, id, 'structure');
    if (info.size <= SMALL) {
      await jobs.audit(context, id, 'payloads');
    }
    return { info, verdict: await tables.verdict(context, id, 'strict'), groups: grouped.findingGroups(context, id) };
  } finally {
    stop(id);
  }
}

function close(_: Context, id: number): void {
  stop(id);
}

/** Bytes for the hex view, read without the document. */
async function bytes(context: Context, id: number, at: bigint, len: number): Promise<Uint8Array> {
  return await session(id).read(at, len, context.signal);
}

/** Checks whether the file has changed since it was opened. */
async function touch(context: Context, id: number): Promise<void> {
  await look(session(id).source, context.signal);
}

/** The files of a set, in the state of the last verdict. */
function parts(_: Context, id: number) {
  return session(id).set?.files ?? [];
}

/** Access to the hub, in the build with URL access only. */
const hub: () => Promise<typeof import('./repository.ts')> =
  import.meta.env.MODE === 'url' ? () => fetching(import('./repository.ts')) : () => Promise.reject(new Error('this page does not connect to a model hub'));

/** The files and sets of a hub repository that can be opened. */
async function listing(context: Context, of: Repository): Promise<Listing> {
  return await (await hub()).list(context, of);
}

/** The text of a repository's `config.json`. */
async function settings(context: Context, address: string, of: Repository): Promise<string> {
  return await (await hub()).settings(context, address, of);
}

/** All formats: the first module reads some of them. */
async function formats() {
  return (await everyFormat()).formats();
}

async function memory(): Promise<number> {
  return (await library()).memory();
}

/** Functions of a module that is loaded on first use. */
function later<M, N extends keyof M & string>(names: readonly N[], module: () => Promise<M>): Pick<M, N> {
  const call = (name: N) => async (...args: unknown[]) => ((await fetching(module()))[name] as (...args: unknown[]) => unknown)(...args);
  return Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as Pick<M, N>;
}

/** The functions that summarise a model. */
const summaries = later(['model', 'vocabulary', 'findTokens', 'foundTokens', 'tokensOf', 'chatTemplate', 'metaText', 'updates'], () => import('./summary.ts'));

/** The functions that export many tensors, measure or decode matrices, or look into pickles. */
const bulk = later(['code', 'storages', 'npz', 'valuesCsv', 'channels', 'spectrum', 'regions', 'safetensors', 'safetensorsPlan', 'unpacked', 'unpackedGrid', 'unpackedStatistics'], () => import('./bulk.ts'));

const api = { ...tables, ...grouped, ...jobs, ...exports, ...swept, ...summaries, ...bulk, differences, sweep, open, glance, close, touch, parts, listing, settings, bytes, formats, memory };

const calls = Object.fromEntries(
  Object.entries(api).filter(([, value]) => typeof value === 'function'),
) as Record<string, (context: Context, ...args: never[]) => unknown>;

/** The functions that the page may call. */
export type Api = typeof api;

if (self.name === GAUGE) {
  serveGauge();
} else if (self.name === EXPRESSION) {
  serveExpression();
} else {
  serve(calls);
  // Compile while the user is choosing a file.
  void library();
}
