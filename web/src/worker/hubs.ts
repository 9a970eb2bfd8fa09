/** Addresses of pages about a file, as those of the file itself. */

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
    throw new Error(`${address} is not an address.`);
  }
  if (!isOpenable(url)) {
    throw new Error('Only https addresses can be opened, and http on this computer.');
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
