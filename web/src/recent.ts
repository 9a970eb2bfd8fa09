/** Recently opened files, where the browser has handles to reopen them. */

import { ofFile, type Given } from './picker.ts';

/** Maximum number of entries. */
const MOST = 6;
const STORE = 'recent';

export interface Recent {
  name: string;
  handle: FileSystemFileHandle;
  at: number;
}

/** Methods that browsers with handles have but TypeScript's types lack. */
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

/** The recent files, latest first; empty if the browser stores nothing. */
export async function recents(): Promise<Recent[]> {
  const all = await transact('readonly', (store) => store.getAll() as IDBRequest<Recent[]>).catch(() => []);
  return all.sort((a, b) => b.at - a.at).slice(0, MOST);
}

/** Stores a handle; replaces a file of the same name. */
export async function remember(handle: FileSystemFileHandle): Promise<void> {
  try {
    await transact('readwrite', (store) => store.put({ name: handle.name, handle, at: Date.now() } satisfies Recent));
    const kept = await recents();
    const all = await transact('readonly', (store) => store.getAllKeys());
    for (const name of all.filter((name) => !kept.some((one) => one.name === name))) {
      await transact('readwrite', (store) => store.delete(name));
    }
  } catch {
    // A private window stores nothing.
  }
}

/** Removes one file, or all. */
export async function forget(name?: string): Promise<void> {
  await transact('readwrite', (store) => (name === undefined ? store.clear() : store.delete(name))).catch(() => undefined);
}

/** Opens a recent file; the browser may ask for permission. */
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
