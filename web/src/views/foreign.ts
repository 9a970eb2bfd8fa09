/** Files that are no model. */

import type { OpenFile } from '../file.ts';

/** Whether a file is something else than a model, and not a damaged one. */
export function isForeign({ info, verdict }: OpenFile): boolean {
  return info.refused && verdict !== undefined && verdict.missing === undefined && (verdict.diagnosis !== undefined || info.format === undefined);
}

/** What the file is, in a few words: "an HDF5 file". */
export function kindOf({ verdict }: OpenFile): string {
  const [kind] = (verdict?.diagnosis ?? 'of no known format').split(/[,;:]/);
  return kind === 'of no known format' ? 'a file of no known format' : kind;
}
