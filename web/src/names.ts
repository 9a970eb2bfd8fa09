/** File names. `tests/tests/it/lists.rs` writes the extensions. */

/** Files of a folder that can be opened, including a model's settings. */
export const TENSORS = /\.(?:stb|oinf|zt|ztensor|idv|gguf|npy|npz|safetensors|safetensors\.index\.json|bin\.index\.json|onnx|pt|pth|ckpt|jit|ptl|pt2|tflite|pte|ptd|bt)$|(?:^|\/)config\.json$/i;

/** Files that only the full module can read. */
export const FULL = /\.(?:json|stb|oinf|zt|ztensor|idv|npy|npz|onnx|pt|pth|ckpt|jit|ptl|pt2|tflite|pte|ptd|bt)$|-of-\d{5}\.gguf$/i;

/** The end of a shard's name: its number, how many there are, the extension. */
export const SHARD = /-\d{5}-of-\d{5}(?=\.(?:safetensors|bin)$)/;
/** Checkpoints of PyTorch whose extension is that of any binary file. */
const WEIGHTS = /(?:^|[/_.-])model[^/]*\.bin$/i;

/** Files beside weights that say more about them: tokenizer, template, settings, code. */
export const DESCRIBES = /^(?:(?:adapter_config|chat_template|generation_config|tokenizer|tokenizer_config)\.json|chat_template\.jinja|.+\.py)$/;

/** Files that lie beside the weights and contain none: texts, tokenizers, pictures, code. */
export const COMPANION = /\.(?:css|gif|html?|ipynb|jinja|jpe?g|js|json|jsonl|md|model|mp4|pdf|png|pyc?|rs|sh|svg|tiktoken|toml|tsv|ts|txt|vocab|webp|ya?ml)$|^(?:licen[cs]e|notice|\.)/i;

/** Archives whose members are opened as files of a folder. */
export const ARCHIVE = /\.dduf$/;

/** Whether a file of a folder can be opened, by its name. */
export function isModel(name: string): boolean {
  return TENSORS.test(name) || WEIGHTS.test(name);
}

/** What tells a shard's name from the others: `00001-of-00003`. */
export function shardNumber(name: string): string {
  return /\d+-of-\d+/.exec(name)?.[0] ?? name;
}

/** The folder of an address: `org/model` of a repository's, otherwise the last one of the path. */
export function folderOf(address: string): string | undefined {
  const parts = new URL(address).pathname.split('/').slice(1, -1);
  const resolve = parts.indexOf('resolve');
  const own = resolve >= 2 ? parts.slice(resolve - 2, resolve) : parts.slice(-1);
  try {
    return own.map(decodeURIComponent).join('/') || undefined;
  } catch {
    return own.join('/');
  }
}

/** A name that is not taken yet: after the first, names have numbers. */
export function numbered(name: string, taken: readonly string[]): string {
  let own = name;
  for (let i = 2; taken.includes(own); i++) {
    own = `${name} (${i})`;
  }
  return own;
}

/** Sorts indexes first, then models, because they determine which other files belong to them. */
export function indexesFirst<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  const rank = (one: T) => (nameOf(one).endsWith('.index.json') ? 0 : TENSORS.test(nameOf(one)) ? 1 : 2);
  return [...all].sort((a, b) => rank(a) - rank(b));
}
