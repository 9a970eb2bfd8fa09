/** Addresses of files: which may be opened, how many requests it takes, what can go wrong. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { direct, isOpenable } from '../src/worker/hubs.ts';
import { safetensors } from './files.ts';
import { BY_URL, expect, sampleFile, settled, test } from './page.ts';

test.use({ baseURL: BY_URL });

test('addresses of pages about a file lead to the file', () => {
  const to = (address: string) => direct(address).href;
  expect(to('https://huggingface.co/org/model/blob/main/model.safetensors')).toBe('https://huggingface.co/org/model/resolve/main/model.safetensors');
  expect(to('https://huggingface.co/datasets/org/data/blob/main/sub/x.gguf?download=true')).toBe('https://huggingface.co/datasets/org/data/resolve/main/sub/x.gguf?download=true');
  expect(to('https://huggingface.co/org/model/resolve/main/blob/x.gguf')).toBe('https://huggingface.co/org/model/resolve/main/blob/x.gguf');
  expect(to('https://github.com/owner/repo/blob/v1.0/dir/m.safetensors?raw=true')).toBe('https://raw.githubusercontent.com/owner/repo/v1.0/dir/m.safetensors');
  expect(to('https://gitlab.example/group/sub/repo/-/blob/main/m.gguf')).toBe('https://gitlab.example/group/sub/repo/-/raw/main/m.gguf');
  expect(to('https://files.test/blob/m.gguf')).toBe('https://files.test/blob/m.gguf');
  expect(() => direct('org/model')).toThrow('“org/model” is not an address such as https://');
  expect(() => direct('http://files.test/m.gguf')).toThrow('Only https addresses can be opened');
});

test('http is for this computer only', () => {
  const openable = (address: string) => isOpenable(new URL(address));
  expect([openable('http://localhost:8000/x'), openable('http://127.0.0.1/x'), openable('https://files.test/')]).toEqual([true, true, true]);
  expect([openable('http://localhost.files.test/x'), openable('file:///x'), openable('http://192.168.0.1/')]).toEqual([false, false, false]);
});

/** A local server of one file that supports range requests. */
async function serve(bytes: Buffer, headers: Record<string, string>): Promise<{ server: Server; port: number; ranges: string[] }> {
  const ranges: string[] = [];
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) {
      response.setHeader(name, value);
    }
    if (request.method !== 'GET') {
      response.writeHead(204).end();
      return;
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    ranges.push(request.headers.range ?? 'all');
    const [from, to] = range === null ? [0, bytes.length - 1] : [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
    if (bytes.length === 0) {
      response.writeHead(416, { 'content-range': 'bytes */0' }).end();
    } else {
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${bytes.length}` }).end(bytes.subarray(from, to + 1));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port, ranges };
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'range',
  'access-control-expose-headers': 'content-range',
  'access-control-allow-private-network': 'true',
};

async function openAddress(page: import('@playwright/test').Page, address: string): Promise<void> {
  await page.goto('./');
  await page.getByLabel('Address of a file').fill(address);
  await page.getByRole('button', { name: 'Open address' }).click();
}

test('a server on this computer is allowed, and a small file takes one request', async ({ page }) => {
  const { server, port, ranges } = await serve(readFileSync(sampleFile('micro.stb')), CORS);
  await openAddress(page, `http://127.0.0.1:${port}/micro.stb`);
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('STB');
  expect(ranges).toEqual(['bytes=0-65535']);
  server.close();
});

test('size and the first 64 KiB come with one request, and are not asked for again', async ({ page }) => {
  const data = new Float32Array(1 << 20);
  const { server, port, ranges } = await serve(safetensors({ a: { dtype: 'F32', data } }), CORS);
  await openAddress(page, `http://127.0.0.1:${port}/model.safetensors`);
  await settled(page);
  await expect(page.locator('.tensor-table')).toContainText('f32');
  // The first 64 KiB are not requested again.
  expect(ranges[0]).toBe('bytes=0-65535');
  for (const range of ranges.slice(1)) {
    expect(Number(/^bytes=(\d+)/.exec(range)![1])).toBeGreaterThanOrEqual(65_536);
  }
  server.close();
});

test('an empty file has a size too', async ({ page }) => {
  const { server, port } = await serve(Buffer.alloc(0), CORS);
  await openAddress(page, `http://127.0.0.1:${port}/empty.stb`);
  await settled(page);
  await expect(page.locator('.verdict-facts')).toContainText('0 B');
  server.close();
});

test('a server that forbids pages gives another message than one that is down', async ({ page }) => {
  const { server, port } = await serve(readFileSync(sampleFile('micro.stb')), {});
  await openAddress(page, `http://127.0.0.1:${port}/micro.stb`);
  await expect(page.getByRole('alert')).toContainText(`127.0.0.1:${port} does not let other sites read its files (it sends no CORS headers)`);
  await new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await openAddress(page, `http://127.0.0.1:${port}/micro.stb`);
  await expect(page.getByRole('alert')).toContainText(`127.0.0.1:${port} could not be reached: check the address`);
  await expect(page.getByRole('alert')).not.toContainText('CORS');
});

test('the policy allows what the page opens', async ({ request }) => {
  const policy = (await request.get('./')).headers()['content-security-policy'];
  const connect = /connect-src ([^;]*)/.exec(policy)![1].split(' ');
  expect(connect).toEqual(["'self'", 'https:', 'http://localhost:*', 'http://127.0.0.1:*']);
});
