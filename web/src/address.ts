/**
 * The page's state after `#` in the address: view, tensor and byte. Only numbers and fixed words,
 * never text from a file.
 */

export interface Place {
  view?: string;
  tensor?: number;
  panel?: string;
  at?: bigint;
  sample?: string;
  url?: string;
}

export function readPlace(hash = location.hash): Place {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const place: Place = {};
  const tensor = fields.get('tensor');
  const at = fields.get('at');
  if (tensor !== null && /^\d{1,10}$/.test(tensor)) {
    place.tensor = Number(tensor);
  }
  if (at !== null && /^\d{1,20}$/.test(at)) {
    place.at = BigInt(at);
  }
  for (const key of ['view', 'panel', 'sample'] as const) {
    const word = fields.get(key);
    if (word !== null && /^[a-z0-9-]{1,40}$/.test(word)) {
      place[key] = word;
    }
  }
  const url = fields.get('url');
  if (url !== null) {
    place.url = url;
  }
  return place;
}

/** The fragment of an address including the `#`, or an empty string for the default place. */
export function hashOf(place: Place): string {
  const fields = new URLSearchParams();
  for (const [key, value] of Object.entries(place)) {
    if (value !== undefined) {
      fields.set(key, String(value));
    }
  }
  const hash = fields.toString();
  return hash === '' ? '' : `#${hash}`;
}

/** Whether an address can be shown: a query or fragment may contain a secret key to the file. */
export function isPlain(address: string): boolean {
  try {
    const { search, hash, username, password } = new URL(address);
    return search + hash + username + password === '';
  } catch {
    return false;
  }
}
