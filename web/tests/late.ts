/** Makes the worker's answers and downloads late, or fail. */

import { expect, type Page } from '@playwright/test';

interface Call {
  id: number;
  method?: string;
}

/** Added to the number of a call whose answer is held back, so that the page does not know it. */
const HELD = 1_000_000;

/**
 * Holds back the worker's answers to later calls of `method`. Returns a function that waits for
 * `count` of them and delivers them, the one to the last call first unless `inOrder`.
 */
export async function holdBack(page: Page, method: string): Promise<(count: number, inOrder?: boolean) => Promise<void>> {
  const held = await page.evaluateHandle(
    ({ method, HELD }) => {
      const held: { id: number; deliver: () => void }[] = [];
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (this: Worker, call: Call, ...rest: never[]) {
        if (call.method !== method) {
          post.call(this, call, ...rest);
          return;
        }
        const { id } = call;
        this.addEventListener('message', ({ data }) => {
          if (data.id === id + HELD && !('progress' in data)) {
            held.push({ id, deliver: () => this.dispatchEvent(new MessageEvent('message', { data: { ...data, id } })) });
          }
        });
        post.call(this, { ...call, id: id + HELD }, ...rest);
      };
      return held;
    },
    { method, HELD },
  );
  return async (count, inOrder = false) => {
    await expect.poll(() => held.evaluate((held) => held.length)).toBe(count);
    await held.evaluate(async (held, inOrder) => {
      for (const { deliver } of held.splice(0).sort((a, b) => (inOrder ? a.id - b.id : b.id - a.id))) {
        deliver();
        // The page takes each answer before the next.
        await new Promise((resolve) => setTimeout(resolve));
      }
    }, inOrder);
  };
}

/** Holds back the download of a sample until the returned function is called. */
export async function holdDownload(page: Page, file: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**/samples/${file}`, (route) => released.then(() => route.continue()));
  return release;
}

/** Makes the next call of `method` fail. */
export async function failNext(page: Page, method: string): Promise<void> {
  await page.evaluate((method) => {
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (this: Worker, call: Call, ...rest: never[]) {
      if (call.method !== method) {
        post.call(this, call, ...rest);
        return;
      }
      Worker.prototype.postMessage = post;
      const failure = { name: 'Error', message: 'out of luck' };
      setTimeout(() => this.dispatchEvent(new MessageEvent('message', { data: { id: call.id, failure } })));
    };
  }, method);
}
