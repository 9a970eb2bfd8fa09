/** Parts of the page's code that are fetched on demand. */

/** Shown instead of the browser's words, which name a module. */
export const UNFETCHED = 'a part of this page could not be fetched. Check the connection and try again, or reload the page.';

/** Waits for an import; if it fails, the error says so in plain words. */
export async function fetching<T>(part: Promise<T>): Promise<T> {
  return await part.catch((cause: unknown) => {
    throw new Error(UNFETCHED, { cause });
  });
}
