// Compiled, never run: a program that uses everything the types promise.

import { fromBlob, fromBytes, load, open, settle, stream } from '../dist/index.js';
import type { ByteSource, ComputeLibrary, Document, FullLibrary, Library, Summary, SummaryLibrary, Values, WeighbridgeError } from '../dist/index.js';

export async function everything(blob: Blob, signal: AbortSignal): Promise<Summary> {
  const source: ByteSource = fromBlob(blob);
  const document: Document = await open(source, { goal: 'structure', signal, progress: ({ stage }) => stage.trim() });
  const { valid, worst } = document.verdict('lenient');
  const rows = document.rows(0, 10, '-stored', { dtypes: ['f32'], least: 1n });
  const offsets: BigUint64Array = rows.offset;
  const values: Values = await settle(document, source, () => document.values(0, 0n, 8));
  const full: FullLibrary = await load('full');
  const compute: ComputeLibrary = await load('compute');
  const { summarise, template }: SummaryLibrary = await load('summary');
  const sums = new compute.Statistics(values.dtype, 'little', offsets[0]);
  await stream(document, source, 0, [sums], { signal });
  try {
    document.npy(0)?.header();
  } catch (error) {
    const { rule, offset } = error as WeighbridgeError;
    throw new Error(`${rule} at ${offset} ${valid} ${worst} ${full.flavour} ${summarise([document.digest()]).notes} ${template('').roles}`);
  }
  return sums.summary();
}

export async function mistakes(): Promise<void> {
  const library: Library = await load();
  const document = new library.Document(10n);
  document.supply(0, new Uint8Array(10));
  // @ts-expect-error a length is a number
  new library.Document('10');
  // @ts-expect-error no such column
  document.rows(0, 1, 'colour');
  // @ts-expect-error the small module does not compute
  library.Statistics;
  // @ts-expect-error bytes may be missing
  document.tensor(0).name;
  await open(fromBytes(new Uint8Array(0)));
}
