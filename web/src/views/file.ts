/** Everything about one file: verdict, layout, lists and the selected tensor. */

import type { OpenFile } from '../file.ts';
import type { Place } from '../address.ts';
import { h } from '../ui/dom.ts';
import { fetched } from '../ui/fetched.ts';
import { count } from '../ui/format.ts';
import { Tabs } from '../ui/tabs.ts';
import type { CompareView } from './compare.ts';
import { exportMenu } from './export.ts';
import { FindingsView } from './findings.ts';
import { isForeign } from './foreign.ts';
import { HexView } from './hex.ts';
import { MetadataView } from './metadata.ts';
import type { ModelView } from './model.ts';
import { TensorPanel } from './panel.ts';
import { StripView } from './strip.ts';
import { TensorsView } from './tensors.ts';
import { VerdictView } from './verdict.ts';

/** A view that is loaded when first opened. */
function later(kind: string, view: () => Promise<{ element: HTMLElement }>): HTMLElement {
  const place = h('div', { class: kind });
  void fetched(place, view);
  return place;
}

/** Pixels by which the head of a phone gets lower, and some more. */
const HEAD = 240;

export class FileView {
  readonly element: HTMLElement;
  readonly tabs: Tabs;
  readonly panel: TensorPanel;
  readonly #file: OpenFile;
  readonly #tensors: TensorsView;
  readonly #strip: HTMLElement;
  #hex: HexView | undefined;
  #compare: CompareView | undefined;
  #model: ModelView | undefined;
  #first = true;
  #leading = false;
  readonly #others: () => OpenFile[];

  constructor(file: OpenFile, others: () => OpenFile[]) {
    this.#file = file;
    this.#others = others;
    this.#tensors = new TensorsView(file);
    this.#strip = new StripView(file).element;
    this.panel = new TensorPanel(file);
    this.tabs = new Tabs('Views of the file', () => file.moved.emit(this.#leading));
    const isAlone = file.info.format === 'shards';
    const { parts } = file;
    if (parts !== undefined) {
      this.tabs.add({ id: 'files', label: 'Files', make: () => later('later', async () => new (await import('./files.ts')).FilesView(file)) });
      this.tabs.badge('files', count(parts.length));
    }
    this.tabs.add({ id: 'tensors', label: file.isTable ? 'Columns' : 'Tensors', make: () => this.#tensors.element });
    if (file.isTable && !file.info.refused) {
      this.tabs.add({ id: 'rows', label: 'Rows', make: () => later('later', async () => new (await import('./rows.ts')).RowsView(file)) });
    }
    this.tabs.add({
      id: 'findings',
      label: 'Findings',
      make: () => new FindingsView(file, (tensor) => file.select(tensor)).element,
    });
    if (file.hasWeights) {
      this.tabs.add({ id: 'weights', label: 'Weights', make: () => later('later', async () => new (await import('./weights.ts')).WeightsView(file)) });
      file.swept.on(() => this.tabs.badge('weights', file.health === undefined ? '' : count(file.health.suspicious)));
    }
    if (file.isModel) {
      const model = async (): Promise<{ element: HTMLElement }> => {
        const { ModelView, dress } = await import('./model.ts');
        dress(this.element.getRootNode());
        this.#model = new ModelView(file, others);
        return this.#model;
      };
      this.tabs.add({ id: 'model', label: 'Model', make: () => later('model', model) });
    }
    this.tabs.add({ id: 'metadata', label: 'Metadata', make: () => new MetadataView(file).element });
    this.tabs.add({ id: 'layout', label: 'Layout', make: () => later('later', async () => new (await import('./layout.ts')).LayoutView(file)) });
    this.tabs.add({ id: 'hex', label: 'Hex', make: () => this.#hexView().element });
    this.tabs.badge('tensors', count(file.info.tensorCount));
    // In data views only the columns have metadata.
    this.tabs.badge('metadata', file.isTable ? '' : count(file.info.metadataCount));
    this.tabs.select(isAlone ? 'files' : 'tensors');
    const body = h('div', { class: 'body' }, h('section', { class: 'lists', 'aria-label': 'Contents' }, h('div', { class: 'tab-bar' }, this.tabs.list, exportMenu(file, () => this.#tensors.choice)), this.tabs.panels), this.panel.element);
    this.element = h(
      'div',
      { class: 'file' },
      new VerdictView(file, {
        findings: () => this.tabs.select('findings', true),
        weights: () => this.tabs.select('weights', true),
        template: () => {
          this.tabs.select('model', true);
          file.wantsTemplate = true;
          file.templated.emit();
        },
      }).element,
      this.#strip,
      body,
    );
    // Scrolling does not bubble. On phones the head then gives its room to the view (style/file.css).
    body.addEventListener('scroll', ({ target }) => this.#scrolled(target as HTMLElement), { capture: true, passive: true });
    file.moved.on(() => this.element.removeAttribute('data-scrolled'));
    file.selected.on((tensor) => {
      body.classList.toggle('with-panel', tensor !== undefined);
      if (tensor === undefined && !this.tabs.panels.matches(':focus-within')) {
        this.focus();
      }
    });
    file.revealed.on((span) => {
      this.tabs.select('hex', true);
      // On a small screen the tensor panel covers the list.
      if (this.element.clientWidth < 900) {
        file.select(undefined);
      }
      this.#hexView().show(span);
      this.#hexView().focus();
    });
    file.validated.on(() => this.#validated());
    void this.#tensors.refresh();
  }

  /** Notes whether the view is scrolled, unless it would have nothing to scroll with a lower head. */
  #scrolled({ scrollTop, scrollHeight, clientHeight }: HTMLElement): void {
    if (scrollTop === 0) {
      this.element.removeAttribute('data-scrolled');
    } else if (scrollHeight - clientHeight > HEAD) {
      this.element.setAttribute('data-scrolled', '');
    }
  }

  #hexView(): HexView {
    this.#hex ??= new HexView(this.#file);
    return this.#hex;
  }

  /** Lists what the pickles of the file import, if it has any, and the storages of a checkpoint. */
  async #pickles(): Promise<void> {
    const file = this.#file;
    const [globals, pickles] = [await file.api.globals(file.id), await file.api.pickles(file.id)];
    if (pickles.length > 0) {
      this.tabs.add({ id: 'imports', label: 'Imports', make: () => later('later', async () => new (await import('./imports.ts')).ImportsView(file, globals, pickles)) });
      this.tabs.badge('imports', count(globals.length));
    }
    if (pickles.length > 0 && !isForeign(file)) {
      const storages = await file.api.storages(file.id);
      if (storages.total > 0) {
        this.tabs.add({ id: 'storages', label: 'Storages', make: () => later('later', async () => new (await import('./storages.ts')).StoragesView(file, storages)) });
        this.tabs.badge('storages', count(storages.total));
      }
    }
  }

  #validated(): void {
    const { verdict, checking } = this.#file;
    if (verdict === undefined) {
      return;
    }
    // A file that is gone is reported elsewhere.
    void this.#pickles().catch(() => undefined);
    this.tabs.badge('findings', count(verdict.fatal + verdict.violation + verdict.lint + verdict.unchecked));
    if (isForeign(this.#file) && !this.tabs.ids.includes('about')) {
      // There is nothing of a model to show.
      this.#strip.hidden = true;
      this.tabs.add({ id: 'about', label: 'About', make: () => later('later', async () => new (await import('./about.ts')).AboutView(this.#file)) });
      const { current } = this.tabs;
      this.tabs.ids.filter((id) => id !== 'about').forEach((id) => this.tabs.remove(id));
      this.tabs.add({ id: 'hex', label: 'Hex', make: () => this.#hexView().element });
      this.tabs.select(current === 'hex' ? 'hex' : 'about');
      return;
    }
    // Show problems first, but only once.
    if (this.#first && !checking) {
      this.#first = false;
      if (!verdict.valid && this.tabs.current === 'tensors' && this.#file.tensor === undefined) {
        // The user did not ask for it, so Back must not lead here.
        this.#leading = true;
        this.tabs.select('findings', true);
        this.#leading = false;
      }
    }
  }

  /** Updates the view when files are opened or closed. */
  filesChanged(): void {
    if (this.#others().length > 0 && !isForeign(this.#file)) {
      this.tabs.add({
        id: 'compare',
        label: 'Compare',
        make: () =>
          later('later', async () => {
            const { CompareView } = await import('./compare.ts');
            this.#compare = new CompareView(this.#file, this.#others);
            return this.#compare;
          }),
      });
    } else {
      this.tabs.remove('compare');
      this.#compare = undefined;
    }
    void this.#compare?.load();
    this.#model?.filesChanged();
  }

  focusSearch(): void {
    this.tabs.select('tensors', true);
    this.#tensors.search.focus();
  }

  focusList(): void {
    this.tabs.select('tensors', true);
    this.#tensors.focus();
  }

  focusOffset(): void {
    this.tabs.select('hex', true);
    this.#hexView().element.querySelector('input')!.focus();
  }

  /** Handles a single-key shortcut; returns whether there is one. */
  key(key: string): boolean {
    const actions: Record<string, (() => void) | undefined> = {
      '/': () => this.focusSearch(),
      e: () => this.focusList(),
      g: () => this.focusOffset(),
      '[': () => this.panel.tabs.step(-1),
      ']': () => this.panel.tabs.step(1),
    };
    const action = /^[1-9]$/.test(key) ? () => this.tabs.select(this.tabs.ids[Number(key) - 1] ?? '', true) : actions[key];
    action?.();
    return action !== undefined;
  }

  get place(): Place {
    const { tensor, span } = this.#file;
    return {
      view: this.tabs.current === 'tensors' ? undefined : this.tabs.current,
      tensor,
      panel: tensor === undefined || this.panel.tabs.current === 'overview' ? undefined : this.panel.tabs.current,
      at: this.tabs.current === 'hex' ? span?.at : undefined,
    };
  }

  /** Navigates to the place in an address as far as it exists. */
  go({ view, tensor, panel, at }: Place): void {
    if (view === undefined && tensor === undefined && panel === undefined && at === undefined) {
      return;
    }
    this.#first = false;
    const there = tensor !== undefined && tensor < this.#file.info.tensorCount;
    this.tabs.select(view ?? 'tensors');
    this.panel.view(panel ?? 'overview');
    this.#file.select(there ? tensor : panel === undefined ? undefined : this.#file.tensor);
    if (at !== undefined && at < this.#file.info.extent) {
      this.#file.reveal(at, 1n);
    }
  }

  /** Moves the focus to the contents. */
  focus(): void {
    if (this.tabs.current === 'tensors') {
      this.#tensors.focus();
    } else {
      this.tabs.focus();
    }
  }
}
