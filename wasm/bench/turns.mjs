// Our calls and the others' take turns, so that other load on the machine slows all of them down.
// The processor time of the fastest run of each counts. `scripts/figures.sh` sets
// WEIGHBRIDGE_FIGURES to a file that each comparison appends to, and WEIGHBRIDGE_SHORT for fewer
// rounds.

import { appendFileSync } from 'node:fs';

const short = process.env.WEIGHBRIDGE_SHORT !== undefined;

/** Processor time of this process in milliseconds, including its garbage collector. */
function now() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs `[name, call]` of ours and of others in turns, and prints the ratio of their time to ours. */
export async function compare(table, row, rounds, ours, others) {
  const calls = [...ours, ...others];
  const least = calls.map(() => Infinity);
  for (let i = 0; i < (short ? Math.min(rounds, 9) : rounds); i++) {
    for (const [at, [, call]] of calls.entries()) {
      const begun = now();
      await call();
      least[at] = Math.min(least[at], now() - begun);
    }
  }
  for (const [at, [name]] of ours.entries()) {
    if (others.length === 0) {
      record(table, `${row}${name}`, least[at].toFixed(2), '', '', 'ms', '');
    }
    for (const [other, [peer]] of others.entries()) {
      const time = least[ours.length + other];
      record(table, `${row}${name}`, least[at].toFixed(2), peer, time.toFixed(2), 'ms', (time / least[at]).toFixed(2));
    }
  }
}

/** Prints a line, and appends it to the figures if requested. */
export function record(table, row, ours, peer, theirs, unit, ratio) {
  console.log(`${row.padEnd(56)} ${ours.padStart(8)} ${unit}  ${peer.padEnd(24)} ${theirs.padStart(8)} ${ratio && `${unit}  ${ratio.padStart(6)} x`}`);
  if (process.env.WEIGHBRIDGE_FIGURES) {
    appendFileSync(process.env.WEIGHBRIDGE_FIGURES, `${[table, row, ours, peer, theirs, unit, ratio].join('\t')}\n`);
  }
}
