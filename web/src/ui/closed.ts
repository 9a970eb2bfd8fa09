/** Waits for `work`, which may fail unnoticed once its file has been closed. */
export async function untilClosed(closing: AbortSignal, work: Promise<unknown>): Promise<void> {
  await work.catch((error) => {
    if (!closing.aborted) {
      throw error;
    }
  });
}
