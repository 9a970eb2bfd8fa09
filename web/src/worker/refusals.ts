/** Explains why a server delivered nothing. */

/** Addresses blocked by this page's policy. */
const blocked = new Set<string>();
globalThis.addEventListener?.('securitypolicyviolation', ({ blockedURI }) => blocked.add(blockedURI));

/** Why a request failed, as far as a page may know. */
export async function unreachable(url: URL): Promise<string> {
  // The event is dispatched after the failure.
  await new Promise((resolve) => setTimeout(resolve));
  if ([...blocked].some((uri) => uri === url.href || uri === url.origin)) {
    return `This page is not allowed to connect to ${url.origin}: its policy permits only https, or http on this computer.`;
  }
  if (!navigator.onLine) {
    return `${url.host} could not be reached: this computer is offline.`;
  }
  // A no-cors request hides the answer from the page, but shows whether the server exists.
  const there = await fetch(url, { method: 'HEAD', mode: 'no-cors', cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' }).then(
    () => true,
    () => false,
  );
  return there
    ? `${url.host} does not let other sites read its files (it sends no CORS headers). Download the file and open it from disk.`
    : `${url.host} could not be reached: check the address and the connection.`;
}

/** Why a server that answered did not deliver `what`, which begins the sentence. */
export function refusal({ status, headers }: Response, host: string, what: string): string {
  const code = headers.get('x-error-code');
  if (code === 'GatedRepo') {
    return `${what} requires sign-in and acceptance of its terms, and this page cannot sign in. Download it and open it from disk.`;
  }
  switch (status) {
    case 401:
    case 403:
      return `${what} is private or does not exist (${host} returned ${status}), and this page cannot sign in. If you have access, download it and open it from disk.`;
    case 404:
    case 410:
      return `${what} does not exist (${host} returned ${status}).`;
    case 429:
      return `${host} has received too many requests from your network. Wait a few minutes and try again.`;
    default:
      return status >= 500 ? `${host} is unavailable (it returned ${status}). Try again later.` : `${host} returned ${status}.`;
  }
}
