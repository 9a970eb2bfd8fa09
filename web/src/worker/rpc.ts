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
}

export type Request = { id: number; method: string; args: unknown[] } | { cancel: number };

/** A message that the worker sends without a request. */
export interface Notice {
  /** The number of a file that has changed since it was opened, and the reason. */
  changed: number;
  message: string;
}

export type Response =
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

/** Answers requests with the functions of `api`. */
export function serve(api: Record<string, Handler>): void {
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
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;
  /** All functions, without options. */
  readonly api: Remote<T>;

  constructor(worker: Worker, onCrash: (message: string) => void, onEvent: (event: Notice) => void) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<Response>) => ('event' in data ? onEvent(data.event) : this.#take(data)));
    worker.addEventListener('error', (event) => onCrash(event.message || 'the worker stopped'));
    this.api = this.with({});
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

  #call(method: string, args: unknown[], { signal, progress }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(aborted());
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
      this.#waiting.set(id, { resolve, reject, progress, settle });
      this.#worker.postMessage({ id, method, args }, ports(args));
    });
  }

  #take(response: Exclude<Response, { event: Notice }>): void {
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
