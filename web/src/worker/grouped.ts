/** Findings by rule, the most severe first, and where they stand in the file. */

import type { Context } from './rpc.ts';
import { session, type Session } from './session.ts';
import { findings, type Finding } from './tables.ts';

/** The severities, the most severe first. */
const SEVERITIES = ['fatal', 'violation', 'lint', 'note', 'unchecked'] as const;

/** Remarks about nearly every sound file of a format: worth a line, no reason for doubt. */
const NOTES = new Set(['KEYS-TEMPLATE']);

interface Group {
  rule: string;
  severity: string;
  /** Positions among the findings in file order. */
  positions: number[];
  /** What all of them say; `undefined` if they differ. */
  message: string | undefined;
}

interface Kept {
  total: number;
  groups: Group[];
  /** Place and severity of each finding, in file order. */
  at: BigUint64Array;
  ranks: Uint8Array;
}

const kept = new WeakMap<Session, Kept>();

function grouped(file: Session): Kept {
  const { document } = file;
  const { total } = document.findings(0, 0);
  const known = kept.get(file);
  if (known?.total === total) {
    return known;
  }
  const table = document.findings(0, total);
  const messages = [...table.messages];
  const groups = new Map<number, Group>();
  const ranks = new Uint8Array(total);
  table.rule.forEach((code, i) => {
    let group = groups.get(code);
    if (group === undefined) {
      const { id: rule, severity } = document.rule(code);
      group = { rule, severity: NOTES.has(rule) ? 'note' : severity, positions: [], message: messages[i] };
      groups.set(code, group);
    }
    group.positions.push(i);
    group.message = group.message === messages[i] ? group.message : undefined;
    ranks[i] = rankOf(group);
  });
  // Those of equal severity stay in file order.
  const sorted = [...groups.values()].sort((a, b) => rankOf(a) - rankOf(b));
  const all = { total, groups: sorted, at: table.at, ranks };
  kept.set(file, all);
  return all;
}

function rankOf({ severity }: Group): number {
  const rank = (SEVERITIES as readonly string[]).indexOf(severity);
  return rank < 0 ? SEVERITIES.length - 1 : rank;
}

/** The rules with findings, the most severe first. */
export function findingGroups(_: Context, id: number) {
  return grouped(session(id)).groups.map(({ rule, severity, positions, message }) => ({ rule, severity, count: positions.length, message }));
}

export type FindingGroup = ReturnType<typeof findingGroups>[number];

/** Findings `from..to` of a rule, in file order. */
export function findingsOf(context: Context, id: number, rule: string, from: number, to: number): Finding[] {
  const group = grouped(session(id)).groups.find((one) => one.rule === rule);
  return (group?.positions.slice(from, to) ?? []).flatMap((at) => findings(context, id, at, at + 1));
}

/** The most severe finding per column of a range of bytes: 1 for fatal to 5 for unchecked, 0 for none. */
export function marks(_: Context, id: number, at: bigint, len: bigint, columns: number): Uint8Array {
  const { at: places, ranks } = grouped(session(id));
  const marked = new Uint8Array(columns);
  places.forEach((place, i) => {
    const x = Math.min(columns - 1, Math.floor((Number(place - at) / Number(len)) * columns));
    if (x >= 0 && place <= at + len && (marked[x] === 0 || ranks[i] + 1 < marked[x])) {
      marked[x] = ranks[i] + 1;
    }
  });
  return marked;
}
