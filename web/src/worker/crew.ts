/** Workers that measure stretches of a file in parallel. */

import type { Weights } from 'weighbridge';
import { GAUGE, type Order, type Reply } from './gauge.ts';
import type { Stretch } from './measure.ts';
import { FileChanged } from './sources.ts';

/** More workers would only wait for the disk. */
const MOST = 4;

/** Bytes below which starting a worker takes longer than the work. */
const WORTH = 24 << 20;

/** The number of workers worth starting for `bytes`; 0 if there is little to read. */
export function crewSize(bytes: number): number {
  const cores = Math.min(MOST, navigator.hardwareConcurrency || 1);
  return Math.min(cores, Math.floor(bytes / WORTH));
}

/** Measures all stretches, longest first. */
export function share(
  files: File[],
  stretches: readonly Stretch[],
  size: number,
  seed: bigint,
  signal: AbortSignal,
  give: (tensor: number, weights: Weights) => void,
  passed: (bytes: number) => void,
): Promise<void> {
  const queue = [...stretches].sort((a, b) => Number(a.len - b.len));
  const workers: Worker[] = [];
  return new Promise<void>((resolve, reject) => {
    let busy = 0;
    const next = (worker: Worker) => {
      const stretch = queue.pop();
      if (stretch !== undefined) {
        worker.postMessage({ stretch } satisfies Order);
      } else if (--busy === 0) {
        resolve();
      }
    };
    const abort = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', abort, { once: true });
    for (let i = 0; i < Math.min(size, stretches.length); i++) {
      // The running script itself: no further download is needed.
      const worker = new Worker(self.location.href, { type: 'module', name: GAUGE });
      workers.push(worker);
      worker.addEventListener('error', ({ message }) => reject(new Error(message || 'a worker stopped')));
      worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
        if ('weights' in data) {
          give(data.tensor, data.weights);
        } else if ('passed' in data) {
          passed(data.passed);
        } else if ('done' in data) {
          next(worker);
        } else {
          const { name, message } = data.failure;
          reject(name === 'FileChanged' ? new FileChanged(message) : new Error(message));
        }
      });
      worker.postMessage({ files, seed } satisfies Order);
      busy++;
      next(worker);
    }
  }).finally(() => workers.forEach((worker) => worker.terminate()));
}
