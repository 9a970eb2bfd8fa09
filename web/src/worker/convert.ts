/** A model as safetensors, with the bytes that `weighbridge convert` writes. */

import { open, settle, type Conversion, type JointDocument, type LeftOut, type Profile } from 'weighbridge';
import type { Context } from './rpc.ts';
import { session } from './session.ts';

/** What the file would hold. */
export interface Plan {
  length: bigint;
  tensors: number;
  leftOut: LeftOut[];
  metadataLeftOut: number;
  invalid: boolean;
}

/** Runs `work` with a document of its own: the first module cannot convert, and nobody waits. */
async function planned<T>(context: Context, id: number, profile: Profile, work: (conversion: Conversion, document: JointDocument, invalid: boolean) => Promise<T>): Promise<T> {
  const { source } = session(id);
  const { signal } = context;
  const document = (await open(source, { module: 'full', goal: 'structure', name: source.name, signal })) as JointDocument;
  let conversion: Conversion | undefined;
  try {
    const { verdict } = await settle(document, source, () => document.verdict(profile), { signal });
    conversion = await settle(document, source, () => document.conversion({ force: true, profile }), { signal });
    return await work(conversion, document, verdict === 'invalid');
  } finally {
    conversion?.free();
    document.free();
  }
}

export async function safetensorsPlan(context: Context, id: number, profile: Profile): Promise<Plan> {
  return await planned(context, id, profile, async ({ length, tensors, leftOut, metadataLeftOut }, _, invalid) => ({ length, tensors, leftOut, metadataLeftOut: metadataLeftOut.length, invalid }));
}

/** The model as a `Blob`, or written to `target`. `force` accepts an invalid file and tensors that are left out. */
export async function safetensors(context: Context, id: number, profile: Profile, force: boolean, target: FileSystemFileHandle | undefined): Promise<Blob | undefined> {
  const { source } = session(id);
  const { signal } = context;
  return await planned(context, id, profile, async (conversion, document, invalid) => {
    if (!force && (invalid || conversion.leftOut.length > 0)) {
      throw new Error('the file has changed since it was opened');
    }
    let last = performance.now();
    const out = await target?.createWritable();
    const parts: Blob[] = [];
    let done = 0n;
    const put = async (bytes: Uint8Array | Blob) => {
      const blob = bytes instanceof Blob ? bytes : new Blob([new Uint8Array(bytes)]);
      if (out === undefined) {
        parts.push(blob);
      } else {
        await out.write(blob);
      }
      done += BigInt(blob.size);
      context.progress({ label: 'Tensors', done: Number(done) / Number(conversion.length) });
      if (performance.now() - last > 30) {
        // Lets the page cancel.
        await new Promise((resolve) => setTimeout(resolve));
        last = performance.now();
      }
      signal.throwIfAborted();
    };
    try {
      for (;;) {
        const part = await settle(document, source, () => conversion.next(), { signal });
        if (part.kind === 'done') {
          break;
        }
        if (part.kind === 'bytes') {
          await put(part.bytes);
        } else if (out === undefined && source.file !== undefined) {
          // The browser copies these bytes itself.
          await put(source.file.slice(Number(part.offset), Number(part.offset + part.length)));
        } else {
          for await (const bytes of source.pieces(part.offset, part.length, signal)) {
            await put(bytes);
          }
        }
      }
      // Fails if the file has changed.
      await source.read(source.size - 1n, 1, signal);
      if (done !== conversion.length) {
        throw new Error('the file has changed since it was opened');
      }
      await out?.close();
    } catch (error) {
      await out?.abort().catch(() => undefined);
      throw error;
    }
    return out === undefined ? new Blob(parts, { type: 'application/octet-stream' }) : undefined;
  });
}
