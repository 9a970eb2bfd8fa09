/** Files that the user chooses or the system opens, with handles where the browser has them. */

import { h } from './ui/dom.ts';

/** A file, with the handle to read it again after it has changed. */
export interface Given {
  file: File;
  handle?: FileSystemFileHandle;
  /** Its path within a dropped folder. The files of a set share a folder. */
  folder?: string;
  /** Whether its name is that of no tensor file. Only the table of its folder shows it. */
  unknown?: boolean;
}

interface LaunchQueue {
  setConsumer(take: (launch: { files: FileSystemFileHandle[] }) => void): void;
}

interface Browser {
  showOpenFilePicker?(options: { multiple: boolean }): Promise<FileSystemFileHandle[]>;
  launchQueue?: LaunchQueue;
}

const browser = window as Browser;

/** Lets the user choose files, in the browser's own dialog if that returns handles. */
export class FilePicker {
  readonly element = h('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files to open' });
  readonly #take: (given: Given[]) => void;
  readonly #fail: (error: unknown) => void;
  /** Handles the files chosen next. */
  #next: (given: Given[]) => void;

  /** `take` gets the files unless `choose` names another function. */
  constructor(take: (given: Given[]) => void, fail: (error: unknown) => void) {
    this.#take = take;
    this.#fail = fail;
    this.#next = take;
    this.element.addEventListener('change', () => {
      this.#next(Array.from(this.element.files ?? [], (file) => ({ file })));
      this.#next = this.#take;
      this.element.value = '';
    });
    this.element.addEventListener('cancel', () => {
      this.#next = this.#take;
    });
  }

  /** Passes the chosen files to `then`. If the dialog is dismissed, `then` gets none or is not called. */
  choose(multiple = true, then = this.#take): void {
    if (browser.showOpenFilePicker === undefined) {
      this.#next = then;
      this.element.multiple = multiple;
      this.element.click();
    } else {
      picked(browser.showOpenFilePicker({ multiple }).then((handles) => Promise.all(handles.map(ofFile)))).then(then, this.#fail);
    }
  }
}

/** What the user chose; nothing if the dialog was dismissed. */
export async function picked(given: Promise<Given[]>): Promise<Given[]> {
  try {
    return await given;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') {
      return [];
    }
    throw error;
  }
}

/** Takes the files that the system opens with the installed page. */
export function onLaunch(take: (given: Promise<Given[]>) => void): void {
  browser.launchQueue?.setConsumer(({ files }) => take(Promise.all(files.map(ofFile))));
}

export async function ofFile(handle: FileSystemFileHandle): Promise<Given> {
  return { file: await handle.getFile(), handle };
}
