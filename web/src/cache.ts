/** A bounded cache of results that evicts the least recently used. */

export class Kept<K, V> {
  readonly #all = new Map<K, V>();
  readonly #most: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  constructor(most: number, weigh: (value: V) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: K): V | undefined {
    const value = this.#all.get(key);
    if (value !== undefined) {
      this.#all.delete(key);
      this.#all.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.#drop(key);
    this.#all.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#all.keys()) {
      if (this.#weight <= this.#most || oldest === key) {
        break;
      }
      this.#drop(oldest);
    }
  }

  #drop(key: K): void {
    const value = this.#all.get(key);
    if (value !== undefined) {
      this.#all.delete(key);
      this.#weight -= this.#weigh(value);
    }
  }
}
