// What wasm-bindgen writes for each WebAssembly module: its raw classes and functions.

import type * as compute from './compute.js';
import type * as full from './full.js';
import type * as summary from './summary.js';

export type Compute = typeof compute;
export type Summaries = typeof summary;

/** Methods that the first module lacks: it has no formats with rows, sparse layouts or checksums. */
type Further = 'annotation' | 'cells' | 'hasher' | 'keyValues';

export type RawDocument = Omit<full.RawDocument, Further> & Partial<Pick<full.RawDocument, Further>>;

/** A module that reads files. */
export type Reading = Omit<typeof full, 'RawDocument' | 'RawSaving'> & {
  RawDocument: new (...parameters: ConstructorParameters<typeof full.RawDocument>) => RawDocument;
};
