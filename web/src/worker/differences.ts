/** Compares many pairs of tensors in one call: small ones are read together. */

import type { Tensor } from 'weighbridge';
import { difference, type DifferenceResult, type Read } from './jobs.ts';
import { isAbort, type Context } from './rpc.ts';
import { details } from './scan.ts';
import { session } from './session.ts';
import type { Source } from './sources.ts';

/** Tensors up to this size are read together with others. */
const SMALL = 64n << 10n;
/** Parts at most this far apart are read together, including the bytes between them. */
const CLOSE = 64n << 10n;
/** Maximum bytes of a read. */
const LONGEST = 4n << 20n;

/** The result of a pair, or why it has none. */
export type Outcome = DifferenceResult | { failure: string };

interface Span {
  at: bigint;
  len: bigint;
}

/** Compares pairs in order. A pair that cannot be compared does not affect the others. */
export async function differences(context: Context, a: number, b: number, pairs: readonly [number, number][]): Promise<Outcome[]> {
  const read = await Promise.all([ahead(context, a, pairs.map(([tensor]) => tensor)), ahead(context, b, pairs.map(([, tensor]) => tensor))]);
  const quiet = pairs.length === 1 ? context : { ...context, progress: () => undefined };
  const found: Outcome[] = [];
  for (const [tensorA, tensorB] of pairs) {
    context.signal.throwIfAborted();
    try {
      found.push(await difference(quiet, a, tensorA, b, tensorB, read));
    } catch (error) {
      if (isAbort(error) || context.signal.aborted) {
        throw error;
      }
      found.push({ failure: (error as Error).message });
    }
  }
  return found;
}

/** Reads the entries and the bytes of small tensors; of a single one, nothing. */
async function ahead(context: Context, id: number, tensors: readonly number[]): Promise<Read | undefined> {
  const file = session(id);
  const { source } = file;
  if (tensors.length < 2) {
    return undefined;
  }
  const known = new Map<number, Tensor>();
  const wanted: Span[] = [];
  for (const tensor of tensors) {
    const about = await details(file, tensor, context);
    const { offset, status, stored } = about;
    known.set(tensor, about);
    if (status === 'sound' && offset !== undefined && stored > 0n && stored <= SMALL) {
      wanted.push({ at: offset, len: stored });
    }
  }
  const spans = joined(wanted, (at) => file.set?.at(at).base);
  const held = await Promise.all(spans.map(async ({ at, len }) => ({ at, bytes: await source.read(at, Number(len), context.signal) })));
  const pieces: Source['pieces'] = async function* (at, len, signal) {
    const span = held.find(({ at: start, bytes }) => start <= at && at + len <= start + BigInt(bytes.length));
    if (span === undefined) {
      yield* source.pieces(at, len, signal);
    } else {
      const from = Number(at - span.at);
      yield span.bytes.subarray(from, from + Number(len));
    }
  };
  return { source: { ...source, pieces }, details: known };
}

/** Merges neighbours of the same file. */
function joined(spans: Span[], fileOf: (at: bigint) => bigint | undefined): Span[] {
  const all: Span[] = [];
  spans.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
  for (const { at, len } of spans) {
    const last = all.at(-1);
    const stop = at + len;
    if (last !== undefined && at - (last.at + last.len) <= CLOSE && stop - last.at <= LONGEST && fileOf(last.at) === fileOf(at)) {
      last.len = stop > last.at + last.len ? stop - last.at : last.len;
    } else {
      all.push({ at, len });
    }
  }
  return all;
}
