/** File names. `tests/tests/it/lists.rs` writes the extensions. */

/** Files of a folder that can be opened, including a model's settings. */
export const TENSORS = /\.(?:stb|oinf|zt|ztensor|idv|gguf|npy|npz|safetensors|safetensors\.index\.json|onnx|pt|pth|ckpt|tflite|pte|ptd|bt)$|(?:^|\/)config\.json$/i;

/** Files that only the full module can read. */
export const FULL = /\.(?:json|stb|oinf|zt|ztensor|idv|npy|npz|onnx|pt|pth|ckpt|tflite|pte|ptd|bt)$|-of-\d{5}\.gguf$/i;

/** Sorts indexes first, because an index determines which files belong to it. */
export function indexesFirst<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  const rank = (one: T) => Number(!nameOf(one).endsWith('.index.json'));
  return [...all].sort((a, b) => rank(a) - rank(b));
}
