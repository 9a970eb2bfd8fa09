/** Pairs tensors that two files call by different names. */

import { expressed } from './expression.ts';

/** A renaming applied to the first file's names before they are looked up in the second. */
export interface Rename {
  pattern: RegExp;
  replacement: string;
}

/** The renamed names; `undefined` where the pattern does not match. */
export async function renamed(names: readonly string[], { pattern: { source, flags }, replacement }: Rename, signal: AbortSignal): Promise<(string | undefined)[]> {
  const to = (await expressed({ source, flags, replacement, names }, signal)) as string[];
  return to.map((name, i) => (name === names[i] ? undefined : name));
}

/**
 * Pairs of positions in `left` and `right` that are the same tensor: first by the renamed names,
 * then by the names that llama.cpp's converter gives. Ambiguous names are not paired.
 */
export function matched(
  left: readonly string[],
  right: readonly string[],
  ggufNames: (name: string) => readonly string[],
  to: readonly (string | undefined)[] | undefined,
): Map<number, number> {
  const pairs = new Map<number, number>();
  const taken = new Set<number>();
  /** `known` returns the names in `to` that a name in `from` may stand for. */
  const join = (from: readonly string[], to: readonly string[], known: (name: string, i: number) => readonly string[], put: (i: number, j: number) => void, skip: (i: number, j: number) => boolean) => {
    // -1: several tensors have the name, or claim it.
    const places = new Map<string, number>();
    to.forEach((name, j) => places.set(name, places.has(name) ? -1 : j));
    const wanted = new Map<number, number>();
    from.forEach((name, i) => {
      if (skip(i, -1)) {
        return;
      }
      const found = known(name, i).find((one) => (places.get(one) ?? -1) >= 0 && !skip(i, places.get(one)!));
      if (found !== undefined) {
        const j = places.get(found)!;
        wanted.set(j, wanted.has(j) ? -1 : i);
      }
    });
    for (const [j, i] of wanted) {
      if (i >= 0) {
        put(i, j);
      }
    }
  };
  const forwards = (known: (name: string, i: number) => readonly string[]) =>
    join(left, right, known, (i, j) => (pairs.set(i, j), taken.add(j)), (i, j) => pairs.has(i) || taken.has(j));
  if (to !== undefined) {
    forwards((_, i) => (to[i] === undefined ? [] : [to[i]]));
  }
  forwards(ggufNames);
  join(right, left, ggufNames, (j, i) => (pairs.set(i, j), taken.add(j)), (j, i) => pairs.has(i) || taken.has(j));
  return pairs;
}
