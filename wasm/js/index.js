// Loads the WebAssembly and drives a document; see index.d.ts.

import { lend } from './blocks.js';
import { documents } from './document.js';
import { failure, learn, rulesOf, unpack } from './unpack.js';

const libraries = new Map();

const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

/** Location of each WebAssembly module and its glue code, written so that bundlers find both. */
const MODULES = {
  base: { url: () => new URL('./base_bg.wasm', import.meta.url), glue: () => import('./base.js') },
  full: { url: () => new URL('./full_bg.wasm', import.meta.url), glue: () => import('./full.js') },
  compute: { url: () => new URL('./compute_bg.wasm', import.meta.url), glue: () => import('./compute.js') },
  summary: { url: () => new URL('./summary_bg.wasm', import.meta.url), glue: () => import('./summary.js') },
};

/** The modules that use vectors. */
const FAST = ['full', 'compute'];

async function wasmOf(url) {
  if (inNode && url.protocol === 'file:') {
    const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
    return readFile(url);
  }
  return url;
}

// A module with a function that returns a vector.
const VECTORS = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
);

async function start(flavour, module) {
  if (FAST.includes(flavour) && !WebAssembly.validate(VECTORS)) {
    throw failure('this WebAssembly engine has no SIMD, which statistics, elements in blocks, and all formats except safetensors and GGUF require');
  }
  const [glue, memory] = await fetched(flavour, module).catch((cause) => {
    // Too little memory is no failed download.
    throw cause instanceof RangeError ? cause : failure(`the module ${flavour} could not be loaded: ${cause.message}`, { module: flavour, cause });
  });
  return Object.freeze({ flavour, ...(await offered(flavour, glue)), memory: () => memory.buffer.byteLength });
}

/** The glue code and the memory of a module. */
async function fetched(flavour, module) {
  const { url, glue: loaded } = MODULES[flavour];
  const [glue, rules] = await Promise.all([loaded(), flavour === 'full' ? import('./every-rule.js') : undefined]);
  learn(rules?.default);
  const { memory } = await glue.default({ module_or_path: module ?? (await wasmOf(url())) });
  return [glue, memory];
}

/** The classes and functions of one module. */
async function offered(flavour, glue) {
  switch (flavour) {
    case 'compute':
      lend(glue);
      return (await import('./accumulators.js')).accumulators(glue);
    case 'summary':
      return (await import('./models.js')).summaries(glue);
    default:
      return reading(glue);
  }
}

/** Those of a module that reads files. */
function reading(glue) {
  const formats = () =>
    Array.from(unpack(glue.rawFormats(), (fields) => fields.texts()), (row) => {
      const [name, title, ...extensions] = row.split('\t');
      return { name, title, extensions };
    });
  return { Document: documents({ ...glue, formats }), rules: rulesOf, formats };
}

export function load(flavour = 'base', module = undefined) {
  if (!Object.hasOwn(MODULES, flavour)) {
    return Promise.reject(failure(`unknown module ${flavour}`));
  }
  let library = libraries.get(flavour);
  if (library === undefined) {
    library = start(flavour, module);
    libraries.set(flavour, library);
    // A failed download may be retried.
    library.catch(() => libraries.delete(flavour));
  }
  return library;
}

export function fromBlob(blob) {
  return {
    size: BigInt(blob.size),
    async read(at, len) {
      const start = Number(at);
      return new Uint8Array(await blob.slice(start, start + len).arrayBuffer());
    },
  };
}

export function fromBytes(bytes) {
  return {
    size: BigInt(bytes.length),
    async read(at, len) {
      const start = Number(at);
      return bytes.subarray(start, start + len);
    },
  };
}

async function readExactly(source, at, len, signal) {
  const bytes = await source.read(at, len, signal);
  signal?.throwIfAborted();
  if (bytes.length < len) {
    throw failure(`received ${bytes.length} bytes at offset ${at}, expected ${len}`, { offset: at });
  }
  return bytes;
}

/** Provides what the document is waiting for: a module, or bytes. */
async function supply(document, source, signal) {
  if (document.requires !== undefined) {
    await load(document.requires);
    return;
  }
  const need = document.need();
  if (need.length === 0) {
    throw failure('the document is not waiting for any bytes');
  }
  const reads = [];
  for (let i = 0; i < need.length; i += 2) {
    reads.push(readExactly(source, need[i], Number(need[i + 1]), signal));
  }
  const pieces = await Promise.all(reads);
  pieces.forEach((bytes, i) => document.supply(need[2 * i], bytes));
}

export async function settle(document, source, call, { signal, progress } = {}) {
  for (;;) {
    const result = call();
    if (result !== undefined && result !== false) {
      return result;
    }
    signal?.throwIfAborted();
    await supply(document, source, signal);
    progress?.(document.progress());
  }
}

async function openIn(library, source, goal, options, driving) {
  const document = new library.Document(source.size, options);
  try {
    await settle(document, source, () => document.advance(goal) || document.needsFull, driving);
    return document;
  } catch (error) {
    document.free();
    throw error;
  }
}

export async function open(source, { goal = 'structure', signal, progress, module = inNode ? 'full' : 'base', ...options } = {}) {
  const driving = { signal, progress };
  const first = await load(module);
  if (module === 'base' && (options.format === undefined || first.formats().some(({ name }) => name === options.format))) {
    const document = await openIn(first, source, goal, options, driving);
    if (!document.refused && !document.needsFull) {
      return document;
    }
    document.free();
  }
  return openIn(await load('full'), source, goal, options, driving);
}

export async function stream(
  document,
  source,
  tensor,
  sinks,
  { signal, progress, piece = 4 << 20 } = {},
) {
  const take = (bytes) => sinks.forEach((sink) => sink.push(bytes));
  const driving = { signal };
  const { stored } = await settle(document, source, () => document.tensor(tensor), driving);
  let done = 0n;
  for (let i = 0, total = 1n; BigInt(i) < total; i++) {
    ({ total } = await settle(document, source, () => document.chunks(tensor, i, i + 1), driving));
    if (total === 0n) {
      return;
    }
    const decoder = await settle(document, source, () => document.decoder(tensor, i), driving);
    try {
      const end = decoder.offset + decoder.stored;
      for (let at = decoder.offset; at < end; at += BigInt(piece)) {
        const len = Math.min(piece, Number(end - at));
        decoder.push(await readExactly(source, at, len, signal), take);
        done += BigInt(len);
        progress?.(done, stored);
      }
      decoder.finish();
    } finally {
      decoder.free();
    }
  }
}
