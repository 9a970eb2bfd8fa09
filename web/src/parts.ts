/** What the specification of each format calls the parts of a file. */

/** The general name of a part, as the layout has it. */
export type PartKind = 'header' | 'table' | 'metadata' | 'payload' | 'quantization' | 'tail' | 'gap';

/** Words by format (`document.format`). Parts that are missing here are called by their general name. */
const WORDS: Record<string, Partial<Record<PartKind, string>>> = {
  safetensors: { header: 'header size', table: 'header (JSON)', payload: 'byte buffer' },
  gguf: { table: 'key-values and tensor infos', payload: 'tensor data' },
  stb: { table: 'tensor table' },
  oinf: { table: 'sizevars, metadata and tensor tables', metadata: 'metadata value', quantization: 'quantization data' },
  ztensor: { header: 'magic', table: 'manifest', payload: 'blob', tail: 'footer' },
  bintensors: { header: 'header size', table: 'tensor list', payload: 'data' },
  idv: { table: 'table of contents', payload: 'block', metadata: 'column metadata' },
  onnx: { table: 'model message', payload: 'tensor data' },
  tflite: { header: 'root and identifier', table: 'flatbuffer', payload: 'buffer' },
  executorch: { header: 'root and identifier', table: 'flatbuffer', payload: 'segment' },
  npy: { payload: 'array data' },
  npz: { header: 'local header', table: 'central directory', tail: 'end record', payload: 'array data' },
  pytorch: { table: 'pickle', payload: 'storage', tail: 'end record' },
  shards: { metadata: 'index (JSON)' },
};

/** Bytes of a GGUF header; the key-values follow, then the tensor infos. */
const GGUF_HEADER = 24n;

/** A part's name; `at` is its offset in its own file, and tells the tables of GGUF apart. */
export function partWord(format: string | undefined, part: string, at?: bigint): string {
  if (format === 'gguf' && part === 'table' && at !== undefined) {
    return at === GGUF_HEADER ? 'key-values' : 'tensor infos';
  }
  return WORDS[format ?? '']?.[part as PartKind] ?? part;
}
