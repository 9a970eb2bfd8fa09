/** A file whose bytes its owner reads: the worker requests ranges, the owner answers. */

import { PATIENCE, patiently } from './timeout.ts';
import { PIECE, inPieces, type Source } from './sources.ts';

/** A file that is read by offset and length. */
export interface Ranges {
  readonly name?: string;
  readonly size: number;
  /**
   * `length` bytes starting at `offset`, at most 4 MiB at a time; fewer mean that the file has
   * changed. `signal` is aborted once the bytes are no longer needed; a reader that can stop
   * should.
   */
  read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array | ArrayBuffer>;
  /** The file at this path, relative to the same folder, for multi-file models; `undefined` if missing. */
  beside?(name: string): Promise<Ranges | undefined>;
}

/** The file as it is sent to the worker. */
export interface Offer {
  name: string;
  size: number;
  /** Whether files next to it can be looked for. */
  looks: boolean;
  port: MessagePort;
}

/** A request for a range or a neighbouring file, or the cancellation of a request. */
type Ask = { id: number; offset: number; length: number } | { id: number; name: string } | { cancel: number };

type Answer = { id: number; bytes: Uint8Array | ArrayBuffer } | { id: number; beside: Offer | undefined } | { id: number; failure: string };

/** Maximum requests in flight; queued ones can be cancelled before the owner sees them. */
const AT_ONCE = 4;

/** The owner's end. */
export function offer(ranges: Ranges): Offer {
  const { port1, port2 } = new MessageChannel();
  const reading = new Map<number, AbortController>();
  port1.onmessage = async ({ data }: MessageEvent<Ask>) => {
    if ('cancel' in data) {
      reading.get(data.cancel)?.abort();
      return;
    }
    const { id } = data;
    const stop = new AbortController();
    reading.set(id, stop);
    let answer: Answer;
    try {
      if ('name' in data) {
        const found = await ranges.beside?.(data.name);
        answer = { id, beside: found && offer(found) };
      } else {
        answer = { id, bytes: await ranges.read(data.offset, data.length, stop.signal) };
      }
    } catch (error) {
      answer = { id, failure: error instanceof Error ? error.message : String(error) };
    }
    reading.delete(id);
    if (stop.signal.aborted) {
      answer = { id, failure: 'cancelled' };
    }
    port1.postMessage(answer, 'beside' in answer && answer.beside !== undefined ? [answer.beside.port] : []);
  };
  return { name: ranges.name ?? 'file', size: ranges.size, looks: ranges.beside !== undefined, port: port2 };
}

/** A source that can open neighbouring files. */
export interface Sibling extends Source {
  beside(name: string): Promise<Sibling | undefined>;
}

/** The worker's end. */
export function fromPort({ name, size, port, looks }: Offer): Sibling {
  const waiting = new Map<number, (answer: Answer) => void>();
  const queue: (() => void)[] = [];
  let next = 0;
  const go = () => {
    while (waiting.size < AT_ONCE && queue.length > 0) {
      queue.shift()!();
    }
  };
  port.onmessage = ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
    go();
  };
  /** Sends a request in turn, unless it is cancelled first. */
  async function ask(what: { offset: number; length: number } | { name: string }, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    const id = next++;
    let send!: () => void;
    const abort = () => {
      const at = queue.indexOf(send);
      if (at >= 0) {
        queue.splice(at, 1);
      } else {
        // It keeps its slot until the owner answers: some readers cannot stop.
        port.postMessage({ cancel: id } satisfies Ask);
        // A reader that never answers loses the slot after a while.
        setTimeout(() => waiting.delete(id) && go(), PATIENCE);
      }
    };
    signal?.addEventListener('abort', abort, { once: true });
    const answer = await new Promise<Answer>((resolve) => {
      send = () => {
        waiting.set(id, resolve);
        port.postMessage({ id, ...what } satisfies Ask);
      };
      queue.push(send);
      go();
    });
    signal?.removeEventListener('abort', abort);
    if ('failure' in answer) {
      throw new Error(answer.failure);
    }
    return answer;
  }
  async function range(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array> {
    const answer = await ask({ offset, length }, signal);
    const bytes = new Uint8Array('bytes' in answer ? answer.bytes : new ArrayBuffer());
    if (bytes.length > length) {
      throw new Error(`Received ${bytes.length} bytes at offset ${offset}, expected ${length}.`);
    }
    return bytes;
  }
  const read: Source['read'] = async (at, len, signal) => {
    const bytes = new Uint8Array(len);
    for (let filled = 0; filled < len; ) {
      const wanted = Math.min(PIECE, len - filled);
      const offset = Number(at) + filled;
      const stop = new AbortController();
      const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
      const piece = await patiently(range(offset, wanted, either), `Reading ${wanted} bytes at offset ${offset} of ${name}`, signal).finally(() => stop.abort());
      bytes.set(piece, filled);
      filled += piece.length;
      if (piece.length < wanted) {
        return bytes.subarray(0, filled);
      }
    }
    return bytes;
  };
  async function beside(name: string): Promise<Sibling | undefined> {
    const answer = await patiently(ask({ name }), `Looking for ${name}`);
    return 'beside' in answer && answer.beside !== undefined ? fromPort(answer.beside) : undefined;
  }
  return { name, size: BigInt(size), remote: false, looks, read, pieces: inPieces(read), beside };
}
