/** The element in notebooks: an anywidget widget. Its Python half reads ranges in the kernel. */

import { patiently } from '../worker/timeout.ts';
import type { Ranges } from './element.ts';

/** The part of anywidget's model that is used here. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(name: string, listener: (...args: never[]) => void): void;
  off(name: string, listener: (...args: never[]) => void): void;
}

type Viewer = HTMLElement & { source: Ranges | null; theme: string };

/** The kernel's answer; the bytes come in a separate buffer. */
interface Answer {
  id: number;
  failure?: string;
  /** The opened file's size, or none if it does not exist, and the number of this opening. */
  size?: number;
  opening?: number;
  /** Whether the kernel can open other files of the same model. */
  beside?: boolean;
}

type Answered = Omit<Answer, 'id' | 'failure'> & { bytes: Uint8Array };

/** Whether the notebook is dark, according to JupyterLab or VS Code; `undefined` if unknown. */
function isDark({ body }: Document): boolean | undefined {
  const light = body.dataset.jpThemeLight;
  const kind = body.dataset.vscodeThemeKind;
  return light !== undefined ? light === 'false' : kind === undefined ? undefined : !kind.includes('light');
}

export function widget(create: () => Viewer) {
  return {
    render({ model, el }: { model: Model; el: HTMLElement }): () => void {
      const viewer = create();
      const stop = new AbortController();
      const waiting = new Map<number, { resolve(answer: Answered): void; reject(error: Error): void }>();
      const answered = ({ id, failure, ...rest }: Answer, [bytes = new ArrayBuffer()]: (DataView | ArrayBuffer)[]) => {
        const asked = waiting.get(id);
        waiting.delete(id);
        if (failure !== undefined) {
          asked?.reject(new Error(failure));
        } else {
          asked?.resolve({ ...rest, bytes: bytes instanceof DataView ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes) });
        }
      };
      const ask = (content: object) =>
        new Promise<Answered>((resolve, reject) => {
          // Every view of the model receives every answer, so identifiers must not collide.
          const id = Math.floor(Math.random() * 2 ** 53);
          waiting.set(id, { resolve, reject });
          model.send({ ...content, id });
        });
      const open = async () => {
        const name = model.get('name') as string;
        const opened = ask({ kind: 'open' });
        try {
          const { size = 0, opening = 0, beside: others } = await patiently(opened, 'Waiting for the kernel');
          // The kernel handles requests in order and completes each one.
          const reader = (part?: string): Ranges['read'] => async (offset, length) => (await ask({ kind: 'read', opening, part, offset, length })).bytes;
          const beside: Ranges['beside'] = async (other) => {
            const found = await ask({ kind: 'beside', opening, name: other });
            return found.size === undefined ? undefined : { name: other, size: found.size, read: reader(other) };
          };
          viewer.source = { name, size, read: reader(), ...(others && { beside }) };
        } catch (error) {
          // A reader that fails, so that the viewer shows the error.
          viewer.source = { name, size: 1, read: () => Promise.reject(error) };
        }
      };
      const paint = () => {
        const dark = isDark(document);
        viewer.theme = (model.get('theme') as string) || (dark === undefined ? '' : dark ? 'dark' : 'light');
        viewer.style.height = `${model.get('height') as number}px`;
      };
      viewer.addEventListener('weighbridge-report', (event) => {
        model.set('report', (event as CustomEvent).detail);
        model.save_changes();
      });
      viewer.addEventListener('weighbridge-reload', (event) => {
        event.preventDefault();
        void open();
      });
      // JupyterLab would delete cells, so the focused viewer keeps its keys to itself; only saving reaches the notebook.
      const saves = ({ key, ctrlKey, metaKey }: KeyboardEvent) => (ctrlKey || metaKey) && key === 's';
      window.addEventListener('keydown', (event) => void el.toggleAttribute('data-lm-suppress-shortcuts', !saves(event)), {
        capture: true,
        signal: stop.signal,
      });
      viewer.addEventListener('keydown', (event) => void (saves(event) || event.stopPropagation()));
      model.on('msg:custom', answered);
      model.on('change:theme', paint);
      model.on('change:height', paint);
      const themes = new MutationObserver(paint);
      themes.observe(document.body, { attributes: true });
      stop.signal.addEventListener('abort', () => {
        model.off('msg:custom', answered);
        model.off('change:theme', paint);
        model.off('change:height', paint);
        themes.disconnect();
        viewer.remove();
      });
      paint();
      void open();
      el.append(viewer);
      return () => stop.abort();
    },
  };
}
