/** Calls into the worker, with cancellation and progress. */

import { UNFETCHED } from './code.ts';

export interface Context {
  readonly signal: AbortSignal;
  /** Reports progress to the page, at most every 50 ms. */
  progress(report: Report): void;
}

export interface Report {
  /** The current step. */
  label: string;
  /** From 0 to 1; `undefined` if unknown. */
  done: number | undefined;
  /** Bytes to read in all, if `done` is a share of them. */
  bytes?: number;
}

export type Request = { id: number; method: string; args: unknown[] } | { cancel: number };

/** A message that the worker sends without a request. */
export interface Notice {
  /** The number of a file that has changed since it was opened, and the reason. */
  changed: number;
  message: string;
}

/** Milliseconds after which a call without a listener for its progress counts as slow. */
const SLOW = 10_000;

/** Prefix of the names of locks that workers hold as long as they run. */
const ALIVE = 'weighbridge-worker-';

export type Response =
  | { alive: string }
  | { event: Notice }
  | { id: number; progress: Report }
  | { id: number; result: unknown }
  | { id: number; failure: Failure };

/** The part of an error that is transferred. */
export interface Failure {
  name: string;
  message: string;
  rule?: string;
  offset?: bigint;
  entry?: string;
}

type Handler = (context: Context, ...args: never[]) => unknown;

/** Sends the page a notice. */
export function tell(event: Notice): void {
  self.postMessage({ event } satisfies Response);
}

/**
 * Holds a lock until this worker ends. A worker may end without an event for its page, but the
 * browser then gives the lock to the page that waits for it.
 */
function live(): void {
  // Some pages have no locks: those without https, and sandboxed ones.
  const alive = ALIVE + Math.random();
  navigator.locks
    ?.request(alive, () => {
      self.postMessage({ alive } satisfies Response);
      // The listener keeps the promise: the browser may release the lock of one that nothing can resolve.
      return new Promise((resolve) => self.addEventListener('close', resolve));
    })
    .catch(() => undefined);
}

/** Answers requests with the functions of `api`. */
export function serve(api: Record<string, Handler>): void {
  live();
  const running = new Map<number, AbortController>();
  const post = (response: Response) => self.postMessage(response);
  self.addEventListener('message', async (event: MessageEvent<Request>) => {
    const request = event.data;
    if ('cancel' in request) {
      running.get(request.cancel)?.abort();
      return;
    }
    const { id, method, args } = request;
    const controller = new AbortController();
    running.set(id, controller);
    let last = 0;
    const context: Context = {
      signal: controller.signal,
      progress(report) {
        const now = performance.now();
        if (now - last >= 50) {
          last = now;
          post({ id, progress: report });
        }
      },
    };
    try {
      post({ id, result: await api[method](context, ...(args as never[])) });
    } catch (error) {
      post({ id, failure: toFailure(error) });
    } finally {
      running.delete(id);
    }
  });
}

function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error) };
  }
  const { name, message, rule, offset, entry, module } = error as Error & Failure & { module?: string };
  return { name, message: module === undefined ? message : UNFETCHED, rule, offset, entry };
}

/** A worker's functions as the page calls them. */
export type Remote<T> = {
  [K in keyof T]: T[K] extends (context: Context, ...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export interface CallOptions {
  signal?: AbortSignal;
  progress?: (report: Report) => void;
}

/** The page's end. */
export class Client<T> {
  readonly #waiting = new Map<number, Waiting>();
  readonly #start: () => Worker;
  readonly #onCrash: (message: string) => void;
  readonly #onEvent: (event: Notice) => void;
  readonly #onSlow: (call: Promise<unknown>) => void;
  #worker!: Worker;
  #next = 1;
  /** Aborted when the worker is no longer used. */
  #stop = new AbortController();
  /** Whether the worker ended by itself. */
  #ended = false;
  /** All functions, without options. */
  readonly api: Remote<T>;

  /**
   * `onCrash` is called when the worker fails or ends by itself, and on each call after that; `onSlow`
   * for a call that takes over 10 seconds and shows no progress of its own.
   */
  constructor(start: () => Worker, onCrash: (message: string) => void, onEvent: (event: Notice) => void, onSlow: (call: Promise<unknown>) => void) {
    this.#start = start;
    this.#onCrash = onCrash;
    this.#onEvent = onEvent;
    this.#onSlow = onSlow;
    this.api = this.with({});
    this.restart();
  }

  /** Starts the worker anew. Its files have to be opened again. */
  restart(): void {
    this.stop();
    this.#ended = false;
    this.#stop = new AbortController();
    this.#worker = this.#start();
    const { signal } = this.#stop;
    const take = ({ data }: MessageEvent<Response>) => ('event' in data ? this.#onEvent(data.event) : 'alive' in data ? void this.#watch(data.alive, signal) : this.#take(data));
    this.#worker.addEventListener('message', take, { signal });
    this.#worker.addEventListener('error', ({ message }) => this.#onCrash(message || 'it could not be loaded'), { signal });
  }

  /** Ends the worker and all calls. */
  stop(): void {
    this.#stop.abort();
    (this.#worker as Worker | undefined)?.terminate();
    this.#end();
  }

  /** Waits for the lock that the worker holds. */
  async #watch(alive: string, signal: AbortSignal): Promise<void> {
    const ended = await navigator.locks.request(alive, { signal }, () => true).catch(() => false);
    if (ended && !signal.aborted) {
      this.#ended = true;
      this.#stop.abort();
      this.#end();
      this.#onCrash('it has ended');
    }
  }

  /** Ends calls that can be cancelled: nothing will answer them. */
  #end(): void {
    for (const [id, { settle, reject, cancellable }] of this.#waiting) {
      if (cancellable) {
        this.#waiting.delete(id);
        settle();
        reject(aborted());
      }
    }
  }

  /** All functions, with a signal or a progress listener. */
  with(options: CallOptions): Remote<T> {
    return new Proxy({} as Remote<T>, {
      get:
        (_, method: string) =>
        (...args: unknown[]) =>
          this.#call(method, args, options),
    });
  }

  #call(method: string, args: unknown[], options: CallOptions): Promise<unknown> {
    const call = this.#send(method, args, options);
    if (options.progress === undefined) {
      const timer = setTimeout(() => this.#onSlow(call), SLOW);
      const stop = () => clearTimeout(timer);
      call.then(stop, stop);
    }
    return call;
  }

  #send(method: string, args: unknown[], { signal, progress }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(aborted());
        return;
      }
      if (this.#stop.signal.aborted) {
        // After `stop`, nobody waits for an answer.
        if (this.#ended) {
          this.#onCrash('it has ended');
        }
        if (signal !== undefined) {
          reject(aborted());
        }
        return;
      }
      const id = this.#next++;
      const cancel = () => {
        this.#worker.postMessage({ cancel: id });
        this.#waiting.delete(id);
        reject(aborted());
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const settle = () => signal?.removeEventListener('abort', cancel);
      this.#waiting.set(id, { resolve, reject, progress, settle, cancellable: signal !== undefined });
      this.#worker.postMessage({ id, method, args }, ports(args));
    });
  }

  #take(response: Exclude<Response, { event: Notice } | { alive: string }>): void {
    const waiting = this.#waiting.get(response.id);
    if (waiting === undefined) {
      return;
    }
    if ('progress' in response) {
      waiting.progress?.(response.progress);
      return;
    }
    this.#waiting.delete(response.id);
    waiting.settle();
    if ('failure' in response) {
      waiting.reject(Object.assign(new Error(response.failure.message), response.failure));
    } else {
      waiting.resolve(response.result);
    }
  }
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  progress: ((report: Report) => void) | undefined;
  settle(): void;
  cancellable: boolean;
}

/** Ports to transfer. */
function ports(args: unknown[]): MessagePort[] {
  return args.map((one) => (one as { port?: MessagePort } | undefined)?.port).filter((port) => port !== undefined);
}

function aborted(): DOMException {
  return new DOMException('cancelled', 'AbortError');
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
