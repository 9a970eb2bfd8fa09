/** Names of files. */

/** What is opened of a folder, with the settings of a model. */
export const TENSORS = /(?:\.(?:bt|bintensors|gguf|idv|npy|npz|oinf|safetensors|stb|zt)|\.safetensors\.index\.json)$|(?:^|\/)config\.json$/i;

/** In the order in which files are opened: an index says what belongs to it. */
export function indexesFirst<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  const rank = (one: T) => Number(!nameOf(one).endsWith('.index.json'));
  return [...all].sort((a, b) => rank(a) - rank(b));
}
