/** How the elements of a tensor can be had, which the worker and the views must agree on. */

/** Element types that are numbers. Keys are, but stand for something else. */
const NUMERIC = /^(?:[iu](?:1|2|4|8|16|32|64)|f(?:4|16|32|64)|bf16|f8\w+|bool|bitset|t1|t2)$/;

/**
 * `dense`: the decoded bytes are the elements, one after the other. `rows`:
 * blocks of rows have to be taken apart. `entries`: only those that are stored
 * can be had. `undefined`: they are no numbers, or nobody knows.
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
