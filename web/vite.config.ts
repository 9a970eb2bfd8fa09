import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

/** The page's policy. `url` may also read from other servers. */
function policy(mode: string): Record<string, string> {
  return {
    'default-src': "'none'",
    'script-src': "'self' 'wasm-unsafe-eval'",
    'worker-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'manifest-src': "'self'",
    'connect-src': mode === 'url' ? "'self' https: http://localhost:* http://127.0.0.1:*" : "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
  };
}

function written(directives: Record<string, string>): string {
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

/** Adds the policy to the page, so that it applies wherever the page is hosted. */
function csp(mode: string): Plugin {
  return {
    name: 'csp',
    transformIndexHtml: {
      order: 'post',
      handler: () => [
        {
          tag: 'meta',
          attrs: { 'http-equiv': 'Content-Security-Policy', content: written(policy(mode)) },
          injectTo: 'head-prepend',
        },
      ],
    },
  };
}

/** Lists the files the page needs offline, including the samples. */
function serviceWorker(): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    generateBundle(_, bundle) {
      const own = readdirSync('public', { recursive: true, encoding: 'utf8' })
        .map((name) => name.replaceAll('\\', '/'))
        .filter((name) => statSync(`public/${name}`).isFile());
      const files = ['./', ...Object.keys(bundle).filter((name) => name !== 'index.html'), ...own].sort();
      const hash = createHash('sha256').update(readFileSync('index.html')).update(files.join());
      for (const name of own) {
        hash.update(readFileSync(`public/${name}`));
      }
      this.emitFile({
        type: 'asset',
        fileName: 'sw.js',
        source: readFileSync('src/sw.js', 'utf8')
          .replace('__FILES__', JSON.stringify(files))
          .replace('__VERSION__', JSON.stringify(hash.digest('hex').slice(0, 16))),
      });
    },
  };
}

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [csp(mode), serviceWorker()],
  worker: { format: 'es' },
  build: {
    outDir: mode === 'url' ? 'dist/url' : 'dist/local',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
  preview: {
    headers: {
      // A frame would allow clickjacking; only a header can forbid framing.
      'Content-Security-Policy': written({ ...policy(mode), 'frame-ancestors': "'none'" }),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
  },
}));
