// Prints the gzipped size of what a visitor downloads, and fails if it exceeds the budget.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * `later`: loaded for most formats, before the first computation or with the first use of a view;
 * `hub`: loaded when a model is opened by name.
 */
const BUDGETS = { page: 94_000, later: 102_000, hub: 4_000, wasm: 84_700 };
const HUB = /^(?:hub|repository)-/;
const LATER = /^(?:accumulators|bulk|channels|compare|compute|folder|every-rule|files|full|heat|imports|joined|models?|quant|summary)-/;
/** The element with its worker and all WebAssembly in one file, as the wheel ships it. */
const SINGLE = 960_000;

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
    const over = sum > BUDGETS[kind];
    failed ||= over;
    console.log(`${build}: ${kind} ${sum} of ${BUDGETS[kind]} bytes gzipped${over ? ' - ABOVE THE BUDGET' : ''}`);
  }
}
const single = gzipSync(readFileSync('dist/single/weighbridge-viewer.js'), { level: 9 }).length;
failed ||= single > SINGLE;
console.log(`dist/single: ${single} of ${SINGLE} bytes gzipped${single > SINGLE ? ' - ABOVE THE BUDGET' : ''}`);
process.exit(failed ? 1 : 0);
