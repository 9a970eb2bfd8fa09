// Figures and the tables made from them; `scripts/figures.sh` explains their purpose.
//
//   node scripts/figures.mjs write KEPT MEASURED   stores the measured figures, for the tables
//   node scripts/figures.mjs only KEPT MEASURED    replaces the tables that were measured
//   node scripts/figures.mjs add KEPT MEASURED     stores them for comparison alone
//   node scripts/figures.mjs render KEPT           writes the tables
//   node scripts/figures.mjs check KEPT MEASURED   compares ratios
//   node scripts/figures.mjs tables KEPT           compares the tables with the stored figures
//
// A line has table, row, ours, peer, theirs, unit, and the ratio of theirs to ours. The stored file
// has a section for each processor, because the same two programs may differ by a factor of two
// between processors. The first section is that of the tables.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const PAGE = 'docs/performance.md';
const MARK = /<!-- figures: (.*) -->\n[^]*?<!-- end of figures -->/g;

/**
 * The sections of a file: a machine, and its figures by table, row and peer; the better one if
 * measured twice.
 */
function read(path) {
  const sections = [];
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const [, machine] = /^# machine: (.*)/.exec(line) ?? [];
    if (machine !== undefined || sections.length === 0) {
      sections.push({ machine: machine ?? '', all: new Map() });
    }
    if (machine !== undefined) {
      continue;
    }
    const { all } = sections.at(-1);
    const [table, row, ours, peer, theirs, unit, ratio] = line.split('\t');
    const key = [table, row, peer].join('\t');
    const before = all.get(key);
    if (before === undefined || Number(before.ratio) < Number(ratio)) {
      all.set(key, { table, row, ours, peer, theirs, unit, ratio, line });
    }
  }
  return sections;
}

/** The figures of a table in a section. */
const named = ({ all }, name) => [...all.values()].filter((it) => it.table === name);

/** The page with its tables filled with the figures of the first section that has each. */
function tables(sections) {
  const page = readFileSync(PAGE, 'utf8');
  const names = [...page.matchAll(MARK)].flatMap(([, names]) => names.split(' '));
  const of = (name) => sections.find((section) => named(section, name).length > 0) ?? sections[0];
  const machines = sections.flatMap((section, i) => {
    const own = names.filter((name) => of(name) === section);
    return i === 0 ? section.machine : own.length > 0 ? `${own.join(', ')}: ${section.machine}` : [];
  });
  return page.replace(MARK, (_, names) => {
    const body = names === 'machine' ? `${machines.join('\\\n')}\n` : names.split(' ').map((name) => table(named(of(name), name))).join('\n');
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

/**
 * Whether no measured ratio is more than a third below the stored one: that of this processor, or
 * else the lowest of any.
 */
function check(stored, measured) {
  const ours = stored.filter((section) => processor(section) === cpus()[0].model.trim());
  const kept = new Map();
  for (const { all } of ours.length > 0 ? ours : stored) {
    for (const [key, { ratio }] of all) {
      if (ratio !== '') {
        kept.set(key, Math.min(Number(ratio), kept.get(key) ?? Infinity));
      }
    }
  }
  const compared = [...measured].filter(([key]) => kept.has(key));
  let failed = 0;
  for (const [key, { table, row, peer, ratio }] of compared) {
    const before = kept.get(key);
    if (Number(ratio) < (before * 2) / 3) {
      console.error(`figures: ${table}: ${row}, against ${peer}: ${ratio}, was ${before}`);
      failed += 1;
    }
  }
  const missing = [...kept.keys()].filter((key) => !measured.has(key));
  const of = ours.length > 0 ? 'this processor' : 'other processors';
  console.log(`figures: ${compared.length} ratios compared with those of ${of}, ${failed} more than a third lower, ${missing.length} not measured`);
  return failed === 0 && compared.length > 0;
}

/** The processor that a section was measured on. */
const processor = ({ machine }) => / cores of (.*), Rust /.exec(machine)?.[1];

const version = (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf8' }).trim();

/** This machine, as a section names it. */
function here() {
  const date = new Date().toISOString().slice(0, 10);
  const rust = version('rustc', '--version').split(' ')[1];
  const rounds = process.env.WEIGHBRIDGE_SHORT === undefined ? '' : ', few rounds';
  return `${date}, ${cpus().length} cores of ${cpus()[0].model.trim()}, Rust ${rust}, Node ${process.versions.node}${rounds}`;
}

/** Sections in which the tables that were measured now replace the old figures of this processor. */
function replaced(sections, measured) {
  const now = here();
  const names = [...new Set([...measured.values()].map(({ table }) => table))];
  const own = sections.find((section) => processor(section) === processor({ machine: now }));
  if (own === undefined) {
    return [...sections, { machine: now, all: measured }];
  }
  const kept = [...own.all].filter(([, { table }]) => !names.includes(table));
  // Of other sections, the page shows just these tables.
  const machine = own === sections[0] ? own.machine : now;
  return sections.map((section) => (section === own ? { machine, all: new Map([...kept, ...measured]) } : section));
}

/** Stores sections, each processor once: the first that has it. */
function store(path, sections) {
  const known = new Set();
  const texts = sections.flatMap((section) => {
    if (known.has(processor(section))) {
      return [];
    }
    known.add(processor(section));
    return `# machine: ${section.machine}\n${[...section.all.values()].map(({ line }) => `${line}\n`).join('')}`;
  });
  writeFileSync(path, texts.join(''));
}

const [mode, keptPath, measuredPath] = process.argv.slice(2);
const stored = read(keptPath);
if (mode === 'check') {
  process.exitCode = check(stored, read(measuredPath)[0].all) ? 0 : 1;
} else if (mode === 'only') {
  store(keptPath, replaced(stored, read(measuredPath)[0].all));
} else if (mode === 'write' || mode === 'add') {
  const measured = { machine: here(), all: read(measuredPath)[0].all };
  if (mode === 'write') {
    store(keptPath, [measured, ...stored]);
  } else if (processor(stored[0]) === processor(measured)) {
    console.error('figures: the tables are of this processor; `scripts/figures.sh` measures them');
    process.exitCode = 1;
  } else {
    store(keptPath, [stored[0], measured, ...stored.slice(1)]);
  }
} else if (mode === 'render') {
  writeFileSync(PAGE, tables(stored));
} else if (tables(stored) !== readFileSync(PAGE, 'utf8')) {
  console.error(`figures: ${PAGE} does not match ${keptPath}; \`scripts/figures.sh\` writes it`);
  process.exitCode = 1;
}
