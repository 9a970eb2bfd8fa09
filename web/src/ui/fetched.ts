/** Views whose code is fetched when they are first opened. */

import { button, fill, h } from './dom.ts';

/** Fills `place` with a view once it is there, unless `signal` was aborted; says if it could not be fetched. */
export async function fetched(place: HTMLElement, view: () => Promise<{ element: HTMLElement }>, signal?: AbortSignal): Promise<void> {
  fill(place);
  const again = button('Try again', () => void fetched(place, view, signal), { class: 'link' });
  const shown = await view().then(
    ({ element }) => element,
    () => h('p', { class: 'empty' }, 'This part of the page could not be fetched. ', again),
  );
  if (!signal?.aborted) {
    fill(place, shown);
  }
}
