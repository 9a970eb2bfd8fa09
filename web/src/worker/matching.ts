/** Tensors that two files call by different names. */

/** What a name in the first file is changed to before it is looked for in the second. */
export interface Rename {
  pattern: RegExp;
  replacement: string;
}

/**
 * Positions in `left` and `right` of what is one tensor: by the rename, then by the names that
 * llama.cpp's converter gives. Where several would be one, none is.
 */
export function matched(
  left: readonly string[],
  right: readonly string[],
  ggufNames: (name: string) => readonly string[],
  rename: Rename | undefined,
): Map<number, number> {
  const pairs = new Map<number, number>();
  const taken = new Set<number>();
  /** `known` is asked for the names of one side that may stand for a name of the other. */
  const join = (from: readonly string[], to: readonly string[], known: (name: string) => readonly string[], put: (i: number, j: number) => void, skip: (i: number, j: number) => boolean) => {
    const places = new Map<string, number[]>();
    to.forEach((name, j) => places.set(name, [...(places.get(name) ?? []), j]));
    const wanted = new Map<number, number[]>();
    from.forEach((name, i) => {
      const found = known(name).find((one) => places.get(one)?.length === 1 && !skip(i, places.get(one)![0]));
      if (found !== undefined && !skip(i, -1)) {
        const j = places.get(found)![0];
        wanted.set(j, [...(wanted.get(j) ?? []), i]);
      }
    });
    for (const [j, all] of wanted) {
      if (all.length === 1) {
        put(all[0], j);
      }
    }
  };
  const forwards = (known: (name: string) => readonly string[]) =>
    join(left, right, known, (i, j) => (pairs.set(i, j), taken.add(j)), (i, j) => pairs.has(i) || taken.has(j));
  if (rename !== undefined) {
    forwards((name) => [name.replace(rename.pattern, rename.replacement)]);
  }
  forwards(ggufNames);
  join(right, left, ggufNames, (j, i) => (pairs.set(i, j), taken.add(j)), (j, i) => pairs.has(i) || taken.has(j));
  return pairs;
}
