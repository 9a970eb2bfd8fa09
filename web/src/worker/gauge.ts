/** A worker that measures tensors, beside others: it has the file, and is told what to read. */

import { load, type Weights } from 'weighbridge';
import { measure, type Stretch } from './gauging.ts';
import { PATIENCE } from './patience.ts';
import { fromFile } from './sources.ts';

/** The name of such a worker. */
export const GAUGE = 'gauge';

export type Order = { file: File; seed: bigint } | { stretch: Stretch };

export type Reply =
  | { tensor: number; weights: Weights }
  | { passed: number }
  | { done: true }
  | { failure: { name: string; message: string } };

/** What is read at a time: several workers hold some of these each, until they are collected. */
const PIECE = 1 << 20;

let file: File;
let seed: bigint;
const never = new AbortController().signal;
const post = (reply: Reply) => self.postMessage(reply);

/** Does what this worker is told. */
export function serveGauge(): void {
  self.addEventListener('message', async ({ data }: MessageEvent<Order>) => {
    if ('file' in data) {
      ({ file, seed } = data);
      return;
    }
    try {
      const library = await load('full');
      const give = (tensor: number, weights: Weights) => post({ tensor, weights });
      await measure(library, fromFile(file, PATIENCE, PIECE), data.stretch, seed, never, give, (passed) => post({ passed }));
      post({ done: true });
    } catch (error) {
      const { name, message } = error as Error;
      post({ failure: { name, message } });
    }
  });
}
