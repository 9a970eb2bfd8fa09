// Builds the extension in dist/vscode: its manifest with the file names from the table of formats,
// its code for desktop and browser, and the files its web view loads.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'vite';
import { load } from 'weighbridge';

const out = 'dist/vscode';
const { version, license, repository, homepage } = JSON.parse(readFileSync('../wasm/package.json', 'utf8'));
const extensions = (await load('full')).formats().flatMap((format) => format.extensions);
// JSON files open as text by default.
const isText = (extension) => extension.endsWith('json');
const editor = (viewType, priority, chosen) => ({
  viewType,
  displayName: 'Weighbridge',
  selector: chosen.map((extension) => ({ filenamePattern: `*.${extension}` })),
  priority,
});

const manifest = {
  name: 'weighbridge',
  displayName: 'Weighbridge',
  description: 'Shows what is inside a tensor file, whether it is valid, and if not, which byte is wrong',
  version,
  publisher: 'weighbridge',
  license,
  repository,
  homepage,
  categories: ['Data Science', 'Machine Learning', 'Visualization'],
  engines: { vscode: '^1.95.0' },
  main: './desktop.js',
  browser: './web.js',
  // It is read-only and trusts nothing that it reads.
  capabilities: { untrustedWorkspaces: { supported: true }, virtualWorkspaces: true },
  contributes: {
    customEditors: [
      editor('weighbridge.viewer', 'default', extensions.filter((extension) => !isText(extension))),
      editor('weighbridge.index', 'option', extensions.filter(isText)),
    ],
  },
};

for (const [name, format] of [
  ['desktop', 'cjs'],
  ['web', 'cjs'],
  ['media/webview', 'es'],
]) {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      outDir: out,
      emptyOutDir: name === 'desktop',
      target: 'es2022',
      ssr: `vscode/src/${name.split('/').at(-1)}.ts`,
      minify: true,
      rollupOptions: { external: ['vscode'], output: { format, codeSplitting: false, entryFileNames: `${name}.js` } },
    },
  });
}
mkdirSync(`${out}/media`, { recursive: true });
writeFileSync(`${out}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync('dist/single/weighbridge-viewer.js', `${out}/media/weighbridge-viewer.js`);
copyFileSync('vscode/README.md', `${out}/README.md`);
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  copyFileSync(`../${name}`, `${out}/${name}`);
}
