// Third-party packages, and the files that `scripts/wasm.sh bench` writes.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
export const trials = join(target, 'web-trials');

/** Imports a third-party package, if it is installed. */
export async function peer(name) {
  try {
    return await import(pathToFileURL(createRequire(join(target, 'peers', 'x')).resolve(name)).href);
  } catch {
    console.log(`left out: ${name}; scripts/peers.sh npm installs it`);
    return null;
  }
}
