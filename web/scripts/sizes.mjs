// Prints the gzipped size of what a visitor downloads, and fails if it exceeds the budget.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Bytes by name, for names as in `scripts/budgets.txt`, which explains them. */
const budgets = Object.fromEntries(readFileSync(new URL('../../scripts/budgets.txt', import.meta.url), 'utf8').split('\n').map((line) => line.split(/ +/)));
const BUDGETS = { page: Number(budgets.page), later: Number(budgets['page-later']), hub: Number(budgets['page-hub']), wasm: Number(budgets['page-wasm']) };
const HUB = /^(?:hub|repository)-/;
const LATER = /^(?:about|archive|accumulators|appended|bulk|channels|compare|compute|convert|csv|folder|every-rule|files|full|heat|imports|joint|layout|models?|plot|python|quant|rows|slice|steps|storages|statistics|summary|tensors|unpacked|values|weights)-/;
const SINGLE = Number(budgets.element);

let failed = false;
for (const build of ['dist/local', 'dist/url']) {
  const sums = { page: 0, later: 0, hub: 0, wasm: 0 };
  for (const name of readdirSync(build, { recursive: true })) {
    const path = name.replaceAll('\\', '/');
    const text = /\.(html|css|js)$/.test(path);
    const asset = path.replace('assets/', '');
    const kind = text ? (HUB.test(asset) ? 'hub' : LATER.test(asset) ? 'later' : 'page') : /^assets\/base_bg.*\.wasm$/.test(path) ? 'wasm' : undefined;
    if (kind === undefined || name.startsWith('samples')) {
      continue;
    }
    const bytes = readFileSync(join(build, name));
    const packed = gzipSync(bytes, { level: 9 }).length;
    sums[kind] += packed;
    console.log(`${join(build, name).padEnd(44)} ${String(bytes.length).padStart(8)} ${String(packed).padStart(7)} gzipped`);
  }
  for (const [kind, sum] of Object.entries(sums)) {
    const over = !(sum <= BUDGETS[kind]);
    failed ||= over;
    console.log(`${build}: ${kind} ${sum} of ${BUDGETS[kind]} bytes gzipped${over ? ' - ABOVE THE BUDGET' : ''}`);
  }
}
const single = gzipSync(readFileSync('dist/single/weighbridge-viewer.js'), { level: 9 }).length;
const above = !(single <= SINGLE);
failed ||= above;
console.log(`dist/single: ${single} of ${SINGLE} bytes gzipped${above ? ' - ABOVE THE BUDGET' : ''}`);
process.exit(failed ? 1 : 0);
