/** Waiting with a time limit. */

/** Milliseconds after which a read is considered stuck. */
export const PATIENCE = 60_000;

/**
 * Settles like `promise`. Rejects if `signal` is aborted or after `patience` milliseconds; `what`
 * names the operation in the error.
 */
export function patiently<T>(promise: Promise<T>, what: string, signal?: AbortSignal, patience = PATIENCE): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = () => {
      stop();
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`${what} took longer than ${Math.ceil(patience / 1000)} s.`));
    }, patience);
    promise.then(resolve, reject).finally(stop);
    if (signal?.aborted) {
      abort();
    } else {
      signal?.addEventListener('abort', abort, { once: true });
    }
  });
}
