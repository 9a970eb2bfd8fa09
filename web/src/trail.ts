/** The history of the page: Back goes to the view before, and never closes a file. */

import { hashOf, readPlace, type Place } from './address.ts';

/** What an entry of the history keeps beside its address. */
interface State {
  /** Which load of the page wrote it: numbers of files are counted anew in each. */
  session: string;
  /** The file that was shown; `undefined` on the start page. */
  file: number | undefined;
}

export interface Stop {
  file: number | undefined;
  place: Place;
}

export interface TrailActions {
  /** What is shown now. */
  here(): Stop;
  /** Back or forward to what was shown before. */
  restore(stop: Stop): void;
  /** An address that somebody typed, or of another load of the page. */
  follow(place: Place): void;
}

export class Trail {
  readonly #session = String(performance.timeOrigin);
  readonly #actions: TrailActions;
  #last: Stop;
  #due = false;
  #replacing = true;
  /** While an address is being followed, what is shown on the way is no place to go back to. */
  paused: boolean;

  constructor(actions: TrailActions, paused: boolean) {
    this.#actions = actions;
    this.#last = { file: undefined, place: {} };
    this.paused = paused;
    if (!paused) {
      this.#write(this.#last, true);
    }
    addEventListener('popstate', ({ state }: PopStateEvent) => {
      const { session, file } = (state ?? {}) as Partial<State>;
      if (session === this.#session) {
        this.#actions.restore({ file, place: readPlace() });
        this.#last = this.#actions.here();
      } else {
        this.#actions.follow(readPlace());
        this.note(true);
      }
    });
  }

  /** What is shown has changed. One action may change much: it is one step back. */
  note(replace = false): void {
    this.#replacing = (this.#replacing || !this.#due) && replace;
    if (!this.#due) {
      this.#due = true;
      queueMicrotask(() => {
        this.#due = false;
        if (!this.paused) {
          this.#settle(this.#replacing);
        }
      });
    }
  }

  /** An address without what must not stay in it. */
  rewrite(place: Place): void {
    history.replaceState(history.state, '', hashOf(place) || location.pathname + location.search);
  }

  #settle(replace: boolean): void {
    const stop = this.#actions.here();
    const [now, before] = [stop.place, this.#last.place];
    if (stop.file === this.#last.file && hashOf(now) === hashOf(before)) {
      if (replace) {
        this.#write(stop, true);
      }
      return;
    }
    // Walking through a list is no step: one press of Back leaves the tensor.
    const walked = stop.file === this.#last.file && now.tensor !== undefined && before.tensor !== undefined && hashOf({ ...now, tensor: 0 }) === hashOf({ ...before, tensor: 0 });
    this.#write(stop, replace || walked);
  }

  #write(stop: Stop, replace: boolean): void {
    this.#last = stop;
    const state: State = { session: this.#session, file: stop.file };
    const address = hashOf(stop.place) || location.pathname + location.search;
    if (replace) {
      history.replaceState(state, '', address);
    } else {
      history.pushState(state, '', address);
    }
  }
}
