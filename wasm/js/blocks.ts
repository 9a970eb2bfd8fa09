// Elements in blocks, which `compute` decodes for the documents of the other modules.

import type { Compute } from './glue.js';

let compute: Compute | undefined;

/** The loader of `compute` calls this with its glue code. */
export function lend(glue: Compute): void {
  compute = glue;
}

/** The glue code of `compute`, if it is loaded. */
export function lent(): Compute | undefined {
  return compute;
}
