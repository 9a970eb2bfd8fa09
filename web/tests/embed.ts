/** A server for third-party pages that contain the element: their policy, and files by range. */

import { openSync, readFileSync, readSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect, samples, test as base } from './page.ts';

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/**
 * Serves a page with this body and policy, or a complete page, plus the built files in `dist`.
 * Returns its URL.
 */
export type Serve = (body: string, policy: string, whole?: string) => Promise<string>;

export const test = base.extend<{ serve: Serve }>({
  serve: async ({}, use) => {
    const servers: Server[] = [];
    await use(async (body, policy, whole) => {
      const server = createServer((request, response) => answer(request, response, { policy, html: whole ?? around(body) }));
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    });
    servers.forEach((server) => server.close());
  },
});

function around(body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Ours</title><body><main><h1>A page of others</h1>${body}</main></body></html>`;
}

function answer(request: IncomingMessage, response: ServerResponse, { policy, html }: { policy: string; html: string }): void {
  const path = new URL(request.url!, 'http://127.0.0.1').pathname;
  if (path === '/') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
    response.end(html);
    return;
  }
  let bytes: Buffer;
  try {
    bytes = readFileSync(`dist${path}`);
  } catch {
    response.writeHead(404).end();
    return;
  }
  const type = { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' };
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (range === null) {
    response.writeHead(200, type).end(bytes);
    return;
  }
  const [from, to] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
  response.writeHead(206, { ...type, 'content-range': `bytes ${from}-${to}/${bytes.length}` }).end(bytes.subarray(from, to + 1));
}

/** The path of a sample's file below `dist`. */
export const sampleAt = (id: string) => `local/samples/${samples.find((sample) => sample.id === id)!.file}`;

/** A lazily loaded view appears with its own styles, and the surrounding page gets none of them. */
export async function modelIsShown(viewer: Locator): Promise<void> {
  await viewer.getByRole('tab', { name: 'Model' }).click();
  await expect(viewer.getByRole('tab', { name: 'Overview' }).first()).toBeVisible();
  expect(await viewer.locator('.model').first().evaluate((element) => [getComputedStyle(element).display, document.querySelectorAll('link').length])).toEqual(['grid', 0]);
}

/** Reads ranges of a file on this disk, and records the requests. */
export function reader(path: string): { read(offset: number, length: number): Buffer; asked: { offset: number; length: number }[] } {
  const file = openSync(path, 'r');
  const asked: { offset: number; length: number }[] = [];
  return {
    asked,
    read(offset, length) {
      asked.push({ offset, length });
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    },
  };
}

/** Adds `window.ranges(offset, length)` to the page, which reads a file on this disk. */
export async function exposeRanges(page: Page, path: string): Promise<{ offset: number; length: number }[]> {
  const { read, asked } = reader(path);
  await page.exposeFunction('rangesAsText', (offset: number, length: number) => read(offset, length).toString('base64'));
  await page.addInitScript(() => {
    const scope = window as unknown as { rangesAsText(offset: number, length: number): Promise<string>; ranges: unknown };
    scope.ranges = async (offset: number, length: number) => Uint8Array.from(atob(await scope.rangesAsText(offset, length)), (c) => c.charCodeAt(0));
  });
  return asked;
}
