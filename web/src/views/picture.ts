/** Pictures and tags in the metadata of a model. */

import { h } from '../ui/dom.ts';
import { count, counted, visible } from '../ui/format.ts';

/** Maximum width and height of a picture that is decoded: a small file may hold a huge one. */
const MOST_PIXELS = 4096;
/** Maximum number of tags. */
const MOST_TAGS = 60;

/** Width and height of a PNG or JPEG picture; `undefined` for any other. */
function sizeOf(bytes: Uint8Array): [width: number, height: number] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length > 24 && view.getUint32(0) === 0x89504e47) {
    return [view.getUint32(16), view.getUint32(20)];
  }
  if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) {
    return undefined;
  }
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
    // A start of a frame, unless it is a table.
    if (bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(bytes[at + 1])) {
      return [view.getUint16(at + 7), view.getUint16(at + 5)];
    }
  }
  return undefined;
}

/** Draws a picture that is embedded as a `data:` address; `undefined` if it cannot be shown. */
export async function picture(address: string): Promise<HTMLElement | undefined> {
  const [, type, text] = /^data:(image\/(?:png|jpeg));base64,([\w+/=\s]+)$/.exec(address) ?? [];
  if (text === undefined) {
    return undefined;
  }
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const [width, height] = sizeOf(bytes) ?? [0, 0];
    if (width === 0 || height === 0 || width > MOST_PIXELS || height > MOST_PIXELS) {
      return undefined;
    }
    // Drawn here: the policy of the page allows no pictures from elsewhere.
    const bitmap = await createImageBitmap(new Blob([bytes], { type }));
    const canvas = h('canvas', { class: 'thumbnail', role: 'img', 'aria-label': `Picture of ${width} × ${height} pixels`, width: bitmap.width, height: bitmap.height });
    canvas.getContext('2d')!.drawImage(bitmap, 0, 0);
    bitmap.close();
    return canvas;
  } catch {
    return undefined;
  }
}

/** The tags of all data sets by frequency, from `ss_tag_frequency`; `undefined` if it has none. */
export function tags(text: string): HTMLElement | undefined {
  const counts = new Map<string, number>();
  try {
    const sets = JSON.parse(text) as Record<string, Record<string, unknown>>;
    for (const set of Object.values(sets)) {
      for (const [tag, times] of Object.entries(set)) {
        const name = tag.trim();
        counts.set(name, (counts.get(name) ?? 0) + (Number(times) || 0));
      }
    }
  } catch {
    return undefined;
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return sorted.length === 0
    ? undefined
    : h(
        'div',
        {},
        h('p', { class: 'muted' }, `${counted(sorted.length, 'tag')}, by how many captions have them:`),
        h('ul', { class: 'tags' }, ...sorted.slice(0, MOST_TAGS).map(([tag, times]) => h('li', { class: 'chip' }, h('bdi', {}, visible(tag.slice(0, 80))), h('span', { class: 'muted' }, ` ${count(times)}`)))),
        sorted.length > MOST_TAGS && h('p', { class: 'note' }, `${counted(sorted.length - MOST_TAGS, 'more tag')} not shown.`),
      );
}
