/** Runs the user's regular expressions in a worker: one that never ends must block nothing else. */

import { count } from '../ui/format.ts';

/** The name of that worker. */
export const EXPRESSION = 'expression';

/** Milliseconds for all names together: 100,000 names take less than 100. */
const PATIENCE = 2000;

export interface Expression {
  source: string;
  flags: string;
  /** Replaces the match. Without it, the result is 1 for a match and 0 otherwise. */
  replacement?: string;
  names: readonly string[];
}

/** The names are sent to the worker only once. */
type Message = { names: readonly string[] } | Omit<Expression, 'names'>;

/** The result per name. */
export type Outcome = Uint8Array | string[];

export class Endless extends Error {
  override name = 'Endless';
}

let worker: Worker | undefined;
/** The names the worker has. */
let sent: readonly string[] | undefined;
let tail: Promise<unknown> = Promise.resolve();

/** Applies an expression to all names. Only one expression runs at a time. */
export function expressed(expression: Expression, signal: AbortSignal): Promise<Outcome> {
  const turn = tail.then(() => attempt(expression, signal));
  tail = turn.catch(() => undefined);
  return turn;
}

/** Starts the worker, which takes longer than most expressions, and sends it the names. */
export function prepareExpressions(names: readonly string[]): Worker {
  // The running script itself: no further download is needed.
  worker ??= new Worker(self.location.href, { type: 'module', name: EXPRESSION });
  if (sent !== names) {
    worker.postMessage({ names } satisfies Message);
    sent = names;
  }
  return worker;
}

function attempt({ names, ...expression }: Expression, signal: AbortSignal): Promise<Outcome> {
  signal.throwIfAborted();
  const here = prepareExpressions(names);
  const listening = new AbortController();
  return new Promise<Outcome>((resolve, reject) => {
    const give = (error: Error) => {
      here.terminate();
      worker = sent = undefined;
      reject(error);
    };
    const { source } = expression;
    const why = `/${source}/ was stopped after ${PATIENCE / 1000} s on ${count(names.length)} names: it backtracks too much. Avoid nested repetitions such as (a+)+`;
    const timer = setTimeout(() => give(new Endless(why)), PATIENCE);
    const options = { signal: listening.signal };
    listening.signal.addEventListener('abort', () => clearTimeout(timer));
    here.addEventListener('message', ({ data }: MessageEvent<Outcome>) => resolve(data), options);
    here.addEventListener('error', ({ message }) => give(new Error(message || 'a worker stopped')), options);
    signal.addEventListener('abort', () => give(signal.reason as Error), options);
    here.postMessage(expression satisfies Message);
  }).finally(() => listening.abort());
}

/** Runs the expressions sent to this worker. */
export function serveExpression(): void {
  let names: readonly string[] = [];
  self.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if ('names' in data) {
      names = data.names;
      return;
    }
    const { source, flags, replacement } = data;
    const pattern = new RegExp(source, flags);
    const outcome: Outcome = replacement === undefined ? Uint8Array.from(names, (name) => Number(pattern.test(name))) : names.map((name) => name.replace(pattern, replacement));
    self.postMessage(outcome);
  });
}
