/** File names. */

/** Files of a folder that can be opened, including a model's settings. */
export const TENSORS = /(?:\.(?:bt|bintensors|gguf|idv|npy|npz|oinf|safetensors|stb|zt)|\.safetensors\.index\.json)$|(?:^|\/)config\.json$/i;

/** Sorts indexes first, because an index determines which files belong to it. */
export function indexesFirst<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  const rank = (one: T) => Number(!nameOf(one).endsWith('.index.json'));
  return [...all].sort((a, b) => rank(a) - rank(b));
}
