/** Regular expressions of users: one that goes on and on must stop nothing but itself. */

/** The name of the worker that tries them. */
export const EXPRESSION = 'expression';

/** Milliseconds for all names together: a hundred thousand take less than 100. */
const PATIENCE = 2000;

export interface Expression {
  source: string;
  flags: string;
  /** What is put in the place of what is found; without it, the answer is whether there is any. */
  replacement?: string;
  names: readonly string[];
}

export class Endless extends Error {
  override name = 'Endless';
}

let worker: Worker | undefined;
let tail: Promise<unknown> = Promise.resolve();

/** What becomes of each name. One expression is tried at a time. */
export function expressed(expression: Expression, signal: AbortSignal): Promise<(boolean | string)[]> {
  const turn = tail.then(() => attempt(expression, signal));
  tail = turn.catch(() => undefined);
  return turn;
}

function attempt(expression: Expression, signal: AbortSignal): Promise<(boolean | string)[]> {
  signal.throwIfAborted();
  // The script that runs here: nothing more has to be fetched.
  const here = (worker ??= new Worker(self.location.href, { type: 'module', name: EXPRESSION }));
  const listening = new AbortController();
  return new Promise<(boolean | string)[]>((resolve, reject) => {
    const give = (error: Error) => {
      here.terminate();
      worker = undefined;
      reject(error);
    };
    const { source, names } = expression;
    const why = `/${source}/ was stopped after ${PATIENCE / 1000} s on ${names.length} names: it tries too many ways to match. Nested repetitions like (a+)+ do`;
    const timer = setTimeout(() => give(new Endless(why)), PATIENCE);
    const options = { signal: listening.signal };
    listening.signal.addEventListener('abort', () => clearTimeout(timer));
    here.addEventListener('message', ({ data }: MessageEvent<(boolean | string)[]>) => resolve(data), options);
    here.addEventListener('error', ({ message }) => give(new Error(message || 'a worker stopped')), options);
    signal.addEventListener('abort', () => give(signal.reason as Error), options);
    here.postMessage(expression);
  }).finally(() => listening.abort());
}

/** Tries what this worker is given. */
export function serveExpression(): void {
  self.addEventListener('message', ({ data: { source, flags, replacement, names } }: MessageEvent<Expression>) => {
    const pattern = new RegExp(source, flags);
    self.postMessage(names.map((name) => (replacement === undefined ? pattern.test(name) : name.replace(pattern, replacement))));
  });
}
