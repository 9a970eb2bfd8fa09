/** Lists the tensor files of a hub repository, or of a folder on a server. The hub's answers are as untrusted as the files. */

import { directoryOf } from './directory.ts';
import { HUB, addressOf, isWithin, quoted, type Repository } from './hubs.ts';
import { SHARD, isModel } from '../names.ts';
import { patiently } from './timeout.ts';
import { refusal, unreachable } from './refusals.ts';
import type { Context } from './rpc.ts';

/** Maximum number of listing pages requested, with a thousand entries each. */
const PAGES = 100;
/** After this many entries, no further page is requested. */
const ENTRIES = 200_000;
/** Maximum bytes of a page: a thousand entries take less than 1 MB. */
const LONGEST = 16 << 20;
/** Maximum bytes of a `config.json`. */
const SETTINGS = 1 << 20;

/** A file of a repository. */
export interface Listed {
  path: string;
  size: number;
}

/** A file that can be opened, or the main file of a set. */
export interface Choice {
  path: string;
  /** Total bytes of its files; 0 if the server does not say. */
  size: number;
  files: number;
  address: string;
  /** The URL of the `config.json` next to it. */
  config?: string;
}

export interface Listing {
  choices: Choice[];
  entries: number;
  /** Whether some entries were not examined. */
  cut: boolean;
  /** Number of files left out because their names or sizes are impossible. */
  strange: number;
}

/** Lists the files and sets that can be opened. */
export async function list(context: Context, of: Repository): Promise<Listing> {
  const { kind, name, revision, path } = of;
  if (kind === 'folder') {
    const folder = new URL(name);
    const { files, ...rest } = directoryOf((await fetched(folder, LONGEST, of, context.signal)).text, folder);
    return { choices: choicesOf(files, of), ...rest };
  }
  const found = new Map<string, Listed>();
  let [entries, strange] = [0, 0];
  let next: URL | undefined = new URL(`${HUB}/api/${kind}/${name}/tree/${encodeURIComponent(revision)}${path === '' ? '' : `/${quoted(path)}`}?recursive=true`);
  for (let pages = 0; next !== undefined && pages < PAGES && entries < ENTRIES; pages++) {
    const { text, link } = await fetched(next, LONGEST, of, context.signal);
    const page = entriesOf(text);
    entries += page.length;
    for (const { type, path, size } of page) {
      if (type !== 'file' || !isModel(path)) {
        continue;
      } else if (isWithin(path) && Number.isSafeInteger(size) && size! >= 0) {
        found.set(path, { path, size: size! });
      } else {
        strange++;
      }
    }
    context.progress({ label: `${entries} entries`, done: undefined });
    next = further(link, next);
  }
  return { choices: choicesOf([...found.values()], of), entries, cut: next !== undefined, strange };
}

/** Downloads a `config.json`. */
export async function settings({ signal }: Context, address: string, of: Repository): Promise<string> {
  return (await fetched(new URL(address), SETTINGS, of, signal)).text;
}

/** The validated entries of a page. */
function entriesOf(text: string): { type: string; path: string; size?: number }[] {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    // Reported below as not a list.
  }
  const isEntry = (one: unknown) => {
    const { type, path } = (one ?? {}) as Record<string, unknown>;
    return typeof type === 'string' && typeof path === 'string';
  };
  if (!Array.isArray(page) || !page.every(isEntry)) {
    throw new Error(`${new URL(HUB).host} returned an invalid list of files.`);
  }
  return page;
}

/** The URL of the next page. A page on another server is an error. */
function further(link: string | null, from: URL): URL | undefined {
  const text = /<([^>]*)>\s*;\s*rel="?next\b/i.exec(link ?? '')?.[1];
  if (text === undefined) {
    return undefined;
  }
  const url = URL.canParse(text, from) ? new URL(text, from) : undefined;
  if (url?.origin !== from.origin) {
    throw new Error(`${from.host} continues its list on a different server (${url?.origin ?? 'invalid address'}). Nothing was read there.`);
  }
  return url;
}

/** Shards; their index has the same name without the numbers. */
const INDEX = /\.index\.json$/;
/** The number of a split GGUF's part; the first part stands for the set. */
const PART = /-\d{5}(?=-of-\d{5}\.gguf$)/;

/** Groups files into what can be opened as one, shallowest paths first. */
export function choicesOf(files: readonly Listed[], of: Repository): Choice[] {
  const configs = new Set(files.filter(({ path, size }) => /(?:^|\/)config\.json$/.test(path) && size <= SETTINGS).map(({ path }) => path));
  const indexes = new Set(files.filter(({ path }) => INDEX.test(path)).map(({ path }) => path));
  const sets = new Map<string, Listed[]>();
  for (const file of files.filter(({ path }) => !/(?:^|\/)config\.json$/.test(path)).sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const index = `${file.path.replace(SHARD, '')}.index.json`;
    const key = SHARD.test(file.path) && indexes.has(index) ? index : file.path.replace(PART, '');
    const set = sets.get(key);
    if (set === undefined) {
      sets.set(key, [file]);
    } else {
      set.push(file);
    }
  }
  const depth = (path: string) => path.split('/').length;
  return [...sets]
    .map(([key, all]): Choice => {
      const { path } = all.find((one) => one.path === key) ?? all[0];
      const config = path.replace(/[^/]*$/, 'config.json');
      return {
        path,
        size: all.reduce((sum, one) => sum + one.size, 0),
        files: all.length,
        address: addressOf(of, path),
        config: configs.has(config) ? addressOf(of, config) : undefined,
      };
    })
    .sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1));
}

/** Downloads a text of at most `limit` bytes and its `Link` header, which names the next page. */
async function fetched(url: URL, limit: number, { kind, name, revision, path }: Repository, signal: AbortSignal): Promise<{ text: string; link: string | null }> {
  const stop = new AbortController();
  const options = { signal: AbortSignal.any([signal, stop.signal]), cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' } as const;
  const wait = <T>(promise: Promise<T>) => patiently(promise, `Waiting for ${url.host}`, signal);
  try {
    const response = await wait(
      fetch(url, options).catch(async (error: unknown) => {
        throw error instanceof TypeError ? new Error(await unreachable(url)) : error;
      }),
    );
    if (!response.ok) {
      const code = response.headers.get('x-error-code');
      const what = { models: 'The model', datasets: 'The dataset', spaces: 'The space', folder: 'The folder' }[kind];
      const which = code === 'RevisionNotFound' ? `The revision ${revision} of ${name}` : code === 'EntryNotFound' ? `The folder ${path} of ${name}` : `${what} ${name}`;
      throw new Error(refusal(response, url.host, which));
    }
    const { origin, host } = new URL(response.url);
    if (origin !== url.origin) {
      throw new Error(`${url.host} redirects to ${host}, a different server.`);
    }
    const reader = (response.body ?? new Blob().stream()).getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (let taken = 0; ; ) {
      const { value, done } = await wait(reader.read());
      if (done) {
        return { text, link: response.headers.get('link') };
      }
      taken += value.length;
      if (taken > limit) {
        throw new Error(`${url.host} sent more than ${limit >> 20} MiB in one response. The rest was not read.`);
      }
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    // Stop the transfer of whatever was not read.
    stop.abort();
  }
}
