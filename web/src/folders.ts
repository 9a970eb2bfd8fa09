/** The folders that are open, each as a tab with a table. */

import { FEW, tables } from './sorting.ts';
import type { Given } from './picker.ts';
import { h, icon, iconButton } from './ui/dom.ts';
import { named } from './ui/middle.ts';
import type { Tasks } from './ui/tasks.ts';
import type { FolderView } from './views/folder.ts';
import type { Api } from './worker/main.ts';
import type { Client } from './worker/rpc.ts';

export interface Folder {
  /** Below zero, unlike any file's. */
  id: number;
  name: string;
  view: FolderView;
  tab: HTMLElement;
}

interface Actions {
  show(folder: Folder): void;
  /** Opens a model, given with its other files and what lies beside it. */
  open(files: Given[]): void;
  /** Called when a folder has been closed. */
  closed(folder: Folder): void;
}

export class Folders {
  readonly all: Folder[] = [];
  readonly #client: Client<Api>;
  readonly #tasks: Tasks;
  readonly #tabs: HTMLElement;
  readonly #actions: Actions;
  #next = -1;

  constructor(client: Client<Api>, tasks: Tasks, tabs: HTMLElement, actions: Actions) {
    this.#client = client;
    this.#tasks = tasks;
    this.#tabs = tabs;
    this.#actions = actions;
  }

  /** Shows folders with several files as tables; returns the files to open as well. */
  async take(list: readonly Given[]): Promise<Given[]> {
    const left = new Set(list.filter(({ unknown }) => !unknown));
    for (const [name, { files, models }] of tables(list)) {
      const { FolderView } = await import('./views/folder.ts');
      const tab = h(
        'div',
        { class: 'file-tab' },
        h('button', { type: 'button', class: 'folder-name', title: `The folder ${name}`, onclick: () => this.#actions.show(folder) }, icon('folder'), named(name)),
        iconButton('close', `Close the folder ${name}`, () => this.#close(folder)),
      );
      const folder: Folder = { id: this.#next--, name, tab, view: new FolderView(name, files, this.#client, this.#tasks, (files) => this.#actions.open(files)) };
      this.all.push(folder);
      this.#tabs.append(tab);
      if (models > FEW || models === 0) {
        files.forEach((one) => left.delete(one));
        this.#actions.show(folder);
      }
    }
    return [...left];
  }

  #close(folder: Folder): void {
    this.all.splice(this.all.indexOf(folder), 1);
    folder.tab.remove();
    folder.view.close();
    this.#actions.closed(folder);
  }
}
