/** The results of a sweep for the page: verdict, suspects, charts, exports. */

import { line } from '../csv.ts';
import type { Context } from './rpc.ts';
import { session, type Session } from './session.ts';
import { layerOf } from './text.ts';
import { measurements, type WeightKey } from './weights.ts';

/** The verdict on the weights and the progress of the sweep; `undefined` before it. */
export function health(_: Context, id: number) {
  const file = session(id);
  const found = measurements(file);
  if (found === undefined) {
    return undefined;
  }
  const done = found.measured + found.skipped.size;
  return { ...found.health(), done, total: file.document.tensorCount };
}

export type Health = NonNullable<ReturnType<typeof health>>;

/** Tensors with signs or without measurements, those with faults first. */
export function suspects(_: Context, id: number, from: number, to: number) {
  const file = session(id);
  const found = measurements(file);
  if (found === undefined) {
    return { total: 0, suspects: [] };
  }
  // A tensor is listed under its first sign.
  const order = Array.from(found.library.signs, (): number[] => []);
  found.signs.forEach((bits, tensor) => {
    if (bits !== 0) {
      order[found.library.signs.findIndex(({ bit }) => (bits & bit) !== 0)].push(tensor);
    }
  });
  const all = [...order.flat(), ...found.skipped.keys()];
  return {
    total: all.length,
    suspects: all.slice(from, to).map((tensor) => {
      const twin = found.twin(tensor);
      return {
        tensor,
        name: nameOf(id, tensor),
        ...found.of(tensor),
        why: found.skipped.get(tensor),
        twin: twin === undefined ? undefined : { tensor: twin, name: nameOf(id, twin) },
        ...place(file, tensor),
        firstNan: found.firsts.get(tensor)?.nan,
        firstInfinity: found.firsts.get(tensor)?.infinity,
        hole: found.holes.get(tensor),
      };
    }),
  };
}

/** What tells where an element is. */
function place(file: Session, tensor: number) {
  const { elements, dims, layout } = file.document.rows(tensor, tensor + 1);
  return { elements: Number(elements[0]), shape: dims, layout: file.word(layout[0]) };
}

export type Suspect = ReturnType<typeof suspects>['suspects'][number];

function nameOf(id: number, tensor: number): string {
  return session(id).document.entryName('tensor', tensor);
}

/** Weights of one kind across the layers. */
export interface Course {
  /** The name, with `#` in place of the layer. */
  kind: string;
  points: { layer: number; tensor: number; name: string; deviation: number; most: number; bits: number; fault: boolean }[];
}

/** The kinds of weights that occur in several layers, the most frequent first. */
export function courses(_: Context, id: number): Course[] {
  const { document } = session(id);
  const found = measurements(session(id));
  const kinds = new Map<string, Course>();
  if (found === undefined) {
    return [];
  }
  [...document.rows(0, document.tensorCount).names].forEach((name, tensor) => {
    const place = layerOf(name);
    if (place === undefined || found.known[tensor] === 0) {
      return;
    }
    const { kind, layer } = place;
    const course = kinds.get(kind) ?? { kind, points: [] };
    kinds.set(kind, course);
    const { min, max, deviation } = found.columns;
    const most = Math.max(Math.abs(min[tensor]), Math.abs(max[tensor]));
    course.points.push({ layer, tensor, name, deviation: deviation[tensor], most, bits: found.signs[tensor], fault: (found.signs[tensor] & found.faults) !== 0 });
  });
  const several = [...kinds.values()].filter(({ points }) => points.length > 1);
  several.forEach(({ points }) => points.sort((a, b) => a.layer - b.layer));
  return several.sort((a, b) => b.points.length - a.points.length);
}

const COLUMNS = ['name', 'dtype', 'shape', 'elements', 'min', 'max', 'mean', 'std', 'zeros', 'nan', 'infinities', 'rows', 'zero_rows', 'outlier', 'signs', 'duplicate_of', 'why'] as const;

/** All tensors by column, as the `stats` command prints them. */
function* table(id: number): Generator<Record<(typeof COLUMNS)[number], unknown>> {
  const file = session(id);
  const found = measurements(file);
  const page = file.document.rows(0, file.document.tensorCount);
  for (let i = 0; found !== undefined && i < file.document.tensorCount; i++) {
    const number = (key: WeightKey) => {
      const value = found.columns[key][i];
      return Number.isNaN(value) ? undefined : value;
    };
    const twin = found.twin(i);
    const why = found.skipped.get(i) ?? (found.known[i] === 0 ? 'not scanned' : undefined);
    yield {
      // The page's names are truncated.
      name: nameOf(id, i),
      dtype: file.word(page.dtype[i]),
      shape: Array.from(page.dims.subarray(i === 0 ? 0 : page.dimEnds[i - 1], page.dimEnds[i]), (n) => (n === 0xffff_ffff_ffff_ffffn ? null : Number(n))),
      elements: Number(page.elements[i]),
      min: number('min'),
      max: number('max'),
      mean: number('mean'),
      std: number('deviation'),
      zeros: number('zeros'),
      nan: number('nans'),
      infinities: number('infinities'),
      rows: number('rows'),
      zero_rows: number('zeroRows'),
      outlier: number('outlier'),
      signs: why === undefined ? found.namesOf(found.signs[i]) : undefined,
      duplicate_of: twin === undefined ? undefined : nameOf(id, twin),
      why,
    };
  }
}

export function weightsCsv(_: Context, id: number): Blob {
  const parts = [line(COLUMNS)];
  for (const row of table(id)) {
    const shape = (row.shape as (number | null)[]).map((n) => n ?? '?').join('x');
    parts.push(line(COLUMNS.map((key) => (key === 'shape' ? shape : key === 'signs' ? ((row.signs as string[] | undefined) ?? []).join(' ') : row[key]))));
  }
  return new Blob(parts, { type: 'text/csv' });
}

export function weightsJson(context: Context, id: number): Blob {
  const file = session(id);
  const found = measurements(file);
  const state = health(context, id);
  const signs = Object.fromEntries(
    (found?.library.signs ?? []).map(({ name, bit }) => [name, found!.signs.filter((bits) => (bits & bit) !== 0).length]).filter(([, count]) => (count as number) > 0),
  );
  const measured = found?.measured ?? 0;
  const total = file.document.tensorCount;
  const verdict = state?.faulty ? 'faulty' : measured === 0 || measured < total ? 'unchecked' : 'sound';
  const head = {
    file: file.source.name,
    format: file.document.format ?? null,
    size: Number(file.source.size),
    weights: { verdict, sentence: state?.text, tensors: measured, skipped: total - measured, signs },
  };
  const text = JSON.stringify(head, undefined, 1);
  const rows = Array.from(table(id), (row) => `  ${JSON.stringify(row)}`);
  // One tensor per line.
  return new Blob([`${text.slice(0, -2)},\n "tensors": [\n${rows.join(',\n')}\n ]\n}\n`], { type: 'application/json' });
}
