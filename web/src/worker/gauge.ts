/**
 * A worker that measures tensors in parallel with others: it has the files and is told what to
 * read.
 */

import { load, type Weights } from 'weighbridge';
import { measure, type Stretch } from './measure.ts';
import { PATIENCE } from './timeout.ts';
import { concatenated, fromFile, type Source } from './sources.ts';

/** The name of such a worker. */
export const GAUGE = 'gauge';

export type Order = { files: File[]; seed: bigint } | { stretch: Stretch };

export type Reply =
  | { tensor: number; weights: Weights }
  | { passed: number }
  | { done: true }
  | { failure: { name: string; message: string } };

/** Bytes per read: several workers hold three of these each. */
const PIECE = 2 << 20;

let source: Source;
let seed: bigint;
const never = new AbortController().signal;
const post = (reply: Reply) => self.postMessage(reply);

/** Handles this worker's orders. */
export function serveGauge(): void {
  self.addEventListener('message', async ({ data }: MessageEvent<Order>) => {
    if ('files' in data) {
      source = concatenated('', data.files.map((file) => fromFile(file, PATIENCE, PIECE, 2)));
      seed = data.seed;
      return;
    }
    try {
      const library = await load('compute');
      const give = (tensor: number, weights: Weights) => post({ tensor, weights });
      await measure(library, source, data.stretch, seed, never, give, (passed) => post({ passed }));
      post({ done: true });
    } catch (error) {
      const { name, message } = error as Error;
      post({ failure: { name, message } });
    }
  });
}
