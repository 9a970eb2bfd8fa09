/** A model with the files that its tensors name: their bytes follow its own. */

import { settle, type Document, type JointDocument } from 'weighbridge';
import type { Beside, Part } from './joint.ts';
import type { Context } from './rpc.ts';
import { inPieces, NotFound, type Source } from './sources.ts';
import { NOWHERE } from './text.ts';

/** Maximum number of other files that are opened. */
const MOST = 512;
/** Upper bound of the total size of all files. */
const LONGEST = 1n << 63n;

/** A file, and where it begins. */
interface Place {
  base: bigint;
  source: Source;
}

/** A file that a tensor names. */
interface Other {
  name: string;
  base: bigint;
  source: Source | undefined;
  why: string | undefined;
}

/** The files of a model: its own comes first. */
export class Appended {
  readonly #own: Source;
  readonly #document: Document;
  readonly #others: readonly Other[];
  /** Number of the file with the data of each tensor. */
  readonly #fileOf: Uint16Array;

  constructor(own: Source, document: Document, others: readonly Other[]) {
    this.#own = own;
    this.#document = document;
    this.#others = others;
    const { offset } = document.rows(0, document.tensorCount);
    this.#fileOf = Uint16Array.from(offset, (at) => (at === NOWHERE ? 0 : this.#number(at)));
  }

  /** The number of the file that contains a byte: 0 for the model itself. */
  #number(at: bigint): number {
    return this.#others.findLastIndex(({ base, source }) => source !== undefined && base <= at) + 1;
  }

  #member(number: number): { name: string; base: bigint } {
    return this.#others[number - 1] ?? { name: this.#own.name, base: 0n };
  }

  /** The file that contains a byte. */
  at(offset: bigint): { name: string; base: bigint } {
    return this.#member(this.#number(offset));
  }

  /** The file that contains the data of a tensor. */
  of(tensor: number): { name: string; base: bigint } {
    return this.#member(this.#fileOf[tensor] ?? 0);
  }

  /** The files, as the page shows them. */
  get files(): Part[] {
    const counts = new Uint32Array(this.#others.length + 1);
    this.#fileOf.forEach((number) => counts[number]++);
    const { valid } = this.#document.verdict();
    const part = ({ name, base, source, why }: Other, number: number): Part => {
      const state = source !== undefined ? 'open' : why === undefined ? 'missing' : 'unread';
      return { name, base, size: source?.size ?? 0n, state, why, valid: valid || number > 0, first: undefined, tensors: counts[number], listed: 0, found: 0 };
    };
    return [{ name: this.#own.name, base: 0n, source: this.#own, why: undefined }, ...this.#others].map(part);
  }
}

/** Appends the files that the tensors name; returns `undefined` if there are none. */
export async function appended(source: Source, document: Document, context: Context, beside: Beside): Promise<[Source, Appended] | undefined> {
  const { signal } = context;
  // The first module has no format whose data is in other files.
  const model = document as JointDocument;
  const apart = document.refused || model.otherFiles === undefined || !document.rows(0, document.tensorCount).offset.includes(NOWHERE);
  const names = apart ? [] : await settle(model, source, () => model.otherFiles(), { signal });
  if (names.length === 0) {
    return undefined;
  }
  const others: Other[] = [];
  for (const name of names) {
    others.push({ name, base: 0n, ...(await opened(name, others.length < MOST, beside, signal)) });
    context.progress({ label: `file ${others.length} of ${names.length}`, done: others.length / names.length });
  }
  const there = others.filter((one) => one.source !== undefined);
  let end = source.size;
  for (const one of there) {
    one.base = end;
    end += one.source!.size;
  }
  if (end >= LONGEST) {
    throw new Error('the sizes of its files are implausible');
  }
  model.attach(others.map(({ base, source: found }) => found && { base, length: found.size }));
  const all = together([{ base: 0n, source }, ...there.map((one) => ({ base: one.base, source: one.source! }))]);
  await settle(model, all, () => model.advance('index'), { signal });
  return [all, new Appended(source, model, others)];
}

async function opened(name: string, wanted: boolean, beside: Beside, signal: AbortSignal): Promise<Pick<Other, 'source' | 'why'>> {
  if (!wanted) {
    return { source: undefined, why: `at most ${MOST} files are opened` };
  }
  try {
    return { source: await beside.open(name), why: undefined };
  } catch (error) {
    signal.throwIfAborted();
    return { source: undefined, why: error instanceof NotFound ? undefined : (error as Error).message };
  }
}

/** Several files as one source. */
function together(places: readonly Place[]): Source {
  const [{ source: own }] = places;
  const place = (at: bigint) => places.findLast(({ base }) => base <= at)!;
  const read: Source['read'] = async (from, len, signal) => {
    const end = from + BigInt(len);
    const held = places.filter(({ base, source }) => base < end && base + source.size > from);
    const bytes = new Uint8Array(len);
    await Promise.all(
      held.map(async ({ base, source }) => {
        const first = base > from ? base : from;
        const stop = base + source.size < end ? base + source.size : end;
        bytes.set(await source.read(first - base, Number(stop - first), signal), Number(first - from));
      }),
    );
    return bytes;
  };
  const across = inPieces(read);
  return {
    name: own.name,
    parts: places.map(({ source }) => source),
    size: places.reduce((sum, { source }) => sum + source.size, 0n),
    remote: places.some(({ source }) => source.remote),
    read,
    pieces(from, len, signal) {
      const { base, source } = place(from);
      return from + len <= base + source.size ? source.pieces(from - base, len, signal) : across(from, len, signal);
    },
  };
}
