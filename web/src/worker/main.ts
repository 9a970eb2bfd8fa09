/** The worker: owns the files and the WebAssembly. */

import * as exports from './exports.ts';
import { GAUGE, serveGauge } from './gauge.ts';
import * as jobs from './jobs.ts';
import { serve, type Context } from './rpc.ts';
import { computing, library, session, start, stop } from './session.ts';
import * as swept from './swept.ts';
import { sweep } from './sweep.ts';
import * as sharded from './shards.ts';
import { fromPort, type Offer } from './port.ts';
import { fromFile, fromUrl } from './sources.ts';
import * as tables from './tables.ts';

/** Files whose bytes only the full module reads. */
const FULL = /\.(?:bt|gguf|idv|npy|npz|safetensors|zt|json)$/i;

async function open(context: Context, what: File | Offer | string) {
  if (FULL.test(typeof what === 'string' ? what.replace(/[?#].*$/, '') : what.name)) {
    // It may arrive together with the first bytes.
    computing().catch(() => undefined);
  }
  const source = typeof what === 'string' ? await fromUrl(what, context.signal) : 'port' in what ? fromPort(what) : fromFile(what);
  const begun = performance.now();
  const [id, { document }] = await start(source, context);
  return {
    id,
    name: source.name,
    address: typeof what === 'string' ? what : undefined,
    remote: source.remote,
    size: document.length,
    format: document.format,
    title: document.title,
    version: document.version,
    refused: document.refused,
    tensorCount: document.tensorCount,
    elements: document.totals({}).elements.reduce((sum, elements) => sum + elements, 0n),
    metadataCount: document.metadataCount,
    milliseconds: performance.now() - begun,
  };
}

export type Opened = Awaited<ReturnType<typeof open>>;

function close(_: Context, id: number): void {
  stop(id);
}

/** Bytes for the hex view; they do not go through the document. */
async function bytes(context: Context, id: number, at: bigint, len: number): Promise<Uint8Array> {
  return await session(id).read(at, len, context.signal);
}

/** Looks whether a file is still the one that was opened: reading tells. */
async function touch(context: Context, id: number): Promise<void> {
  const { source } = session(id);
  if (!source.remote && source.size > 0n) {
    await source.read(source.size - 1n, 1, context.signal);
  }
}

async function formats() {
  return (await library()).formats();
}

async function memory(): Promise<number> {
  return (await library()).memory();
}

/** What tells what a model is: fetched when it is asked for first. */
type Summaries = Pick<typeof import('./summary.ts'), (typeof SUMMARIES)[number]>;
const SUMMARIES = ['model', 'vocabulary', 'findTokens', 'foundTokens', 'tokensOf', 'chatTemplate'] as const;
const summaries = Object.fromEntries(
  SUMMARIES.map((name) => [name, async (...args: unknown[]) => ((await import('./summary.ts'))[name] as (...args: unknown[]) => unknown)(...args)]),
) as unknown as Summaries;

const api = { ...tables, ...jobs, ...exports, ...sharded, ...swept, ...summaries, sweep, open, close, touch, bytes, formats, memory };

const calls = Object.fromEntries(
  Object.entries(api).filter(([, value]) => typeof value === 'function'),
) as Record<string, (context: Context, ...args: never[]) => unknown>;

/** What the page may call. */
export type Api = typeof api;

if (self.name === GAUGE) {
  serveGauge();
} else {
  serve(calls);
  // Compiling may go on while the user looks for a file.
  void library();
}
