/** The sweep: reads all weights of a file once and records measurements of them. */

import type { Weights } from 'weighbridge';
import { accessOf } from '../storage.ts';
import { crewSize, share } from './crew.ts';
import { TooLong, bytesOf, entries, nameOf, rowElements } from './elements.ts';
import { gaugeOf, measure, type Part, type Stretch } from './measure.ts';
import type { Context } from './rpc.ts';
import { details, scan } from './scan.ts';
import { computing, session, type Session } from './session.ts';
import { FileChanged, touch } from './sources.ts';
import { NOWHERE } from './text.ts';
import { begin, type Measurements } from './weights.ts';

/** Index rows processed together. */
const PAGE = 4096;
/** Tensors at most this far apart are read together, including the bytes between them. */
const CLOSE = 64n << 10n;
/** Maximum length of a stretch of several tensors. */
const STRETCH = 16n << 20n;

interface Plan {
  stretches: Stretch[];
  /** Tensors that are not a single raw chunk of dense elements. */
  others: number[];
  bytes: number;
}

/** Measures what has not been measured yet. Results of a cancelled sweep are kept. */
export async function sweep(context: Context, id: number): Promise<void> {
  const file = session(id);
  const found = begin(file, await computing());
  const { stretches, others, bytes } = await plan(file, found, context);
  let done = 0;
  const passed = (more: number) => {
    done += more;
    context.progress({ label: 'reading', done: bytes === 0 ? undefined : Math.min(1, done / bytes), bytes });
  };
  const give = (tensor: number, weights: Weights) => found.add(tensor, weights);
  const raw = stretches.reduce((sum, { len }) => sum + Number(len), 0);
  const files = (file.source.parts ?? [file.source]).map((one) => one.file);
  const size = files.includes(undefined) ? 0 : crewSize(raw);
  // If one half fails or is cancelled, stop the other half too.
  const stop = new AbortController();
  const inner = { ...context, signal: AbortSignal.any([context.signal, stop.signal]), progress: () => undefined };
  const plain = async () => {
    if (size > 0) {
      await share(files as File[], stretches, size, found.seed, inner.signal, give, passed);
      return;
    }
    for (const stretch of stretches) {
      await measure(found.library, file.source, stretch, found.seed, inner.signal, give, passed);
    }
  };
  const made = async () => {
    for (const tensor of others) {
      await other(file, found, tensor, inner, passed);
    }
  };
  try {
    await Promise.all([plain(), made()]);
  } catch (error) {
    stop.abort();
    if (error instanceof FileChanged) {
      // Read the file through the observed source, which notifies the page.
      await touch(file.source).catch(() => undefined);
    }
    throw error;
  }
}

/** Plans the reads, in file order. */
async function plan(file: Session, found: Measurements, context: Context): Promise<Plan> {
  const { document } = file;
  const parts: Part[] = [];
  const others: number[] = [];
  let bytes = 0;
  for (let from = 0; from < document.tensorCount; from += PAGE) {
    const page = document.rows(from, from + PAGE);
    for (let i = 0; i < page.index.length; i++) {
      const tensor = page.index[i];
      if (found.has(tensor)) {
        continue;
      }
      const [dtype, layout] = [file.word(page.dtype[i]), file.word(page.layout[i])];
      const access = accessOf({ dtype, layout });
      const status = file.word(page.status[i]);
      if (status !== 'sound' || access === undefined) {
        found.skip(tensor, status === 'sound' ? `elements of ${dtype} in ${layout} layout cannot be read as numbers` : `its entry is ${status}`);
        continue;
      }
      bytes += Number(page.stored[i]);
      const plain = access === 'dense' && file.word(page.encoding[i]) === 'raw' && page.chunks[i] === 1n && page.stored[i] > 0n;
      if (!plain) {
        others.push(tensor);
        continue;
      }
      const dims = page.dims.subarray(i === 0 ? 0 : page.dimEnds[i - 1], page.dimEnds[i]);
      parts.push({
        tensor,
        at: page.offset[i],
        len: page.stored[i],
        dtype,
        endianness: page.big[i] === 1 ? 'big' : 'little',
        elements: page.elements[i],
        rows: rowsOf(layout, dims),
        place: placeOf(page.offset[i] - (file.set?.of(tensor).base ?? 0n), page.stored[i], layout, dims),
        base: file.set?.of(tensor).base,
      });
    }
    context.signal.throwIfAborted();
    // Lets the page make other calls in between.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { stretches: stretched(parts), others, bytes };
}

/** The extent of the first axis, if its rows are contiguous; otherwise 0. */
function rowsOf(layout: string, dims: BigUint64Array): bigint {
  return layout === 'row-major' && dims.length > 1 && dims[0] !== NOWHERE ? dims[0] : 0n;
}

/** Where the data begins in its file, and the bytes of a row: of the last axis of a matrix, and of all axes after the second of other tensors. */
function placeOf(offset: bigint, len: bigint, layout: string, dims: BigUint64Array): Part['place'] {
  const lead = dims.length < 2 ? dims.subarray(0, 0) : dims.subarray(0, dims.length === 2 ? 1 : 2);
  const rows = lead.reduce((product, extent) => product * extent, 1n);
  const known = layout === 'row-major' && !dims.includes(NOWHERE) && rows > 0n && len % rows === 0n;
  return known ? { offset, row: len / rows } : undefined;
}

/** Merges neighbours into stretches. */
function stretched(parts: Part[]): Stretch[] {
  const stretches: Stretch[] = [];
  parts.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.tensor - b.tensor));
  for (const part of parts) {
    const last = stretches.at(-1);
    const end = last && last.at + last.len;
    const stop = part.at + part.len;
    if (last !== undefined && part.base === last.parts[0].base && part.at >= end! && part.at - end! <= CLOSE && stop - last.at <= STRETCH) {
      last.parts.push(part);
      last.len = stop - last.at;
    } else {
      stretches.push({ at: part.at, len: part.len, parts: [part] });
    }
  }
  return stretches;
}

/** Measures a tensor that has to be decoded. */
async function other(file: Session, found: Measurements, tensor: number, context: Context, passed: (bytes: number) => void): Promise<void> {
  const about = await details(file, tensor, context);
  const access = accessOf(about)!;
  const dense = access === 'dense';
  try {
    const gauge = gaugeOf(
      found.library,
      {
        // Elements that have to be decoded come in their in-memory type.
        dtype: dense ? about.dtype : nameOf((await file.settle(() => file.document.values(tensor, 0n, 0), context)).data),
        endianness: dense ? (about.endianness as 'little' | 'big') : 'little',
        elements: dense ? about.elements : NOWHERE,
        rows: dense ? rowsOf(about.layout, about.shape) : 0n,
      },
      found.seed,
    );
    try {
      if (dense) {
        await scan(file, tensor, context, '', (bytes) => gauge.push(bytes));
      } else if (access === 'rows') {
        await rowElements(file, tensor, context, '', (data) => gauge.push(bytesOf(data)));
      } else {
        await entries(file, tensor, context, (data) => gauge.push(bytesOf(data)));
      }
      const weights = gauge.weights();
      found.add(tensor, access === 'entries' ? ofStored(weights, found.faults) : weights);
    } finally {
      gauge.free();
    }
  } catch (error) {
    context.signal.throwIfAborted();
    // A read may succeed later, but a decoding error is permanent and does not affect other
    // tensors.
    if (!(error instanceof TooLong) && (error as Error).name !== 'WeighbridgeError') {
      throw error;
    }
    found.skip(tensor, (error as Error).message);
  }
  passed(Number(about.stored));
}

/** The measurements of the stored entries that also hold with the zeros of a sparse tensor. */
function ofStored(weights: Weights, faults: number): Weights {
  return {
    ...weights,
    min: NaN,
    max: NaN,
    mean: NaN,
    deviation: NaN,
    zeros: NaN,
    outlier: NaN,
    signs: weights.signs & faults,
    digest: undefined,
    firstNan: undefined,
    firstInfinity: undefined,
  };
}
