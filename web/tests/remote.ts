/** Simulates third-party servers. */

import type { Route } from '@playwright/test';

/** Headers that allow a page of another origin to read. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'range',
  'access-control-expose-headers': 'content-range, link, x-error-code',
};

/** Answers a range request, or 404 if there is no file. */
export async function sendRange(route: Route, bytes: Buffer | undefined): Promise<void> {
  const { method, range } = { method: route.request().method(), range: route.request().headers().range };
  if (method === 'OPTIONS' || bytes === undefined) {
    await route.fulfill({ status: bytes === undefined ? 404 : 204, headers: CORS });
    return;
  }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (from === undefined) {
    await route.fulfill({ status: 200, headers: CORS, body: bytes });
    return;
  }
  const end = Math.min(Number(to), bytes.length - 1);
  await route.fulfill({ status: 206, headers: { ...CORS, 'content-range': `bytes ${from}-${end}/${bytes.length}` }, body: bytes.subarray(Number(from), end + 1) });
}
