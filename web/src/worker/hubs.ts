/** Addresses of pages about a file, as those of the file itself; names of repositories of the hub. */

/** The hub whose repositories are opened by name. */
export const HUB = 'https://huggingface.co';

/** A folder of a repository of the hub. */
export interface Repository {
  /** As its API has it. */
  kind: 'models' | 'datasets' | 'spaces';
  /** Owner and name. */
  name: string;
  revision: string;
  /** Of the folder, or of a file; empty for all of it. */
  path: string;
}

/** The address of a page of the hub: of a repository, or of a folder in it. */
const PAGE = /^(?:https?:\/\/)?(?:huggingface\.co|hf\.co)\/(?:(datasets|spaces)\/)?([^/?#]+\/[^/?#]+)(?:\/tree\/([^/?#]+)(\/[^?#]*)?)?\/?(?:[?#].*)?$/;
/** As people and the command name one: `org/model`, `org/model@revision/folder`. */
const NAMED = /^(?!(?:huggingface|hf)\.co\/)(?:hf:\/\/)?(?:(datasets|spaces)\/)?([^/@]+\/[^/@]+)(?:@(refs\/[^/?#]+\/[^/?#]+|[^/?#]+))?(\/[^?#]*)?$/;
/** An owner, or a name. */
const WORD = /^(?!\.{1,2}$)[\w.-]{1,96}$/;

/** The repository that a text names, if it does. */
export function repositoryOf(text: string): Repository | undefined {
  const page = PAGE.exec(text);
  const [, kind = 'models', name = '', branch = 'main', folder = ''] = page ?? NAMED.exec(text) ?? [];
  const plain = (part: string) => (page === null ? part.replaceAll('%2F', '/') : decoded(part));
  const revision = plain(branch);
  const parts = folder.split('/').filter((part) => part !== '');
  const path = parts.map(plain).join('/');
  const isOne = name.split('/').every((word) => WORD.test(word)) && isWithin(revision) && (path === '' || isWithin(path));
  return isOne ? { kind: kind as Repository['kind'], name, revision, path } : undefined;
}

/** Whether a path leads nowhere else, and is shown as it is. */
export function isWithin(path: string): boolean {
  return path.length <= 1024 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
}

/** The address of a file of a repository. */
export function addressOf({ kind, name, revision }: Repository, path: string): string {
  return `${HUB}/${kind === 'models' ? '' : `${kind}/`}${name}/resolve/${encodeURIComponent(revision)}/${quoted(path)}`;
}

/** A path as it stands in an address. */
export function quoted(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A part of an address as people write it; as it is where it is not UTF-8. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether an address is one that may be opened: encrypted, or on this computer. */
export function isOpenable({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && (hostname === 'localhost' || hostname === '127.0.0.1'));
}

/** Where the bytes are of what an address shows. */
export function direct(address: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new Error(`${address} is not a valid address.`);
  }
  if (!isOpenable(url)) {
    throw new Error('Only https addresses can be opened, or http addresses on this computer.');
  }
  const { hostname, pathname } = url;
  if (hostname === 'huggingface.co' || hostname === 'hf.co') {
    // org/model/blob/revision/path; data sets have one more part in front.
    url.pathname = pathname.replace(/^((?:\/(?:datasets|spaces))?\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
  } else if (hostname === 'github.com') {
    const match = /^\/([^/]+)\/([^/]+)\/(?:blob|raw)\/(.+)$/.exec(pathname);
    if (match !== null) {
      url.hostname = 'raw.githubusercontent.com';
      url.pathname = `/${match[1]}/${match[2]}/${match[3]}`;
      url.search = '';
    }
  } else if (pathname.includes('/-/blob/')) {
    // GitLab, wherever it runs.
    url.pathname = pathname.replace('/-/blob/', '/-/raw/');
  }
  return url;
}
