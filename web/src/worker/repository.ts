/** What tensor files a repository of the hub has. Its answers are as untrusted as the files. */

import { HUB, addressOf, isWithin, quoted, type Repository } from './hubs.ts';
import { TENSORS } from '../names.ts';
import { patiently } from './patience.ts';
import { refusal, unreachable } from './refusals.ts';
import type { Context } from './rpc.ts';

/** Most pages of a listing that are asked for, of a thousand entries each. */
const PAGES = 100;
/** After so many entries no other page is asked for. */
const ENTRIES = 200_000;
/** Bytes of the longest page: a thousand entries take less than 1 MB. */
const LONGEST = 16 << 20;
/** Bytes of the longest `config.json` that is read. */
const SETTINGS = 1 << 20;

/** A file of a repository. */
export interface Listed {
  path: string;
  size: number;
}

/** What can be opened: a file, or the one that stands for all of a set. */
export interface Choice {
  path: string;
  /** Bytes of all its files. */
  size: number;
  files: number;
  address: string;
  /** The address of the `config.json` beside it. */
  config?: string;
}

export interface Listing {
  choices: Choice[];
  entries: number;
  /** Whether there are entries that were not looked at. */
  cut: boolean;
  /** Files with names or sizes that no file can have; they are left out. */
  strange: number;
}

/** Lists what can be opened. */
export async function list(context: Context, of: Repository): Promise<Listing> {
  const { kind, name, revision, path } = of;
  const found = new Map<string, Listed>();
  let [entries, strange] = [0, 0];
  let next: URL | undefined = new URL(`${HUB}/api/${kind}/${name}/tree/${encodeURIComponent(revision)}${path === '' ? '' : `/${quoted(path)}`}?recursive=true`);
  for (let pages = 0; next !== undefined && pages < PAGES && entries < ENTRIES; pages++) {
    const { text, link } = await fetched(next, LONGEST, of, context.signal);
    const page = entriesOf(text);
    entries += page.length;
    for (const { type, path, size } of page) {
      if (type !== 'file' || !TENSORS.test(path)) {
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

/** The text of a `config.json`. */
export async function settings({ signal }: Context, address: string, of: Repository): Promise<string> {
  return (await fetched(new URL(address), SETTINGS, of, signal)).text;
}

/** The entries of a page, whose shape is checked. */
function entriesOf(text: string): { type: string; path: string; size?: number }[] {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    // It is no list either.
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

/** The next page of a listing, which is on the same server or an error. */
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

/** Shards, whose index has the name without their numbers. */
const SHARD = /-\d{5}-of-\d{5}(?=\.safetensors$)/;
const INDEX = /\.index\.json$/;
/** The number of a part of a split GGUF: its first stands for all. */
const PART = /-\d{5}(?=-of-\d{5}\.gguf$)/;

/** Files put together to what is opened as one, those that lie less deep first. */
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

/** A text that the hub has, up to `limit` bytes, and where the next page of it is. */
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
      const what = { models: 'The model', datasets: 'The dataset', spaces: 'The space' }[kind];
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
    // What is not read any more is not sent.
    stop.abort();
  }
}
