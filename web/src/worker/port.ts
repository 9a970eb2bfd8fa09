/** A file whose bytes somebody else reads: the worker asks for ranges, the owner answers. */

import { PATIENCE, patiently } from './patience.ts';
import { PIECE, inPieces, type Source } from './sources.ts';

/** Something that is read by offset and length. */
export interface Ranges {
  readonly name?: string;
  readonly size: number;
  /**
   * `length` bytes from `offset` on, never more than 4 MiB at a time; fewer mean that the file has
   * changed. `signal` is aborted once they are no longer waited for: whoever can stops then.
   */
  read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array | ArrayBuffer>;
  /** The file of this name in the same folder, for a model in several; `undefined` if there is none. */
  beside?(name: string): Promise<Ranges | undefined>;
}

/** What the worker gets of it. */
export interface Offer {
  name: string;
  size: number;
  /** Whether files beside it can be looked for. */
  looks: boolean;
  port: MessagePort;
}

/** A range, a file beside this one, or that an answer is not waited for any more. */
type Ask = { id: number; offset: number; length: number } | { id: number; name: string } | { cancel: number };

type Answer = { id: number; bytes: Uint8Array | ArrayBuffer } | { id: number; beside: Offer | undefined } | { id: number; failure: string };

/** What the owner is asked for at once: what waits longer can be given up before it hears of it. */
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

/** A source that knows what lies beside it. */
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
  /** Asks when it is its turn, unless it is given up before. */
  async function ask(what: { offset: number; length: number } | { name: string }, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    const id = next++;
    let send!: () => void;
    const abort = () => {
      const at = queue.indexOf(send);
      if (at >= 0) {
        queue.splice(at, 1);
      } else {
        // It has its place until the owner is through with it: some cannot stop.
        port.postMessage({ cancel: id } satisfies Ask);
        // Who never answers does not keep it.
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
