// Figures and the tables made from them; `scripts/figures.sh` explains their purpose.
//
//   node scripts/figures.mjs write KEPT MEASURED   stores the measured figures
//   node scripts/figures.mjs render KEPT           writes the tables
//   node scripts/figures.mjs check KEPT MEASURED   compares ratios
//   node scripts/figures.mjs tables KEPT           compares the tables with the stored figures
//
// A line has table, row, ours, peer, theirs, unit, and the ratio of theirs to ours.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const PAGE = 'docs/performance.md';
const MARK = /<!-- figures: (.*) -->\n[^]*?<!-- end of figures -->/g;

/** The figures of a file, by table, row and peer; the better one if measured twice. */
function read(path) {
  const all = new Map();
  let machine = '';
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    if (line.startsWith('# machine: ')) {
      machine = line.slice('# machine: '.length);
      continue;
    }
    const [table, row, ours, peer, theirs, unit, ratio] = line.split('\t');
    const key = [table, row, peer].join('\t');
    const before = all.get(key);
    if (before === undefined || Number(before.ratio) < Number(ratio)) {
      all.set(key, { table, row, ours, peer, theirs, unit, ratio, line });
    }
  }
  return { all, machine };
}

/** Fills the tables of a page with figures. */
function tables({ all, machine }) {
  return readFileSync(PAGE, 'utf8').replace(MARK, (_, names) => {
    const body = names === 'machine' ? `${machine}\n` : names.split(' ').map((name) => table([...all.values()].filter((it) => it.table === name))).join('\n');
    return `<!-- figures: ${names} -->\n${body}<!-- end of figures -->`;
  });
}

/** A number as written in a sentence. */
const number = (text) => text.replace(/^\d{4,}/, (digits) => Number(digits).toLocaleString('en'));
const words = (row) => row.replace(/\d{4,}/g, (digits) => Number(digits).toLocaleString('en'));

function table(figures) {
  if (figures.length === 0) {
    return '';
  }
  const compared = figures.some(({ peer }) => peer !== '');
  const head = compared ? '| | Weighbridge | compared with | | times as fast |\n|---|---|---|---|---|\n' : '| | |\n|---|---|\n';
  let last = '';
  const rows = figures.map(({ row, ours, peer, theirs, unit, ratio }) => {
    const first = row === last ? '| | ' : `| ${words(row)} | ${number(ours)} ${unit} `;
    last = row;
    return compared ? `${first}| ${peer} | ${theirs && `${number(theirs)} ${unit}`} | ${ratio} |\n` : `${first}|\n`;
  });
  return head + rows.join('');
}

function check(kept, measured) {
  let failed = 0;
  const compared = [...measured].filter(([key, { ratio }]) => ratio !== '' && kept.has(key));
  for (const [key, { table, row, peer, ratio }] of compared) {
    const before = kept.get(key).ratio;
    if (Number(ratio) < (Number(before) * 2) / 3) {
      console.error(`figures: ${table}: ${row}, against ${peer}: ${ratio}, was ${before}`);
      failed += 1;
    }
  }
  const missing = [...kept].filter(([key, { ratio }]) => ratio !== '' && !measured.has(key));
  console.log(`figures: ${compared.length} ratios compared, ${failed} more than a third lower, ${missing.length} not measured`);
  return failed === 0 && compared.length > 0;
}

const version = (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf8' }).trim();

const [mode, keptPath, measuredPath] = process.argv.slice(2);
if (mode === 'write') {
  const { all } = read(measuredPath);
  const date = new Date().toISOString().slice(0, 10);
  const rust = version('rustc', '--version').split(' ')[1];
  const rounds = process.env.WEIGHBRIDGE_SHORT === undefined ? '' : ', few rounds';
  const machine = `${date}, ${cpus().length} cores of ${cpus()[0].model.trim()}, Rust ${rust}, Node ${process.versions.node}${rounds}`;
  const lines = [...all.values()].map(({ line }) => line);
  writeFileSync(keptPath, `# machine: ${machine}\n${lines.join('\n')}\n`);
} else if (mode === 'render') {
  writeFileSync(PAGE, tables(read(keptPath)));
} else if (mode === 'check') {
  process.exitCode = check(read(keptPath).all, read(measuredPath).all) ? 0 : 1;
} else {
  if (tables(read(keptPath)) !== readFileSync(PAGE, 'utf8')) {
    console.error(`figures: ${PAGE} does not match ${keptPath}; \`scripts/figures.sh\` writes it`);
    process.exitCode = 1;
  }
}
