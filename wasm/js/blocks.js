// Elements in blocks, which `compute` decodes for the documents of the other modules.

let compute;

/** Whoever loads `compute` calls this with its glue code. */
export function lend(glue) {
  compute = glue;
}

/** The glue code of `compute`, if it is loaded. */
export function lent() {
  return compute;
}
