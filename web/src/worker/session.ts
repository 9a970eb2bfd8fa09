/** The open files, and how their documents are supplied with bytes. */

import { load, open as openAlone, type ComputeLibrary, type FullLibrary, type Library, type SummaryLibrary } from 'weighbridge';
import type { Appended } from './appended.ts';
import { fetching } from './code.ts';
import type { Beside, Joined, Paper } from './joint.ts';
import { tell, type Context } from './rpc.ts';
import { FileChanged, type Source } from './sources.ts';

export class Session {
  readonly source: Source;
  readonly document: Paper;
  /** The files, if there are several. */
  readonly set: Joined | Appended | undefined;
  #words: string[] = [];
  #tail: Promise<unknown> = Promise.resolve();

  constructor(source: Source, document: Paper, set?: Joined | Appended) {
    this.source = source;
    this.document = document;
    this.set = set;
  }

  /** The text of a code. */
  word(code: number): string {
    if (code >= this.#words.length) {
      this.#words = this.document.words();
    }
    return this.#words[code] ?? '';
  }

  /**
   * Repeats `call` until it needs no more bytes and no module. Others may use the document between
   * two rounds, and while a module is loaded, so that neither blocks the page.
   */
  async settle<T>(
    call: () => T | undefined | false,
    context: Context,
    round?: () => void,
  ): Promise<T> {
    for (;;) {
      const answer = await this.#alone(async (): Promise<{ result: T } | { requires: Paper['requires'] }> => {
        const result = call();
        if (result !== undefined && result !== false) {
          return { result };
        }
        context.signal.throwIfAborted();
        const { requires } = this.document;
        if (requires === undefined) {
          await this.#supply(context.signal);
        }
        return { requires };
      });
      if ('result' in answer) {
        return answer.result;
      }
      if (answer.requires !== undefined) {
        await load(answer.requires);
      }
      context.signal.throwIfAborted();
      round?.();
    }
  }

  /** Provides the bytes that the document is waiting for. */
  async #supply(signal: AbortSignal): Promise<void> {
    const need = this.document.need();
    if (need.length === 0) {
      throw new Error('the document is not waiting for any bytes');
    }
    const reads: Promise<Uint8Array>[] = [];
    for (let i = 0; i < need.length; i += 2) {
      reads.push(this.read(need[i], Number(need[i + 1]), signal));
    }
    const pieces = await Promise.all(reads);
    pieces.forEach((bytes, i) => this.document.supply(need[2 * i], bytes));
  }

  /** Reads exactly `len` bytes; fewer mean that the file has changed. */
  async read(at: bigint, len: number, signal?: AbortSignal): Promise<Uint8Array> {
    return await this.source.read(at, len, signal);
  }

  #alone<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(action, action);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Frees the document once no read is pending. */
  close(): void {
    void this.#alone(async () => this.document.free());
  }
}

const sessions = new Map<number, Session>();
/** The next file's number. The worker that replaces this one must give others. */
let next = Math.round(performance.timeOrigin);

/** Wraps a source so that any read that detects a changed file notifies the page. */
function observed(source: Source, changed: (message: string) => void): Source {
  const noticed = (error: unknown) => {
    if (error instanceof FileChanged) {
      changed(error.message);
    }
    return error;
  };
  return {
    ...source,
    async read(at, len, signal) {
      try {
        const bytes = await source.read(at, len, signal);
        if (bytes.length < len) {
          throw new FileChanged(`${source.name} has become shorter since it was opened: read ${bytes.length} of ${len} bytes at offset ${at}.`);
        }
        return bytes;
      } catch (error) {
        throw noticed(error);
      }
    },
    async *pieces(...what) {
      try {
        yield* source.pieces(...what);
      } catch (error) {
        throw noticed(error);
      }
    },
  };
}

/** Opens a file together with the files of its set next to it. */
export async function start(from: Source, context: Context, beside: Beside): Promise<[number, Session]> {
  const id = next++;
  const watched = (one: Source) => observed(one, (message) => sessions.has(id) && tell({ changed: id, message }));
  const source = watched(from);
  const document = await openAlone(source, {
    goal: 'index',
    name: source.name,
    signal: context.signal,
    progress: (progress) => context.progress({ label: progress.stage, done: undefined }),
  });
  const open = async (name: string) => {
    const found = await beside.open(name);
    return found && watched(found);
  };
  let session = new Session(source, document);
  if (document.format === 'shards' || (document.format === 'gguf' && /-of-\d{5}\.gguf$/.test(source.name))) {
    // Most files stand alone, so this is loaded on demand.
    const { together } = await fetching(import('./joint.ts'));
    const [all, set] = (await together(source, document, context, { names: beside.names, open })) ?? [];
    if (set !== undefined) {
      session = new Session(all!, set, set);
    }
  } else if (document.format === 'onnx') {
    const { appended } = await fetching(import('./appended.ts'));
    const [all, set] = (await appended(source, document, context, { names: beside.names, open })) ?? [source];
    session = new Session(all, document, set);
  }
  sessions.set(id, session);
  return [id, session];
}

export function session(id: number): Session {
  const found = sessions.get(id);
  if (found === undefined) {
    throw new Error('this file is closed');
  }
  return found;
}

export function stop(id: number): void {
  sessions.get(id)?.close();
  sessions.delete(id);
}

/** The base module, which opens safetensors and GGUF. */
export function library(): Promise<Library> {
  return load();
}

/** The module that reads all formats. */
export function everyFormat(): Promise<FullLibrary> {
  return load('full');
}

/** The compute module, loaded on first use. */
export function computing(): Promise<ComputeLibrary> {
  return load('compute');
}

/** The module that describes models, loaded on first use. */
export function summarising(): Promise<SummaryLibrary> {
  return load('summary');
}
