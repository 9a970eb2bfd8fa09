/** How to access the elements of a tensor. Shared by the worker and the views. */

/** Numeric element types. Keys are integers too, but stand for other values. */
const NUMERIC = /^(?:[iu](?:1|2|4|8|16|32|64)|f(?:16|32|64)|f4e2m1|bf16|f8\w+|bool|bitset|t1|t2|q4_[01]|q5_[01]|q8_0|q[2-6]_k|q[12]_0|tq[12]_0|iq\d_\w+|mxfp4|nvfp4)$/;

/**
 * `dense`: the decoded bytes are the elements in order. `rows`: blocks of rows have to be decoded.
 * `entries`: only the stored entries are available. `undefined`: unknown or not numeric.
 */
export type Access = 'dense' | 'rows' | 'entries';

const ACCESS: Record<string, Access | undefined> = {
  'row-major': 'dense',
  'column-major': 'dense',
  'channels-last': 'dense',
  blocks: 'rows',
  coo: 'entries',
  csr: 'entries',
};

export function accessOf({ dtype, layout }: { dtype: string; layout: string }): Access | undefined {
  return NUMERIC.test(dtype) ? ACCESS[layout] : undefined;
}

/** Whether values can be shown: numbers and NumPy's texts in a dense layout, anything in rows and entries. */
export function hasValues(tensor: { dtype: string; layout: string; hasItems?: boolean }): boolean {
  return ACCESS[tensor.layout] !== 'dense' || tensor.hasItems === true || accessOf(tensor) !== undefined;
}

/** How to access the elements that a .npy file can hold: numbers, including complex ones, and what NumPy itself described. */
export function savedAs({ dtype, layout, descr }: { dtype: string; layout: string; descr?: string }): Access | undefined {
  return (/^c(?:64|128)$/.test(dtype) || descr !== undefined) && ACCESS[layout] === 'dense' ? 'dense' : accessOf({ dtype, layout });
}

/** Whether the elements come in quantised blocks that can be decoded (ggml). */
export function hasBlocks(tensor: { dtype: string; layout: string }): boolean {
  return accessOf(tensor) === 'dense' && /^(?:[it]?q\d|[mn][xv]fp4)/.test(tensor.dtype);
}

/** Whether rows and columns have norms: the elements must be in order. */
export function hasChannels(tensor: { dtype: string; layout: string; shape: { length: number } }): boolean {
  return accessOf(tensor) === 'dense' && tensor.layout === 'row-major' && tensor.shape.length >= 2;
}

/** Whether other tensors may have its scales, by its name and type: Python libraries spread quantised weights over several tensors. */
export function mayBePacked({ dtype, name }: { dtype: string; name: string }): boolean {
  return /\.q?weight$|\.weight_packed$|_blocks$/.test(name) && /^(?:[iu](?:8|32)|f8)/.test(dtype);
}
