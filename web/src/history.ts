/** The page's history: Back returns to the previous view and never closes a file. */

import { hashOf, readPlace, type Place } from './address.ts';

/** State that a history entry stores besides its address. */
interface State {
  /** The page load that wrote it: file numbers restart with each load. */
  session: string;
  /** The file shown; `undefined` on the start page. */
  file: number | undefined;
  /** Its place in the history of this page load. */
  at?: number;
}

export interface Stop {
  file: number | undefined;
  place: Place;
}

/** A place to show as soon as its file is open. */
export interface Link {
  readonly place: Place;
}

export interface TrailActions {
  /** The current place. */
  here(): Stop;
  /** Back or forward to an earlier place; returns whether it is still there. */
  restore(stop: Stop): boolean;
  /** An address typed by the user, or from another load of the page. */
  follow(place: Place): void;
}

export class Trail {
  readonly #session = String(performance.timeOrigin);
  readonly #actions: TrailActions;
  #last: Stop;
  /** The place in the history. */
  #at = 0;
  /** Whether a file was closed: several entries may now show the same. */
  #closed = false;
  #due = false;
  #replacing = true;
  /** The link being followed: until its file is open or the user moves, nothing is written. */
  awaited: Link | undefined;

  constructor(actions: TrailActions) {
    this.#actions = actions;
    this.#last = { file: undefined, place: {} };
    addEventListener('popstate', ({ state }: PopStateEvent) => {
      const { session, file, at = 0 } = (state ?? {}) as Partial<State>;
      this.awaited = undefined;
      if (session === this.#session) {
        const step = at < this.#at ? -1 : 1;
        this.#at = at;
        const stop = { file, place: readPlace() };
        const isHere = this.#closed && file === this.#last.file && hashOf(stop.place) === hashOf(this.#last.place);
        if ((!this.#actions.restore(stop) || isHere) && (step > 0 || at > 0)) {
          // What was shown there is closed, or is shown since the other was closed: go on.
          history.go(step);
        }
        this.#last = this.#actions.here();
      } else {
        // An address that was typed, or a link.
        this.#at++;
        this.follow();
      }
    });
  }

  /** Notes that a file was closed, whose places can no longer be shown. */
  skip(): void {
    this.#closed = true;
  }

  /** Follows the address, which becomes the page's own. */
  follow(): void {
    this.#actions.follow(readPlace());
    this.replace();
  }

  /** Ends the wait for a link's file. On the start page the address stays: reloading tries again. */
  abandon(link: Link): void {
    if (this.awaited === link) {
      this.awaited = undefined;
      if (this.#actions.here().file !== undefined) {
        this.note(true);
      }
    }
  }

  /** Records a change of the view. Changes in the same task become one history entry. */
  note(replace = false): void {
    if (!replace) {
      this.awaited = undefined;
    }
    this.#replacing = (this.#replacing || !this.#due) && replace;
    if (!this.#due) {
      this.#due = true;
      queueMicrotask(() => {
        this.#due = false;
        if (this.awaited === undefined) {
          this.#settle(this.#replacing);
        }
      });
    }
  }

  /** Records all changes of this task in the current history entry. */
  replace(): void {
    this.note(true);
    this.#replacing = true;
  }

  /** Replaces the address to remove what must not stay in it. */
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
    // Walking through a list adds no entries: pressing Back once leaves the tensor.
    const walked = stop.file === this.#last.file && now.tensor !== undefined && before.tensor !== undefined && hashOf({ ...now, tensor: 0 }) === hashOf({ ...before, tensor: 0 });
    this.#write(stop, replace || walked);
  }

  #write(stop: Stop, replace: boolean): void {
    this.#last = stop;
    this.#at += replace ? 0 : 1;
    const state: State = { session: this.#session, file: stop.file, at: this.#at };
    const address = hashOf(stop.place) || location.pathname + location.search;
    if (replace) {
      history.replaceState(state, '', address);
    } else {
      history.pushState(state, '', address);
    }
  }
}
