/** Files that were opened lately, where the browser has handles to open them again. */

import type { Given } from './drop.ts';
import { ofFile } from './drop.ts';

/** Most that are kept. */
const MOST = 6;
const STORE = 'recent';

export interface Recent {
  name: string;
  handle: FileSystemFileHandle;
  at: number;
}

/** What browsers with handles have, and the types do not. */
interface Permitted {
  requestPermission?(options: { mode: 'read' }): Promise<PermissionState>;
}

function database(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('weighbridge', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'name' });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function transact<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const open = await database();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = open.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    open.close();
  }
}

/** The last files, the latest first; none where nothing can be kept. */
export async function recents(): Promise<Recent[]> {
  const all = await transact('readonly', (store) => store.getAll() as IDBRequest<Recent[]>).catch(() => []);
  return all.sort((a, b) => b.at - a.at).slice(0, MOST);
}

/** Keeps a handle; a file of the same name takes the place of the other. */
export async function remember(handle: FileSystemFileHandle): Promise<void> {
  try {
    await transact('readwrite', (store) => store.put({ name: handle.name, handle, at: Date.now() } satisfies Recent));
    const kept = await recents();
    const all = await transact('readonly', (store) => store.getAllKeys());
    for (const name of all.filter((name) => !kept.some((one) => one.name === name))) {
      await transact('readwrite', (store) => store.delete(name));
    }
  } catch {
    // A private window keeps nothing.
  }
}

/** Forgets one file, or all. */
export async function forget(name?: string): Promise<void> {
  await transact('readwrite', (store) => (name === undefined ? store.clear() : store.delete(name))).catch(() => undefined);
}

/** Opens it again: the browser may ask whether it may. */
export async function reopen({ name, handle }: Recent): Promise<Given> {
  const state = await (handle as Permitted).requestPermission?.({ mode: 'read' });
  if (state === 'denied') {
    throw new Error(`permission to read ${name} was denied`);
  }
  try {
    return await ofFile(handle);
  } catch {
    await forget(name);
    throw new Error(`${name} has been moved or deleted`);
  }
}
