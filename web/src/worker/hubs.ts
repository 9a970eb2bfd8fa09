/**
 * Maps addresses of web pages about a file to the file itself, and parses names of hub
 * repositories.
 */

/** The hub whose repositories can be opened by name. */
export const HUB = 'https://huggingface.co';

/** A folder of a hub repository, or of any server. */
export interface Repository {
  /** The kind in the hub's API; `folder` is on another server. */
  kind: 'models' | 'datasets' | 'spaces' | 'folder';
  /** Owner and name, or the URL of the folder. */
  name: string;
  revision: string;
  /** The path of the folder or of a file; empty for the whole repository. */
  path: string;
}

/** The URL of a hub page: a repository or a folder in it. */
const PAGE = /^(?:https?:\/\/)?(?:huggingface\.co|hf\.co)\/(?:(datasets|spaces)\/)?([^/?#]+\/[^/?#]+)(?:\/tree\/([^/?#]+)(\/[^?#]*)?)?\/?(?:[?#].*)?$/;
/** A name as users and the command line write it: `org/model`, `org/model@revision/folder`. */
const NAMED = /^(?!(?:huggingface|hf)\.co\/)(?:hf:\/\/)?(?:(datasets|spaces)\/)?([^/@]+\/[^/@]+)(?:@(refs\/[^/?#]+\/[^/?#]+|[^/?#]+))?(\/[^?#]*)?$/;
/** An owner or a name. */
const WORD = /^(?!\.{1,2}$)[\w.-]{1,96}$/;

/** The repository that a text names, if any. */
export function repositoryOf(text: string): Repository | undefined {
  const page = PAGE.exec(text);
  const server = page === null && URL.canParse(text) ? new URL(text) : undefined;
  if (server !== undefined && !/^(?:huggingface|hf)\.co$/.test(server.hostname) && isOpenable(server) && server.pathname.endsWith('/') && server.search + server.hash === '') {
    return { kind: 'folder', name: server.href, revision: '', path: '' };
  }
  const [, kind = 'models', name = '', branch = 'main', folder = ''] = page ?? NAMED.exec(text) ?? [];
  const plain = (part: string) => (page === null ? part.replaceAll('%2F', '/') : decoded(part));
  const revision = plain(branch);
  const parts = folder.split('/').filter((part) => part !== '');
  const path = parts.map(plain).join('/');
  const isOne = name.split('/').every((word) => WORD.test(word)) && isWithin(revision) && (path === '' || isWithin(path));
  return isOne ? { kind: kind as Repository['kind'], name, revision, path } : undefined;
}

/** Whether a path stays inside its folder and contains only visible characters. */
export function isWithin(path: string): boolean {
  return path.length <= 1024 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
}

/** The URL of a file in a repository. */
export function addressOf({ kind, name, revision }: Repository, path: string): string {
  if (kind === 'folder') {
    return new URL(quoted(path), name).href;
  }
  return `${HUB}/${kind === 'models' ? '' : `${kind}/`}${name}/resolve/${encodeURIComponent(revision)}/${quoted(path)}`;
}

/** A path encoded for a URL. */
export function quoted(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Decodes a part of a URL; returns it unchanged if it is not UTF-8. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether a URL may be opened: encrypted, or on this computer. */
export function isOpenable({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && (hostname === 'localhost' || hostname === '127.0.0.1'));
}

/** The URL of the raw bytes of the file that a URL shows. */
export function direct(address: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new Error(`“${address}” is not an address such as https://example.org/model.safetensors.`);
  }
  if (!isOpenable(url)) {
    throw new Error('Only https addresses can be opened, or http addresses on this computer.');
  }
  const { hostname, pathname } = url;
  if (hostname === 'huggingface.co' || hostname === 'hf.co') {
    // org/model/blob/revision/path; data sets have one more segment in front.
    url.pathname = pathname.replace(/^((?:\/(?:datasets|spaces))?\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
  } else if (hostname === 'github.com') {
    const match = /^\/([^/]+)\/([^/]+)\/(?:blob|raw)\/(.+)$/.exec(pathname);
    if (match !== null) {
      url.hostname = 'raw.githubusercontent.com';
      url.pathname = `/${match[1]}/${match[2]}/${match[3]}`;
      url.search = '';
    }
  } else if (pathname.includes('/-/blob/')) {
    // GitLab, on any host.
    url.pathname = pathname.replace('/-/blob/', '/-/raw/');
  }
  return url;
}
