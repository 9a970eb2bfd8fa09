/** Running tasks at the foot of the page, each with a cancel button. */

import { isAbort, type CallOptions, type Report } from '../worker/rpc.ts';
import { button, h, icon, setText } from './dom.ts';
import { Pace } from './pace.ts';

/** Milliseconds before progress is shown: below this it would only flicker. */
const PATIENCE = 200;
/** Seconds that a call has taken before `wait` is told. */
const SLOW = 10;
/** Maximum number of failures shown. */
const FAILURES = 5;

export class Tasks {
  readonly element = h('div', { class: 'tasks' });
  /** Read out by screen readers. */
  readonly spoken = h('p', { class: 'visually-hidden', role: 'status' });
  readonly #alert = h('div', { class: 'alert', role: 'alert', hidden: true });
  readonly #note = h('p', { class: 'task-label task-note' });
  #failures: string[] = [];
  /** Called if the question that is shown is not answered with yes. */
  #refused: (() => void) | undefined;
  /** Moves the focus away from a button that is being removed. */
  readonly #leave: () => void;
  readonly #running = new Set<AbortController>();

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  get alert(): HTMLElement {
    return this.#alert;
  }

  say(text: string): void {
    setText(this.spoken, text);
  }

  /** Shows a failure until it is dismissed, below the previous ones. */
  fail(text: string): void {
    this.#failures = [...this.#failures.filter((other) => other !== text), text].slice(-FAILURES);
    this.#show(
      icon('fatal'),
      h('div', {}, ...this.#failures.map((failure) => h('p', {}, failure))),
      button('Dismiss', () => this.dismiss()),
    );
  }

  /** Asks for confirmation before `action`; calls `refused` if the question goes without it. */
  ask(text: string, yes: string, action: () => void, refused: () => void): void {
    this.#failures = [];
    const confirm = () => {
      this.#refused = undefined;
      this.dismiss();
      action();
    };
    this.#show(icon('lint'), h('div', {}, h('bdi', {}, text)), button(yes, confirm), button('Dismiss', () => this.dismiss()));
    this.#refused = refused;
  }

  /** Shows a line at the foot of the page until it is dismissed. */
  note(text: string): void {
    this.#note.textContent = text;
    this.#note.title = text;
    this.element.append(this.#note);
    this.say(text);
  }

  dismiss(): void {
    this.#failures = [];
    this.#note.remove();
    this.#show();
  }

  /** Replaces the contents of the alert. */
  #show(...contents: Element[]): void {
    const held = this.#alert.matches(':focus-within');
    this.#alert.hidden = contents.length === 0;
    this.#alert.replaceChildren(...contents);
    if (held && contents.length === 0) {
      this.#leave();
    } else if (held) {
      // Never the button that answers yes.
      this.#alert.querySelector<HTMLElement>('button:last-of-type')!.focus();
    }
    const refused = this.#refused;
    this.#refused = undefined;
    refused?.();
  }

  /** Shows for how long a call has taken that reports nothing, until it ends. */
  wait(call: Promise<unknown>): void {
    const begun = performance.now();
    const text = h('span', { class: 'task-label' });
    const item = h('div', { class: 'task' }, text, h('progress', { 'aria-label': 'Reading' }));
    const draw = () => setText(text, `Still reading, ${Math.round(SLOW + (performance.now() - begun) / 1000)} s`);
    draw();
    this.element.append(item);
    this.say('Still reading');
    const timer = setInterval(draw, 1000);
    const end = () => {
      clearInterval(timer);
      item.remove();
    };
    call.then(end, end);
  }

  /** Cancels all tasks and returns whether there were any. */
  cancelAll(): boolean {
    const some = this.#running.size > 0;
    this.#running.forEach((controller) => controller.abort());
    return some;
  }

  /**
   * Runs `work` and shows its progress if it takes long. Returns `undefined` if it was cancelled
   * (or `outer` is aborted) or failed; a failure has then been shown to the user.
   */
  async run<T>(
    label: string,
    work: (options: Required<CallOptions>) => Promise<T>,
    outer?: AbortSignal,
  ): Promise<T | undefined> {
    if (outer?.aborted) {
      return undefined;
    }
    const controller = new AbortController();
    const abort = () => controller.abort();
    outer?.addEventListener('abort', abort, { once: true });
    const bar = h('progress', { 'aria-label': label, max: '1' });
    const text = h('span', { class: 'task-label' }, label);
    const rate = h('span', { class: 'task-rate' });
    const pace = new Pace();
    const item = h(
      'div',
      { class: 'task' },
      text,
      bar,
      rate,
      button('Cancel', () => controller.abort(), { 'aria-label': `Cancel: ${label}` }),
    );
    const timer = window.setTimeout(() => {
      this.element.append(item);
      this.say(`${label}…`);
    }, PATIENCE);
    const progress = (report: Report) => {
      const { label: stage, done } = report;
      setText(text, stage === label ? label : `${label}: ${stage}`);
      setText(rate, pace.said(report));
      if (done === undefined) {
        bar.removeAttribute('value');
      } else {
        bar.value = done;
      }
    };
    this.#running.add(controller);
    try {
      const result = await work({ signal: controller.signal, progress });
      if (item.isConnected) {
        this.say(`${label}: done`);
      }
      return result;
    } catch (error) {
      if (isAbort(error)) {
        this.say(`${label}: cancelled`);
      } else {
        this.fail(`${label}: ${explain(error)}`);
      }
      return undefined;
    } finally {
      // The signal may outlive the work by far.
      outer?.removeEventListener('abort', abort);
      this.#running.delete(controller);
      clearTimeout(timer);
      const held = item.matches(':focus-within');
      item.remove();
      if (held) {
        this.#leave();
      }
    }
  }
}

/** One line about an error, with the rule and the location if known. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { message, rule, offset } = error as Error & { rule?: string; offset?: bigint };
  const where = offset === undefined ? '' : ` at byte ${offset}`;
  return rule === undefined ? `${message}${where}` : `${message} [${rule}${where}]`;
}
