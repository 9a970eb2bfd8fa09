/** Kinds of diagnoses, in the order of their numbers in the modules. */
export const KINDS = ['generation', 'superseded', 'packed', 'other', 'pickle', 'lfs-pointer', 'xet-pointer', 'message', 'unknown', 'incomplete'] as const;

export type DiagnosisKind = (typeof KINDS)[number];
