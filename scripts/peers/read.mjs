// Reads files with an npm package or Netron: read.mjs PEER, paths on standard input,
// "accepts" or "refuses" for each on standard output. Each file has its own worker and
// ten seconds, because some files hang some readers.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

const SECONDS = 10;

const load = (name) => import(pathToFileURL(createRequire(`${process.cwd()}/`).resolve(name)).href);

/** Reads a file with one of Netron's model factories; NETRON is its folder. */
async function netron(path, kind) {
  const part = (name) => import(pathToFileURL(join(process.env.NETRON, name)).href);
  const [{ ModelFactory }, { BinaryStream, BinaryReader }] = [await part(`${kind}.js`), await part('base.js')];
  const stream = new BinaryStream(new Uint8Array(readFileSync(path)));
  const context = {
    identifier: path,
    stream,
    peek: async () => null,
    read: async (type) => (type === 'protobuf.binary' ? (await part('protobuf.js')).BinaryReader : BinaryReader).open(stream),
    require: (name) => part(`${name}.js`),
    asset: async (name) => readFileSync(join(process.env.NETRON, name), 'utf8'),
    set: (type, value) => Object.assign(context, { type, value }).type,
  };
  const factory = new ModelFactory();
  if (!(await factory.match(context))) {
    throw new Error('of no known format');
  }
  await factory.open(context);
}

const PEERS = {
  'netron-safetensors': (path) => netron(path, 'safetensors'),
  'netron-gguf': (path) => netron(path, 'gguf'),
  'netron-onnx': (path) => netron(path, 'onnx'),
  '@huggingface/gguf': async (path) => {
    const { gguf } = await load('@huggingface/gguf');
    await gguf(path, { allowLocalFile: true });
  },
  hyllama: async (path) => {
    const { ggufMetadata } = await load('hyllama');
    const bytes = readFileSync(path);
    ggufMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  },
  // The package reads only from its hub, so this file stands in for the hub.
  '@huggingface/hub': async (path) => {
    const { parseSafetensorsMetadata } = await load('@huggingface/hub');
    const file = new Blob([readFileSync(path)]);
    const fetch = async (_, init) => {
      const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init?.headers).get('range') ?? '');
      const [from, to] = range ? [Number(range[1]), Number(range[2])] : [0, file.size - 1];
      const headers = {
        'content-range': `bytes ${from}-${to}/${file.size}`,
        'content-length': String(file.size),
        etag: '"0"',
      };
      return new Response(file.slice(from, to + 1), { status: range ? 206 : 200, headers });
    };
    await parseSafetensorsMetadata({ repo: 'a/b', path: 'model.safetensors', fetch });
  },
};

if (isMainThread) {
  const paths = readFileSync(0, 'utf8').trim().split('\n');
  for (const path of paths) {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { peer: process.argv[2], path },
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
      stdout: true,
      stderr: true,
    });
    const verdict = await new Promise((done) => {
      const timer = setTimeout(() => done('refuses'), SECONDS * 1000);
      const end = (verdict) => (clearTimeout(timer), done(verdict));
      worker.on('message', () => end('accepts'));
      worker.on('error', () => end('refuses'));
      worker.on('exit', () => end('refuses'));
    });
    await worker.terminate();
    console.log(verdict);
  }
} else {
  await PEERS[workerData.peer](workerData.path);
  parentPort.postMessage('read');
}
