/** Streams a tensor's decoded data in constant memory. */

import type { Context } from './rpc.ts';
import type { Session } from './session.ts';

/** Chunks per request. */
const PAGE = 256;
/** Stored bytes decoded before waiting for the consumer. */
const STEP = 16 << 10;

/** Calls `take` with the decoded bytes of a tensor, in order. */
export async function scan(
  session: Session,
  tensor: number,
  context: Context,
  label: string,
  take: (bytes: Uint8Array) => void,
  /** Called with the stored bytes. */
  watch?: (bytes: Uint8Array) => void,
  /** Awaited before more is read. */
  settled?: () => Promise<void>,
): Promise<void> {
  const { stored } = await details(session, tensor, context);
  let passed = 0n;
  const report = (bytes: Uint8Array) => {
    passed += BigInt(bytes.length);
    context.progress({ label, done: stored === 0n ? 1 : Number(passed) / Number(stored), bytes: Number(stored) });
  };
  for (let from = 0; ; from += PAGE) {
    const page = await session.settle(
      () => session.document.chunks(tensor, from, from + PAGE),
      context,
    );
    for (let i = 0; i < page.offset.length; i++) {
      // Raw chunks need no decoder.
      if (session.word(page.encoding[i]) === 'raw') {
        for await (const bytes of session.source.pieces(page.offset[i], page.stored[i], context.signal)) {
          watch?.(bytes);
          take(bytes);
          await settled?.();
          report(bytes);
        }
        continue;
      }
      const decoder = await session.settle(
        () => session.document.decoder(tensor, from + i),
        context,
      );
      try {
        const { offset, stored } = decoder;
        for await (const bytes of session.source.pieces(offset, stored, context.signal)) {
          watch?.(bytes);
          // Little data may decode to much, and all of it waits for the consumer.
          const step = settled === undefined ? bytes.length : STEP;
          for (let at = 0; at < bytes.length; at += step) {
            decoder.push(bytes.subarray(at, at + step), take);
            await settled?.();
          }
          report(bytes);
        }
        decoder.finish();
      } finally {
        decoder.free();
      }
    }
    if (BigInt(from + PAGE) >= page.total) {
      return;
    }
  }
}

/** Bits per element according to the type's name; approximate where elements share scales. */
export function bitsOf(dtype: string): number {
  if (dtype.startsWith('f8') || dtype === 'bool') {
    return 8;
  }
  const bits = /^(?:bf|[cfiut]|[it]?q|[mn][xv]fp)(\d+)(?:_\w+|e\dm\d)?$/.exec(dtype)?.[1];
  return bits === undefined ? 64 : Number(bits);
}

/** The details of a tensor. */
export function details(session: Session, tensor: number, context: Context) {
  return session.settle(() => session.document.tensor(tensor), context);
}

/** Bytes per call of `take`: they stay in the cache. */
const SLICE = 256 << 10;

/**
 * Calls `take` with the decoded bytes `from..to` of a tensor. If the tensor is one raw chunk, reads
 * only those; otherwise streams it up to `to`.
 */
export async function scanBytes(
  session: Session,
  tensor: number,
  from: bigint,
  to: bigint,
  context: Context,
  label: string,
  take: (bytes: Uint8Array) => void,
): Promise<void> {
  const page = await session.settle(() => session.document.chunks(tensor, 0, 2), context);
  if (page.total === 1n && session.word(page.encoding[0]) === 'raw') {
    let passed = 0;
    const total = Number(to - from) || 1;
    for await (const bytes of session.source.pieces(page.offset[0] + from, to - from, context.signal)) {
      for (let start = 0; start < bytes.length; start += SLICE) {
        take(bytes.subarray(start, start + SLICE));
      }
      passed += bytes.length;
      context.progress({ label, done: passed / total, bytes: total });
    }
    return;
  }
  let at = 0n;
  const done = new AbortController();
  const inner = { ...context, signal: AbortSignal.any([context.signal, done.signal]) };
  try {
    await scan(session, tensor, inner, label, (bytes) => {
      const next = at + BigInt(bytes.length);
      if (next > from && at < to) {
        const start = from > at ? Number(from - at) : 0;
        const end = to < next ? Number(to - at) : bytes.length;
        take(bytes.subarray(start, end));
      }
      at = next;
      if (at >= to) {
        done.abort();
      }
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (!done.signal.aborted) {
      throw error;
    }
  }
}
