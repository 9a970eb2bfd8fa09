/** Where bytes come from: a file of the user, or a server that does ranges. */

/** A file, to be read in pieces or streamed. */
export interface Source {
  readonly name: string;
  readonly size: bigint;
  /** Whether reading costs network traffic. */
  readonly remote: boolean;
  read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** Bytes from `at` to `at + len`, in order. What is given is valid until the next step. */
  pieces(at: bigint, len: bigint, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

/** Big enough for the disk to be the limit, small enough to cancel at once. */
const PIECE = 4 << 20;

export function fromFile(file: File): Source {
  return {
    name: file.name,
    size: BigInt(file.size),
    remote: false,
    async read(at, len) {
      const start = Number(at);
      return new Uint8Array(await file.slice(start, start + len).arrayBuffer());
    },
    pieces(at, len, signal) {
      const start = Number(at);
      return streamed(file.slice(start, start + Number(len)), signal);
    },
  };
}

async function* streamed(blob: Blob, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = blob.stream().getReader({ mode: 'byob' });
  } catch {
    yield* sliced(blob, signal);
    return;
  }
  // One buffer goes back and forth, so memory stays flat.
  let buffer = new ArrayBuffer(Math.max(1, Math.min(PIECE, blob.size)));
  try {
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      signal.throwIfAborted();
      if (done || value === undefined) {
        return;
      }
      yield value;
      buffer = value.buffer;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function* sliced(blob: Blob, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < blob.size; at += PIECE) {
    const bytes = new Uint8Array(await blob.slice(at, at + PIECE).arrayBuffer());
    signal.throwIfAborted();
    yield bytes;
  }
}

/** Thrown for a server that would send the whole file. */
export class NoRanges extends Error {
  override name = 'NoRanges';
  constructor(host: string) {
    super(
      `${host} does not answer requests for a part of a file, or does not let this page see it ` +
        '(CORS must expose Content-Range). The file was not downloaded.',
    );
  }
}

export async function fromUrl(address: string, signal: AbortSignal): Promise<Source> {
  const url = new URL(address);
  if (url.protocol !== 'https:' && url.hostname !== 'localhost' && url.hostname !== '127.0.0.1') {
    throw new Error('Only https addresses can be opened.');
  }
  const name = decoded(url.pathname.split('/').pop() || url.hostname);
  // One byte tells the size; HEAD loses it where a proxy compresses.
  const probe = await request(url, 0n, 1n, signal);
  await probe.body?.cancel();
  const size = /^bytes 0-0\/(\d+)$/.exec(probe.headers.get('content-range') ?? '')?.[1];
  if (size === undefined) {
    throw new NoRanges(url.host);
  }
  const total = BigInt(size);
  async function* pieces(at: bigint, len: bigint, from?: AbortSignal): AsyncGenerator<Uint8Array> {
    const left = total > at ? total - at : 0n;
    const wanted = len < left ? len : left;
    if (wanted === 0n) {
      return;
    }
    const response = await request(url, at, wanted, from);
    const range = response.headers.get('content-range') ?? 'nothing';
    if (range !== `bytes ${at}-${at + wanted - 1n}/${total}`) {
      await response.body?.cancel();
      throw new Error(
        `${url.host} was asked for bytes ${at}-${at + wanted - 1n} of ${total} and gave ${range.slice(0, 80)}. ` +
          'The file may have changed: open it again.',
      );
    }
    let given = 0n;
    for await (const bytes of response.body!) {
      from?.throwIfAborted();
      given += BigInt(bytes.length);
      if (given > wanted) {
        break;
      }
      yield bytes;
    }
    if (given !== wanted) {
      const many = given > wanted ? 'more than' : `only ${given} of`;
      throw new Error(`${url.host} sent ${many} the ${wanted} bytes from offset ${at} on that it was asked for.`);
    }
  }
  return {
    name,
    size: total,
    remote: true,
    async read(at, len, from) {
      const bytes = new Uint8Array(len);
      let filled = 0;
      for await (const piece of pieces(at, BigInt(len), from)) {
        bytes.set(piece, filled);
        filled += piece.length;
      }
      return bytes.subarray(0, filled);
    },
    pieces,
  };
}

/** A part of an address as people write it; as it is where it is no UTF-8. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function request(url: URL, at: bigint, len: bigint, signal?: AbortSignal): Promise<Response> {
  const range = `bytes=${at}-${at + len - 1n}`;
  // With its own controller, a body that is not wanted can be dropped.
  const stop = new AbortController();
  const signals = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { range },
      signal: signals,
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`${url.host} could not be reached, or does not allow this page to read from it (CORS). ${error}`);
  }
  if (response.status === 206) {
    return response;
  }
  stop.abort();
  if (response.ok) {
    throw new NoRanges(url.host);
  }
  throw new Error(`${url.host} answered ${response.status} ${response.statusText}`);
}
