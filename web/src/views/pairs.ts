/** Pairs of tensors of two files: labels, sorting, export. */

import { line } from '../csv.ts';
import { accessOf } from '../storage.ts';
import { count, counted, fit, real, size } from '../ui/format.ts';
import type { DifferenceResult, Pair, StatisticsResult } from '../worker/jobs.ts';
import type { Outcome } from '../worker/differences.ts';
import { position } from './statistics.ts';

const CHANGES = [
  [1, 'type'],
  [2, 'shape'],
  [4, 'size'],
  [8, 'encoding'],
] as const;

/**
 * `open`: nothing but the values may differ, and those have not been compared. `equal`: the values
 * are the same, stored as another type.
 */
export type Kind = 'added' | 'removed' | 'changed' | 'open' | 'equal' | 'same';

export function isDifferent(kind: Kind): boolean {
  return kind === 'added' || kind === 'removed' || kind === 'changed';
}

export interface Line {
  pair: Pair;
  kind: Kind;
  name: string;
  /** What has changed. */
  text: string;
  values?: DifferenceResult;
  /** Why the values could not be compared. */
  error?: string;
}

/** In sort order: the most important first. */
export const KINDS: Record<Kind, string> = {
  changed: '≠ changed',
  added: '+ added',
  removed: '- removed',
  open: '· not compared',
  equal: '= equal values',
  same: '= unchanged',
};

export function describe(pair: Pair): Line {
  const { a, b, differs } = pair;
  const name = a !== undefined && b !== undefined && a.name !== b.name ? `${a.name} ↔ ${b.name}` : ((a ?? b)?.name ?? '');
  if (a === undefined || b === undefined) {
    const { dtype, stored } = (a ?? b)!;
    return { pair, name, kind: a === undefined ? 'added' : 'removed', text: `${dtype} ${size(stored)}` };
  }
  const parts = CHANGES.filter(([bit]) => (differs & bit) !== 0).map(([, text]) => text);
  return { pair, name, kind: parts.length > 0 ? 'changed' : 'open', text: parts.join(', ') };
}

/** Records the result of a comparison of values. */
export function settle(line: Line, values: Outcome): void {
  if ('failure' in values) {
    line.error = `The values could not be compared: ${values.failure}`;
    return;
  }
  const { a, b, differs } = line.pair;
  const parts = CHANGES.filter(([bit]) => (differs & bit) !== 0).map(([, text]) => text as string);
  line.values = values;
  line.error = undefined;
  if (values.different > 0n) {
    parts.push('values');
  } else if (parts.length > 0 && !parts.includes('shape')) {
    line.kind = 'equal';
    line.text = a!.dtype === b!.dtype ? parts.join(', ') : `${a!.dtype} → ${b!.dtype}`;
    return;
  }
  line.kind = parts.length > 0 ? 'changed' : 'same';
  line.text = parts.join(', ');
}

/** Stored bytes of a pair. */
export function weigh({ pair: { a, b } }: Line): number {
  return Number((a?.stored ?? 0n) + (b?.stored ?? 0n));
}

/** Pairs up to this size are compared in one call with others, at most `TOGETHER` of them. */
const SMALL = 128 << 10;
const TOGETHER = 512;

/** The lines from `from` on to compare in one call: small ones together, any other alone. */
export function batch(lines: readonly Line[], from: number): Line[] {
  let to = from;
  while (to < lines.length && to - from < TOGETHER && weigh(lines[to]) <= SMALL) {
    to++;
  }
  return lines.slice(from, Math.max(to, from + 1));
}

/** Whether the values of a pair can be compared element by element. */
export function comparable({ pair: { a, b } }: Line): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    accessOf(a) === 'dense' &&
    accessOf(b) === 'dense' &&
    a.layout === b.layout &&
    a.elements === b.elements &&
    a.elements > 0n
  );
}

export function nans({ values }: Line): bigint | undefined {
  return values && values.nanA + values.nanB;
}

export const COLUMNS = [
  ['kind', 'Change', 'change'],
  ['name', 'Name', 'name'],
  ['text', 'Details', 'what'],
  ['different', 'Differing', 'number differing'],
  ['most', 'Max |a - b|', 'number most'],
  ['error', 'Rel. error', 'number'],
  ['cosine', 'Cosine', 'number cosine'],
  ['nans', 'NaN', 'number nans'],
] as const;

export type Column = (typeof COLUMNS)[number][0];

/** The text of a line in a column. */
export function shown(line: Line, column: Column): string {
  const { values } = line;
  switch (column) {
    case 'kind':
      return KINDS[line.kind];
    case 'name':
      return line.name;
    case 'text':
      return line.error !== undefined ? 'unreadable' : line.text;
    case 'different':
      return values === undefined ? '' : count(values.different);
    case 'most':
      return values === undefined || (values.maxAt === undefined && values.different > 0n) ? '' : fit(real(values.maxAbs), 8);
    case 'error':
      return values === undefined ? '' : nans(line)! > 0n ? 'NaN' : fit(real(values.relativeRms), 8);
    case 'cosine':
      // As in NumPy, there is no cosine if there is a NaN.
      return values === undefined ? '' : nans(line)! > 0n ? '–' : fit(real(values.cosine), 8);
    case 'nans':
      return values === undefined ? '' : count(nans(line)!);
  }
}

/** The sort key of a column; lines without one come last. */
function keyOf(line: Line, column: Column): number | string | undefined {
  const { values } = line;
  switch (column) {
    case 'kind':
      return Object.keys(KINDS).indexOf(line.kind);
    case 'name':
      return line.name;
    case 'text':
      return line.text;
    case 'different':
      return values && Number(values.different);
    case 'most':
      return values?.maxAbs;
    case 'error':
      // A NaN on one side is worse than any distance.
      return values === undefined || Number.isNaN(values.relativeRms) ? undefined : nans(line)! > 0n ? Infinity : values.relativeRms;
    case 'cosine':
      return values === undefined || Number.isNaN(values.cosine) ? undefined : values.cosine;
    case 'nans':
      return values && Number(nans(line));
  }
}

/** Sorts lines; those with equal keys keep their order. */
export function sorted(lines: readonly Line[], column: Column, down: boolean): Line[] {
  const compare = new Intl.Collator('en', { numeric: true }).compare;
  const sign = down ? -1 : 1;
  return lines
    .map((line) => [keyOf(line, column), line] as const)
    .sort(([a], [b]) => {
      if (a === undefined || b === undefined) {
        return Number(a === undefined) - Number(b === undefined);
      }
      return sign * (typeof a === 'string' ? compare(a, b as string) : a - (b as number));
    })
    .map(([, line]) => line);
}

/** Type, shape and size of both tensors. */
export function sides({ pair: { a, b } }: Line): string {
  const about = (side: typeof a, absent: string) => (side === undefined ? absent : `${side.dtype} [${Array.from(side.shape).join(', ')}] ${size(side.stored)}`);
  return `${about(a, 'not in the base')} → ${about(b, 'not in the other file')}`;
}

/** The result of comparing a pair's values, in a sentence. */
export function sentence({ values, error, pair: { a, b } }: Line): string {
  if (error !== undefined) {
    return error;
  }
  if (values === undefined || a === undefined) {
    return '';
  }
  const { count: all, different, finite, nanA, nanB, nanAt, maxAbs, maxAt, cosine, relativeRms, reordered } = values;
  const order = reordered ? ' Attention head rows are compared in GGUF order.' : '';
  if (different === 0n) {
    const as = /^[iu]64$/.test(a.dtype) ? ' as 64-bit floats' : '';
    return `All ${counted(all, 'value')} are equal${as}.${order}`;
  }
  const at = reordered && b !== undefined && !a.name.startsWith('blk.') ? b : a;
  const parts = [`${count(different)} of ${counted(all, 'value')} ${different === 1n ? 'differs' : 'differ'}`];
  const single = nanA + nanB;
  if (single > 0n) {
    const where = nanB === 0n ? 'in the base' : nanA === 0n ? 'in the other file' : 'in one of the files';
    parts.push(`${count(single)} ${single === 1n ? 'is' : 'are'} NaN ${where} only, first at ${position(nanAt!, at)}`);
  }
  if (maxAt !== undefined) {
    parts.push(`${single > 0n ? 'the others by' : 'by'} at most ${real(maxAbs)}, at ${position(maxAt, at)}`);
  }
  parts.push(`relative error ${real(relativeRms)}`);
  parts.push(finite === all ? `cosine ${real(cosine)}` : `cosine of the ${counted(finite, 'finite pair')} ${real(cosine)}`);
  return `${parts.join('; ')}.${order}`;
}

/** The differences as histogram data; `undefined` if no finite values differ. */
export function distances({ count: all, different, finite, power, magnitudes }: DifferenceResult): StatisticsResult | undefined {
  if (magnitudes.length === 0) {
    return undefined;
  }
  const positive = Float64Array.from(magnitudes, Number);
  const differing = magnitudes.reduce((sum, n) => sum + n, 0n);
  const nothing = { min: NaN, max: NaN, mean: NaN, deviation: NaN, subnormals: 0n, firstNan: undefined, firstInfinity: undefined };
  return {
    summary: { ...nothing, count: all, zeros: finite - differing, nans: 0n, infinities: different - differing },
    magnitudes: { first: power + 1075, negative: new Float64Array(positive.length), positive },
    bins: new Float64Array(),
    quantiles: new Float64Array(),
  };
}

/** The result in one line. */
export function headline(lines: readonly Line[]): string {
  const differing = lines.filter(({ kind }) => isDifferent(kind)).length;
  const open = lines.filter(({ kind }) => kind === 'open').length;
  const all = counted(lines.length, 'tensor');
  if (lines.length === 0) {
    return '';
  }
  if (differing > 0) {
    return `${count(differing)} of ${all} ${differing === 1 ? 'differs' : 'differ'}${open > 0 ? `, ${count(open)} not compared` : ''}`;
  }
  return open > 0 ? `Names, types and shapes are equal; values of ${count(open)} of ${all} are not compared` : lines.length === 1 ? 'The tensor is equal' : `All ${all} are equal`;
}

/** Counts by kind, and a summary of the values. */
export function totals(lines: readonly Line[]): string {
  const tally = (kind: Kind) => lines.filter((line) => line.kind === kind).length;
  const parts = [
    `${count(tally('added'))} added`,
    `${count(tally('removed'))} removed`,
    `${count(tally('changed'))} changed`,
    `${count(tally('same'))} unchanged`,
    `${count(tally('open'))} not compared`,
  ];
  if (tally('equal') > 0) {
    parts.push(`${count(tally('equal'))} equal in another type`);
  }
  const renamed = lines.filter(({ pair: { a, b } }) => a !== undefined && b !== undefined && a.name !== b.name).length;
  if (renamed > 0) {
    parts.push(`${count(renamed)} under another name`);
  }
  const compared = lines.filter(({ values }) => values !== undefined);
  if (compared.length > 0) {
    const sum = (of: (values: DifferenceResult) => bigint) => compared.reduce((total, { values }) => total + of(values!), 0n);
    const most = compared.reduce((worst, line) => (line.values!.maxAbs > worst.values!.maxAbs ? line : worst));
    parts.push(`${count(sum(({ different }) => different))} of ${counted(sum(({ count: all }) => all), 'value')} differ`);
    if (most.values!.maxAbs > 0) {
      parts.push(`max |a - b| ${real(most.values!.maxAbs)} in ${most.name}`);
    }
  }
  const failed = lines.filter(({ error }) => error !== undefined).length;
  if (failed > 0) {
    parts.push(`${count(failed)} unreadable`);
  }
  return parts.join(' · ');
}

/** All lines as CSV, compared or not, with full numbers. */
export function csv(lines: readonly Line[]): string {
  const head = line(['name', 'change', 'what', 'type_a', 'shape_a', 'type_b', 'shape_b', 'values', 'differing', 'nan_a_only', 'nan_b_only', 'max_abs', 'max_at', 'cosine_of_finite', 'relative_rms', 'reordered', 'name_b']);
  return (
    head +
    lines
      .map(({ kind, text, values, pair: { a, b } }) => {
        const about = (side: typeof a) => (side === undefined ? ['', ''] : [side.dtype, Array.from(side.shape).join(' × ')]);
        const found = values && [values.count, values.different, values.nanA, values.nanB, values.maxAbs, values.maxAt, values.cosine, values.relativeRms, String(values.reordered)];
        return line([(a ?? b)?.name ?? '', kind === 'open' ? 'not compared' : kind === 'same' ? 'unchanged' : kind, text, ...about(a), ...about(b), ...(found ?? ['', '', '', '', '', '', '', '', '']), b?.name ?? '']);
      })
      .join('')
  );
}
