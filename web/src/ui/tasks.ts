/** What is going on, at the foot of the page, with a way to stop it. */

import { isAbort, type CallOptions, type Report } from '../worker/rpc.ts';
import { button, h, icon, setText } from './dom.ts';

/** Below this, showing progress would only flicker. */
const PATIENCE = 200;
/** Failures that are shown at once. */
const FAILURES = 5;

export class Tasks {
  readonly element = h('div', { class: 'tasks' });
  /** Read out by screen readers. */
  readonly spoken = h('p', { class: 'visually-hidden', role: 'status' });
  readonly #alert = h('div', { class: 'alert', role: 'alert', hidden: true });
  #failures: string[] = [];
  readonly #running = new Set<AbortController>();

  get alert(): HTMLElement {
    return this.#alert;
  }

  say(text: string): void {
    setText(this.spoken, text);
  }

  /** Shows what went wrong until it is put away, the last failures below each other. */
  fail(text: string): void {
    this.#failures = [...this.#failures.filter((other) => other !== text), text].slice(-FAILURES);
    this.#alert.hidden = false;
    this.#alert.replaceChildren(
      icon('fatal'),
      h('div', {}, ...this.#failures.map((failure) => h('p', {}, failure))),
      button('Dismiss', () => this.dismiss()),
    );
  }

  /** Asks before something is done. */
  ask(text: string, yes: string, action: () => void): void {
    this.#failures = [];
    this.#alert.hidden = false;
    this.#alert.replaceChildren(
      icon('lint'),
      h('div', {}, h('bdi', {}, text)),
      button(yes, () => {
        this.dismiss();
        action();
      }),
      button('Dismiss', () => this.dismiss()),
    );
  }

  dismiss(): void {
    this.#failures = [];
    this.#alert.hidden = true;
    this.#alert.replaceChildren();
  }

  /** Stops everything. */
  cancelAll(): boolean {
    const some = this.#running.size > 0;
    this.#running.forEach((controller) => controller.abort());
    return some;
  }

  /**
   * Runs `work`, showing its progress if it takes long. Gives `undefined` when it
   * was cancelled, and also when it failed: then the user has seen the error.
   */
  async run<T>(
    label: string,
    work: (options: Required<CallOptions>) => Promise<T>,
    outer?: AbortSignal,
  ): Promise<T | undefined> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    outer?.addEventListener('abort', abort, { once: true });
    const bar = h('progress', { 'aria-label': label, max: '1' });
    const text = h('span', { class: 'task-label' }, label);
    const item = h(
      'div',
      { class: 'task' },
      text,
      bar,
      button('Cancel', () => controller.abort(), { 'aria-label': `Cancel: ${label}` }),
    );
    const timer = window.setTimeout(() => {
      this.element.append(item);
      this.say(`${label}…`);
    }, PATIENCE);
    const progress = ({ label: stage, done }: Report) => {
      setText(text, stage === label ? label : `${label}: ${stage}`);
      if (done === undefined) {
        bar.removeAttribute('value');
      } else {
        bar.value = done;
      }
    };
    this.#running.add(controller);
    try {
      return await work({ signal: controller.signal, progress });
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
      if (item.isConnected) {
        item.remove();
        this.say(`${label}: done`);
      }
    }
  }
}

/** One line about an error, with the rule and the place where these are known. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { message, rule, offset } = error as Error & { rule?: string; offset?: bigint };
  const where = offset === undefined ? '' : ` at byte ${offset}`;
  return rule === undefined ? `${message}${where}` : `${message} [${rule}${where}]`;
}
