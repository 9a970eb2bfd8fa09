/** A file whose bytes somebody else reads: the worker asks for ranges, the owner answers. */

import { patiently } from './patience.ts';
import { PIECE, inPieces, type Source } from './sources.ts';

/** Something that is read by offset and length. */
export interface Ranges {
  readonly name?: string;
  readonly size: number;
  /** `length` bytes from `offset` on, never more than 4 MiB at a time; fewer mean that the file has changed. */
  read(offset: number, length: number): Promise<Uint8Array | ArrayBuffer>;
}

/** What the worker gets of it. */
export interface Offer {
  name: string;
  size: number;
  port: MessagePort;
}

interface Ask {
  id: number;
  offset: number;
  length: number;
}

type Answer = { id: number; bytes: Uint8Array | ArrayBuffer } | { id: number; failure: string };

/** The owner's end. */
export function offer(ranges: Ranges): Offer {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = async ({ data: { id, offset, length } }: MessageEvent<Ask>) => {
    let answer: Answer;
    try {
      answer = { id, bytes: await ranges.read(offset, length) };
    } catch (error) {
      answer = { id, failure: error instanceof Error ? error.message : String(error) };
    }
    port1.postMessage(answer);
  };
  return { name: ranges.name ?? 'file', size: ranges.size, port: port2 };
}

/** The worker's end. */
export function fromPort({ name, size, port }: Offer): Source {
  const waiting = new Map<number, (answer: Answer) => void>();
  let next = 0;
  port.onmessage = ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  async function ask(offset: number, length: number): Promise<Uint8Array> {
    const id = next++;
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      port.postMessage({ id, offset, length } satisfies Ask);
    });
    if ('failure' in answer) {
      throw new Error(answer.failure);
    }
    const bytes = new Uint8Array(answer.bytes);
    if (bytes.length > length) {
      throw new Error(`${bytes.length} bytes came from offset ${offset}, where ${length} were asked for.`);
    }
    return bytes;
  }
  const read: Source['read'] = async (at, len, signal) => {
    const bytes = new Uint8Array(len);
    for (let filled = 0; filled < len; ) {
      const wanted = Math.min(PIECE, len - filled);
      const offset = Number(at) + filled;
      const piece = await patiently(ask(offset, wanted), `Reading ${wanted} bytes at offset ${offset} of ${name}`, signal);
      bytes.set(piece, filled);
      filled += piece.length;
      if (piece.length < wanted) {
        return bytes.subarray(0, filled);
      }
    }
    return bytes;
  };
  return { name, size: BigInt(size), remote: false, read, pieces: inPieces(read) };
}
