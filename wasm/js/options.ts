// How to open a file.

/** @internal */
export const GOALS = ['index', 'structure', 'payloads'] as const;

/**
 * How far to go: `index` reads the header and all entries; `structure` also checks everything that
 * can be checked without payloads, and determines the layout; `payloads` also reads the data
 * (checksums, decompression, value rules).
 */
export type Goal = 'index' | 'structure' | 'payloads';

export interface DocumentOptions {
  /** Opens the file as this format, whatever the content looks like. */
  format?: string;
  /** The file name: a known extension decides if the content does not. */
  name?: string;
  /** Bytes of the file to keep, 16 MiB by default; a single call that needs more may exceed it. */
  budget?: number;
  /** Requests are rounded outwards to multiples of this power of two; 64 KiB by default. */
  granule?: number;
}
