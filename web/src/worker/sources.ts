/** Byte sources: a local file, or a server that supports range requests. */

import { decoded, direct } from './hubs.ts';
import { PATIENCE, patiently } from './timeout.ts';
import { refusal, unreachable } from './refusals.ts';

/** A file that can be read in pieces or streamed. */
export interface Source {
  readonly name: string;
  readonly size: bigint;
  /** The local file, if it is one: other workers may read it too. */
  readonly file?: File;
  /** The sources that this one consists of. */
  readonly parts?: readonly Source[];
  /** Whether reading costs network traffic. */
  readonly remote: boolean;
  /** Whether neighbouring files are looked for; if so, those not found do not exist. */
  readonly looks?: boolean;
  read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Yields the bytes from `at` to `at + len`, in order. Each piece is valid until the next step.
   */
  pieces(at: bigint, len: bigint, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

/** Big enough for the disk to be the limit, small enough to cancel at once. */
export const PIECE = 4 << 20;

/** Pieces of a local file read in advance: with fewer, the disk waits for the computation. */
const AHEAD = 3;

/** The file has changed since it was opened. */
export class FileChanged extends Error {
  override name = 'FileChanged';
}

/**
 * A local file, read in slices and never as a stream: in Chromium, a paused stream of a blob may
 * never resume, and its reader would wait for ever.
 */
export function fromFile(file: File, patience = PATIENCE, piece = PIECE, ahead = AHEAD): Source {
  async function read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array> {
    const start = Number(at);
    try {
      const reading = file.slice(start, start + len).arrayBuffer();
      return new Uint8Array(await patiently(reading, `Reading ${len} bytes at offset ${at} of ${file.name}`, signal, patience));
    } catch (error) {
      // The browser's errors for a file that was written to, moved or deleted.
      if (error instanceof DOMException && (error.name === 'NotReadableError' || error.name === 'NotFoundError')) {
        throw new FileChanged(`${file.name} has been changed, moved or deleted since it was opened.`);
      }
      throw error;
    }
  }
  return {
    name: file.name,
    file,
    size: BigInt(file.size),
    remote: false,
    read,
    pieces: inPieces(read, piece, ahead),
  };
}

/** Yields pieces in order, reading up to `ahead` of them in advance. */
export function inPieces(read: Source['read'], piece = PIECE, ahead = 1): Source['pieces'] {
  return async function* (at, len, signal) {
    const reading: Promise<Uint8Array>[] = [];
    let next = 0n;
    const go = () => {
      if (next < len) {
        const one = read(at + next, Math.min(piece, Number(len - next)), signal);
        one.catch(() => undefined);
        reading.push(one);
        next += BigInt(piece);
      }
    };
    for (let i = 0; i < ahead; i++) {
      go();
    }
    for (let one = reading.shift(); one !== undefined; one = reading.shift()) {
      const bytes = await one;
      signal.throwIfAborted();
      // Read the next piece from disk while this one is processed.
      go();
      yield bytes;
      release(bytes);
    }
  };
}

/** A port whose other end is closed. */
let nowhere: MessagePort | undefined;

/**
 * Frees memory that browsers would otherwise collect late, after some 64 MB per worker. Posting the
 * buffer frees it; a buffer that is only detached (`transfer`) lasts even longer in Chromium.
 */
function release({ buffer }: Uint8Array): void {
  if (nowhere === undefined) {
    const { port1, port2 } = new MessageChannel();
    port2.close();
    nowhere = port1;
  }
  nowhere.postMessage(undefined, [buffer as ArrayBuffer]);
}

/** Thrown for a server that would send the whole file. */
export class NoRanges extends Error {
  override name = 'NoRanges';
  constructor(host: string) {
    super(
      `${host} does not support range requests, or hides the file size from this page ` +
        '(it must expose the Content-Range header). The file was not downloaded.',
    );
  }
}

/** Checks whether files have changed since they were opened, by reading their last byte. */
export async function touch({ parts, ...source }: Source, signal?: AbortSignal): Promise<void> {
  for (const part of parts ?? []) {
    await touch(part, signal);
  }
  if (parts === undefined && !source.remote && source.size > 0n) {
    await source.read(source.size - 1n, 1, signal);
  }
}

/** Files begin at multiples of this and never where another ends, so each offset is one file's. */
const STEP = 16n;

/** Start offsets for files of these sizes. */
export function basesOf(sizes: readonly bigint[]): bigint[] {
  let next = 0n;
  return sizes.map((size) => {
    const base = next;
    next = ((base + size) / STEP + 1n) * STEP;
    return base;
  });
}

/** Concatenates sources. A read must not cross their boundaries. */
export function concatenated(name: string, sources: readonly Source[]): Source {
  const bases = basesOf(sources.map(({ size }) => size));
  const of = (at: bigint) => {
    const i = bases.findLastIndex((base) => base <= at);
    return { source: sources[i], at: at - bases[i] };
  };
  return {
    name,
    parts: sources,
    size: sources.reduce((sum, { size }) => sum + size, 0n),
    remote: sources.some(({ remote }) => remote),
    read(from, len, signal) {
      const { source, at } = of(from);
      return source.read(at, len, signal);
    },
    pieces(from, len, signal) {
      const { source, at } = of(from);
      return source.pieces(at, len, signal);
    },
  };
}

/** The file does not exist. */
export class NotFound extends Error {
  override name = 'NotFound';
}

/** Bytes of the first request, which returns the size and most of what opening needs. */
const HEAD = 64 << 10;

export async function fromUrl(address: string, signal: AbortSignal): Promise<Source> {
  const url = direct(address);
  const name = decoded(url.pathname.split('/').pop() || url.hostname);
  const first = await request(url, 0n, BigInt(HEAD), signal);
  const answer = first.headers.get('content-range') ?? '';
  const size = /^bytes 0-\d+\/(\d+)$/.exec(answer)?.[1] ?? (first.status === 416 ? /^bytes \*\/(0)$/.exec(answer)?.[1] : undefined);
  if (size === undefined) {
    await first.body?.cancel();
    throw new NoRanges(url.host);
  }
  const total = BigInt(size);
  const headLength = total < BigInt(HEAD) ? total : BigInt(HEAD);
  const head = new Uint8Array(Number(headLength));
  if (total > 0n) {
    await fill(head, body(first, 0n, headLength, signal));
  }

  /** The bytes of a response, which must be the requested range. */
  async function* body(response: Response, at: bigint, wanted: bigint, from?: AbortSignal): AsyncGenerator<Uint8Array> {
    const range = response.headers.get('content-range') ?? 'nothing';
    if (range !== `bytes ${at}-${at + wanted - 1n}/${total}`) {
      await response.body?.cancel();
      const message = `${url.host} was asked for bytes ${at}-${at + wanted - 1n} of ${total} and sent ${range.slice(0, 80)}`;
      throw range.endsWith(`/${total}`)
        ? new Error(`${message}.`)
        : new FileChanged(`${message}. The file has changed since it was opened.`);
    }
    const reader = response.body!.getReader();
    let given = 0n;
    try {
      for (;;) {
        const { value, done } = await patiently(reader.read(), `Reading from offset ${at + given} of ${url.host}`, from);
        if (done) {
          break;
        }
        given += BigInt(value.length);
        if (given > wanted) {
          break;
        }
        yield value;
      }
    } finally {
      reader.cancel().catch(() => undefined);
    }
    if (given !== wanted) {
      const many = given > wanted ? 'more than' : `only ${given} of`;
      throw new Error(`${url.host} sent ${many} the ${wanted} bytes requested at offset ${at}.`);
    }
  }

  async function* pieces(at: bigint, len: bigint, from?: AbortSignal): AsyncGenerator<Uint8Array> {
    const end = at + len < total ? at + len : total;
    let start = at;
    if (start < headLength && start < end) {
      const kept = end < headLength ? end : headLength;
      yield head.slice(Number(start), Number(kept));
      start = kept;
    }
    if (start < end) {
      yield* body(await request(url, start, end - start, from), start, end - start, from);
    }
  }

  return {
    name,
    size: total,
    remote: true,
    async read(at, len, from) {
      const bytes = new Uint8Array(len);
      return bytes.subarray(0, await fill(bytes, pieces(at, BigInt(len), from)));
    },
    pieces,
  };
}

/** Copies pieces into `bytes` in order and returns the number of bytes. */
async function fill(bytes: Uint8Array, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let filled = 0;
  for await (const piece of pieces) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return filled;
}

async function request(url: URL, at: bigint, len: bigint, signal?: AbortSignal): Promise<Response> {
  const range = `bytes=${at}-${at + len - 1n}`;
  // A separate controller allows dropping a body that is not needed.
  const stop = new AbortController();
  const signals = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  let response: Response;
  try {
    const answer = fetch(url, {
      headers: { range },
      signal: signals,
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
    response = await patiently(answer, `Waiting for ${url.host}`, signal);
  } catch (error) {
    signal?.throwIfAborted();
    stop.abort();
    throw error instanceof TypeError ? new Error(await unreachable(url)) : error;
  }
  if (response.status === 206 || (response.status === 416 && at === 0n)) {
    return response;
  }
  stop.abort();
  if (response.ok) {
    throw new NoRanges(url.host);
  }
  const Failure = response.status === 404 || response.status === 410 ? NotFound : Error;
  throw new Failure(refusal(response, url.host, 'This file'));
}
