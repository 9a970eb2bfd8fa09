/**
 * `<weighbridge-viewer>`: the page's views as an element for any other page. It is self-contained,
 * with its own worker, shadow tree and styles. It does not touch the address, the history or the
 * browser's storage.
 */

import frame from '../style/element.css?inline';
import model from '../style/model.css?inline';
import styles from '../style/viewer.css?inline';
import { OpenFile } from '../file.ts';
import { copyInFull } from '../ui/copy.ts';
import { indexesFirst } from '../names.ts';
import { h } from '../ui/dom.ts';
import { recolour } from '../ui/recolour.ts';
import { Tasks } from '../ui/tasks.ts';
import { FileView } from '../views/file.ts';
import type { Api } from '../worker/main.ts';
import { offer, type Ranges } from '../worker/port.ts';
import { Client } from '../worker/rpc.ts';

export type { Ranges } from '../worker/port.ts';

/** What the element can open. */
type Given = string | File | Ranges;

interface Entry {
  file: OpenFile;
  view: FileView;
  tab: HTMLElement;
}

/** State that exists while the element is connected to a document. */
interface Running {
  client: Client<Api>;
  /** Aborted when the element is disconnected or its file is replaced. */
  stop: AbortController;
}

/** Creates the element class. `start` starts its worker. */
export function viewer(start: () => Worker) {
  const sheets = [frame, styles, model].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });

  return class WeighbridgeViewer extends HTMLElement {
    static readonly observedAttributes = ['src', 'theme'];
    readonly #root = this.attachShadow({ mode: 'open' });
    readonly #tasks = new Tasks(() => this.#current?.view.focus());
    readonly #tabs = h('nav', { id: 'files', 'aria-label': 'Open files', hidden: true });
    #shown: HTMLElement = h('p', {});
    #given: Given[] = [];
    #entries: Entry[] = [];
    #current: Entry | undefined;
    #running: Running | undefined;
    /** Settles once everything given is open and checked, or something else has been given. */
    #opening: Promise<unknown> = Promise.resolve();

    constructor() {
      super();
      this.#root.adoptedStyleSheets = sheets;
      this.#root.append(h('div', { class: 'frame' }, this.#tabs, this.#shown, this.#tasks.element, this.#tasks.alert, this.#tasks.spoken));
      this.#show(undefined);
      this.#root.addEventListener('keydown', (event) => this.#key(event as KeyboardEvent));
      type Selecting = ShadowRoot & { getSelection?(): Selection | null };
      copyInFull(this.#root, () => (this.#root as Selecting).getSelection?.() ?? getSelection());
    }

    /** The file's URL: https, or http on this computer. The server must support range requests. */
    get src(): string {
      return this.getAttribute('src') ?? '';
    }

    set src(address: string) {
      this.setAttribute('src', address);
    }

    /** `light` or `dark`; otherwise the system setting applies. */
    get theme(): string {
      return this.getAttribute('theme') ?? '';
    }

    set theme(theme: string) {
      this.setAttribute('theme', theme);
    }

    /** The page's own files: one or several. Files of the same model are shown as one. */
    set file(given: Blob | FileList | readonly Blob[] | null) {
      const blobs = given === null ? [] : given instanceof Blob ? [given] : Array.from(given);
      this.#give(blobs.map((blob) => (blob instanceof File ? blob : new File([blob], 'file'))));
    }

    /** A file that the page reads by range. */
    set source(ranges: Ranges | null) {
      this.#give(ranges === null ? [] : [ranges]);
    }

    /**
     * The report on the current file, in the format of the command-line tool, once what was given
     * has been opened and checked. `undefined` if nothing could be opened.
     */
    async report(): Promise<unknown> {
      for (let opening; opening !== this.#opening; ) {
        opening = this.#opening;
        await opening;
      }
      const file = this.#current?.file;
      if (file === undefined) {
        return undefined;
      }
      return JSON.parse(await (await file.api.report(file.id, file.profile)).text());
    }

    connectedCallback(): void {
      this.#begin();
    }

    disconnectedCallback(): void {
      this.#end();
    }

    attributeChangedCallback(name: string, old: string | null, value: string | null): void {
      if (old === value) {
        return;
      }
      if (name === 'theme') {
        recolour();
      } else {
        this.#give(value === null || value === '' ? [] : [value]);
      }
    }

    #give(given: Given[]): void {
      this.#given = given;
      if (this.#running !== undefined) {
        this.#end();
        this.#begin();
      }
    }

    #begin(): void {
      const client = new Client<Api>(
        start,
        (message) => this.#tasks.ask(`The worker that reads the file failed: ${message}.`, 'Restart', () => this.#give(this.#given), () => undefined),
        ({ changed, message }) => this.#entries.find(({ file }) => file.id === changed)?.file.outdate(message),
        (call) => this.#tasks.wait(call),
      );
      this.#running = { client, stop: new AbortController() };
      this.#show(undefined);
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour, { signal: this.#running.stop.signal });
      const { signal } = this.#running.stop;
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      this.#opening = Promise.race([this.#open(this.#running), stopped]);
    }

    #end(): void {
      this.#running?.stop.abort();
      this.#running?.client.stop();
      this.#running = undefined;
      this.#entries.forEach(({ file }) => file.closing.abort());
      this.#entries = [];
      this.#current = undefined;
      this.#tabs.replaceChildren();
      this.#tasks.dismiss();
    }

    async #open({ client, stop: { signal } }: Running): Promise<void> {
      const nameOf = (given: Given) => (typeof given === 'string' ? given : (given.name ?? 'file'));
      const files = this.#given.filter((given) => given instanceof File);
      const left = new Set(this.#given);
      for (const given of indexesFirst(this.#given, nameOf)) {
        if (!left.delete(given)) {
          continue;
        }
        // The element may have been stopped while the previous file was checked.
        if (signal.aborted) {
          return;
        }
        const info = await this.#tasks.run(
          `Opening ${nameOf(given)}`,
          (options) => client.with(options).open(typeof given === 'string' ? absolute(given) : given instanceof File ? given : offer(given), files),
          signal,
        );
        if (signal.aborted) {
          return;
        }
        if (info === undefined) {
          continue;
        }
        // These files are now part of it.
        const own = new Set(info.parts?.filter(({ state }) => state !== 'surplus').map(({ name }) => name));
        // If several share a name, take the first.
        files.forEach((one) => own.delete(one.name) && left.delete(one));
        const file = new OpenFile(info, client, this.#tasks, () => this.#reload(), undefined, given instanceof File ? given.lastModified : undefined);
        const view = new FileView(file, () => this.#entries.filter((other) => other.file !== file).map((other) => other.file));
        // There may be several viewers on a page, so include the file name in the labels.
        view.element.querySelectorAll('section, aside').forEach((part) => part.setAttribute('aria-label', `${part.getAttribute('aria-label')} of ${info.name}`));
        const tab = h('button', { type: 'button', class: 'file-name', title: info.name, onclick: () => this.#show(entry) }, h('bdi', {}, info.name));
        const entry: Entry = { file, view, tab };
        this.#entries.push(entry);
        this.#tabs.append(h('div', { class: 'file-tab' }, tab));
        file.validated.on(() => void this.#tell(file));
        this.#show(this.#current ?? entry);
        this.#entries.forEach((one) => one.view.filesChanged());
        await file.check();
      }
    }

    /** Reopens the changed file, unless the page supplies a new one. */
    #reload(): void {
      if (this.dispatchEvent(new CustomEvent('weighbridge-reload', { cancelable: true }))) {
        this.#give(this.#given);
      }
    }

    /** Dispatches the report once checking has finished. */
    async #tell(file: OpenFile): Promise<void> {
      if (file.checking || file.verdict === undefined || file.outdated !== undefined) {
        return;
      }
      const detail: unknown = JSON.parse(await (await file.api.report(file.id, file.profile)).text());
      if (!file.closing.signal.aborted) {
        this.dispatchEvent(new CustomEvent('weighbridge-report', { detail, bubbles: true, composed: true }));
      }
    }

    #show(entry: Entry | undefined): void {
      this.#current = entry;
      this.#entries.forEach((one) => one.tab.setAttribute('aria-current', String(one === entry)));
      this.#tabs.hidden = this.#entries.length < 2;
      const shown = entry?.view.element ?? h('p', { class: 'empty' }, this.#given.length === 0 ? 'No file open.' : 'Opening…');
      if (shown !== this.#shown) {
        const held = this.#shown.matches(':focus-within');
        this.#shown.replaceWith(shown);
        this.#shown = shown;
        if (held) {
          entry?.view.focus();
        }
      }
    }

    #key(event: KeyboardEvent): void {
      const target = event.target as HTMLElement;
      const typing = target.matches('input:not([type=checkbox]), select, textarea');
      if (event.key === 'Escape' && typing) {
        this.#current?.view.focusList();
      } else if (event.defaultPrevented || typing || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      } else if (event.key === 'Escape') {
        this.#current?.file.select(undefined);
        this.#tasks.dismiss();
      } else if (this.#current?.view.key(event.key)) {
        event.preventDefault();
      }
    }
  };
}

function absolute(address: string): string {
  return new URL(address, document.baseURI).href;
}
