/** Lists a folder of a web server: a page of links, or JSON. The answer is as untrusted as the files. */

import { decoded, isWithin } from './hubs.ts';
import { isModel } from '../names.ts';
import type { Listed } from './repository.ts';

/** Maximum number of entries that are examined. */
const ENTRIES = 200_000;
/** Targets of links. */
const LINK = /<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
/** Characters that pages write in another way. */
const WRITTEN: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

export interface Directory {
  files: Listed[];
  entries: number;
  cut: boolean;
  strange: number;
}

/** The files directly in `folder` that can be opened, from what its server sent for it. */
export function directoryOf(text: string, folder: URL): Directory {
  const all = fromJson(text) ?? fromLinks(text);
  if (all === undefined) {
    throw new Error(`${folder.host} sent no list of files for ${folder.pathname}: it may not list its folders.`);
  }
  const found = new Map<string, Listed>();
  let strange = 0;
  for (const { target, size } of all.slice(0, ENTRIES)) {
    const path = pathIn(target, folder);
    if (path === undefined || !isModel(path)) {
      continue;
    } else if (isWithin(path) && !path.includes('/') && (size === undefined || (Number.isSafeInteger(size) && size >= 0))) {
      found.set(path, { path, size: size ?? 0 });
    } else {
      strange++;
    }
  }
  return { files: [...found.values()], entries: Math.min(all.length, ENTRIES), cut: all.length > ENTRIES, strange };
}

interface Target {
  /** Relative to the folder, encoded as in a URL. */
  target: string;
  size?: number;
}

/** Names, or objects with names and sizes as nginx and Caddy write them; `undefined` if it is something else. */
function fromJson(text: string): Target[] | undefined {
  if (!/^\s*\[/.test(text)) {
    return undefined;
  }
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  return (list as unknown[]).flatMap((one) => {
    const { name, size } = (typeof one === 'string' ? { name: one } : (one ?? {})) as { name?: unknown; size?: unknown };
    return typeof name === 'string' ? [{ target: encodeURIComponent(name), size: typeof size === 'number' ? size : undefined }] : [];
  });
}

function fromLinks(text: string): Target[] | undefined {
  const links = Array.from(text.matchAll(LINK), ([, double, single, bare]) => double ?? single ?? bare);
  return links.length === 0 ? undefined : links.map((link) => ({ target: link.replaceAll(/&([a-z]+|#39|#x27);/gi, (all, name: string) => WRITTEN[name.toLowerCase()] ?? all) }));
}

/** The decoded path of a target below the folder; `undefined` if it is elsewhere. */
function pathIn(target: string, folder: URL): string | undefined {
  const url = URL.canParse(target, folder) ? new URL(target, folder) : undefined;
  const within = url !== undefined && url.origin === folder.origin && url.search === '' && url.pathname.startsWith(folder.pathname);
  return within ? decoded(url.pathname.slice(folder.pathname.length)) : undefined;
}
