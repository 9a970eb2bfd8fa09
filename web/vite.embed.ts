import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, defineConfig, type Plugin, type UserConfig } from 'vite';

const common = {
  base: './',
  publicDir: false,
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
} as const satisfies UserConfig;

/** Inflates packed WebAssembly at run time. */
const INFLATE = `
const inflated = (text) =>
  new Response(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream('gzip')), {
    headers: { 'content-type': 'application/wasm' },
  });
`;

/**
 * Embeds the views' style sheets: the element adds them to its own tree, not to the surrounding
 * page.
 */
const sheets: Plugin = {
  name: 'sheets-inside',
  enforce: 'pre',
  resolveId(id, from) {
    if (!id.endsWith('.css') || !from?.includes('/src/views/')) {
      return undefined;
    }
    if (!readFileSync('src/embed/element.ts', 'utf8').includes(`${basename(id)}?inline`)) {
      throw new Error(`${from} brings ${id} along, which src/embed/element.ts does not have`);
    }
    return '\0sheet';
  },
  load: (id) => (id === '\0sheet' ? '' : undefined),
};

/** Embeds WebAssembly, packed, in the code that loads it. */
const wasm: Plugin = {
  name: 'wasm-inside',
  transform(code, id) {
    const file = /new URL\('\.?\/?(\w+\.wasm)', import\.meta\.url\)/g;
    if (!file.test(code)) {
      return undefined;
    }
    // The glue's fallback URL is never used: it is always given a module.
    const packed = code.replaceAll(file, (_, name: string) =>
      id.endsWith('index.js') ? `inflated('${gzipSync(readFileSync(join(dirname(id), name)), { level: 9 }).toString('base64')}')` : 'undefined',
    );
    return { code: INFLATE + packed, map: null };
  },
};

/** The worker's code as a string. */
const worker: Plugin = {
  name: 'worker-inside',
  resolveId: (id) => (id === 'virtual:worker' ? '\0worker' : undefined),
  async load(id) {
    if (id !== '\0worker') {
      return undefined;
    }
    const made = await build({
      ...common,
      configFile: false,
      logLevel: 'warn',
      plugins: [wasm],
      build: { ...common.build, write: false, rollupOptions: { input: 'src/worker/main.ts', output: { codeSplitting: false } } },
    });
    const [{ output }] = [made].flat() as { output: { type: string; code?: string }[] }[];
    return `export default ${JSON.stringify(output.find(({ type }) => type === 'chunk')!.code)}`;
  },
};

/** Builds the element: `element` with a separate worker file, `single` as one file. */
export default defineConfig(({ mode }) => ({
  ...common,
  plugins: mode === 'single' ? [sheets, worker] : [sheets],
  build: {
    ...common.build,
    outDir: `dist/${mode}`,
    rollupOptions: {
      input: mode === 'single' ? 'src/embed/single.ts' : 'src/embed/viewer.ts',
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'weighbridge-viewer.js', ...(mode === 'single' && { codeSplitting: false }) },
    },
  },
}));
