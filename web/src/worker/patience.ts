/** Waiting, but not for ever. */

/** Longer than this no read takes that still goes on, in milliseconds. */
export const PATIENCE = 60_000;

/**
 * What `promise` gives. It is given up when `signal` is aborted, and when
 * nothing has come after `patience`: `what` says what was waited for.
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
