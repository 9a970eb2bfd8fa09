/** Severities in words. */

/** The severities, the most severe first. */
export const SEVERITIES = ['fatal', 'violation', 'lint', 'note', 'unchecked'] as const;

/** Severities for use in sentences. */
export const SEVERITY: Record<string, string> = {
  fatal: 'fatal error',
  violation: 'violation',
  lint: 'remark',
  note: 'note',
  unchecked: 'unchecked part',
};
