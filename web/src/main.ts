/** The page: files in, views out, keys. */

import './style/base.css';
import './style/frame.css';
import './style/file.css';
import './style/views.css';
import './style/panel.css';
import { readPlace, writePlace, type Place } from './address.ts';
import { OpenFile } from './file.ts';
import { h, iconButton } from './ui/dom.ts';
import { explain, Tasks } from './ui/tasks.ts';
import { FileView } from './views/file.ts';
import { helpDialog, singleKeys } from './views/help.ts';
import { startView, type Sample } from './views/start.ts';
import { switchTheme } from './ui/theme.ts';
import type { Api } from './worker/main.ts';
import { Client } from './worker/rpc.ts';

/** Whether this build may read from other servers. */
const WITH_URL = import.meta.env.MODE === 'url';

const tasks = new Tasks();
const worker = new Worker(new URL('./worker/main.ts', import.meta.url), { type: 'module', name: 'weighbridge' });
const client = new Client<Api>(worker, (message) => tasks.fail(`The worker failed: ${message}. Reload the page.`));

interface Entry {
  file: OpenFile;
  view: FileView;
  tab: HTMLElement;
  /** Where it came from, for the address. */
  origin: Place;
}

const entries: Entry[] = [];
let current: Entry | undefined;
/** Where the address pointed to when the page was loaded. */
let pending: Place | undefined = readPlace();

const main = document.querySelector('main')!;
const files = document.querySelector<HTMLElement>('#files')!;
const samples = fetch('samples/index.json')
  .then((response) => response.json() as Promise<Sample[]>)
  .catch(() => []);
const help = helpDialog();
const picker = h('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files to open' });
picker.addEventListener('change', () => {
  void openAll(Array.from(picker.files ?? []));
  picker.value = '';
});
const start = startView(samples, {
  pick: () => picker.click(),
  open: (sample) => void openSample(sample),
  openUrl: WITH_URL ? (address) => void open(address, { url: address }) : undefined,
});

document.querySelector('#actions')!.append(
  iconButton('folder', 'Open files (o)', () => picker.click()),
  iconButton('theme', 'Light or dark', switchTheme),
  iconButton('help', 'Keys (?)', () => help.showModal()),
);
document.querySelector('footer')!.append(tasks.element, h('p', { class: 'promise' }, WITH_URL ? 'Local files stay in this tab' : 'Nothing leaves this tab'));
document.body.append(picker, help, tasks.alert, tasks.spoken);
main.replaceChildren(start);

async function open(what: File | string, origin: Place = {}): Promise<void> {
  tasks.dismiss();
  const name = typeof what === 'string' ? what : what.name;
  performance.mark('open');
  const info = await tasks.run(`Opening ${name}`, (options) => client.with(options).open(what));
  if (info === undefined) {
    return;
  }
  const file = new OpenFile(info, client, tasks);
  const view = new FileView(file, () => entries.filter((other) => other.file !== file).map((other) => other.file));
  const tab = h(
    'div',
    { class: 'file-tab' },
    h('button', { type: 'button', class: 'file-name', title: info.name, onclick: () => show(entry) }, h('bdi', {}, info.name)),
    iconButton('close', `Close ${info.name}`, () => close(entry)),
  );
  const entry: Entry = { file, view, tab, origin };
  entries.push(entry);
  files.append(tab);
  file.moved.on(() => entry === current && writePlace({ ...entry.origin, ...entry.view.place }));
  file.judged.on(() => tab.setAttribute('data-state', file.verdict === undefined ? '' : file.verdict.valid ? 'valid' : 'invalid'));
  show(entry);
  entries.forEach((one) => one.view.filesChanged());
  await file.check();
  if (pending !== undefined) {
    const place = pending;
    pending = undefined;
    entry.view.go(place);
    if (entry === current) {
      writePlace({ ...entry.origin, ...entry.view.place });
    }
  }
}

async function openAll(list: File[]): Promise<void> {
  for (const file of list) {
    await open(file);
  }
}

async function openSample(sample: Sample): Promise<void> {
  try {
    const response = await fetch(`samples/${sample.file}`);
    await open(new File([await response.blob()], sample.file), { sample: sample.id });
  } catch (error) {
    tasks.fail(explain(error));
  }
}

function show(entry: Entry | undefined): void {
  current = entry;
  entries.forEach(({ tab }) => tab.firstElementChild!.setAttribute('aria-current', 'false'));
  entry?.tab.firstElementChild!.setAttribute('aria-current', 'true');
  main.replaceChildren(entry?.view.element ?? start);
  document.title = entry === undefined ? 'Weighbridge' : `${entry.file.info.name} · Weighbridge`;
  if (pending === undefined) {
    writePlace(entry === undefined ? {} : { ...entry.origin, ...entry.view.place });
  }
}

function close(entry: Entry): void {
  const at = entries.indexOf(entry);
  entries.splice(at, 1);
  entry.tab.remove();
  entry.file.close();
  if (entry === current) {
    show(entries[Math.min(at, entries.length - 1)]);
  }
  entries.forEach((one) => one.view.filesChanged());
}

// ------------------------------------------------------------- drop, paste

let depth = 0;
addEventListener('dragenter', () => document.body.classList.toggle('dragging', ++depth > 0));
addEventListener('dragleave', () => document.body.classList.toggle('dragging', --depth > 0));
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
  event.preventDefault();
  depth = 0;
  document.body.classList.remove('dragging');
  void openAll(Array.from(event.dataTransfer?.files ?? []));
});
addEventListener('paste', (event) => {
  const pasted = Array.from(event.clipboardData?.files ?? []);
  const text = event.clipboardData?.getData('text/plain').trim() ?? '';
  if (pasted.length > 0) {
    void openAll(pasted);
  } else if (WITH_URL && /^https:\/\/\S+$/.test(text) && !(event.target instanceof HTMLInputElement)) {
    void open(text, { url: text });
  }
});

// Files that the system opens with the installed page.
interface LaunchQueue {
  setConsumer(take: (launch: { files: FileSystemFileHandle[] }) => void): void;
}
(window as { launchQueue?: LaunchQueue }).launchQueue?.setConsumer(async ({ files: handles }) => {
  await openAll(await Promise.all(handles.map((handle) => handle.getFile())));
});

// ------------------------------------------------------------------- keys

addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  const typing = target.matches('input:not([type=checkbox]), select, textarea');
  if (event.key === 'Escape' && typing) {
    target.blur();
    current?.view.focusList();
    return;
  }
  if (event.defaultPrevented || typing || help.open || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (event.key === 'Escape') {
    current?.file.select(undefined);
    tasks.dismiss();
    return;
  }
  if (!singleKeys()) {
    return;
  }
  const view = current?.view;
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
  const actions: Record<string, (() => void) | undefined> = {
    o: () => picker.click(),
    '?': () => help.showModal(),
    c: () => tasks.cancelAll(),
    '/': view && (() => view.focusSearch()),
    e: view && (() => view.focusList()),
    g: view && (() => view.focusOffset()),
    '[': view && (() => view.panel.tabs.step(-1)),
    ']': view && (() => view.panel.tabs.step(1)),
  };
  const action = digit > 0 ? view && (() => view.tabs.select(view.tabs.ids[digit - 1] ?? '', true)) : actions[event.key];
  if (action !== undefined) {
    event.preventDefault();
    action();
  }
});

// ---------------------------------------------------------------- address

/** Goes where an address points to. */
function follow(place: Place): void {
  if (place.sample !== undefined && place.sample !== current?.origin.sample) {
    pending = place;
    void samples.then((all) => {
      const sample = all.find(({ id }) => id === place.sample);
      return sample && openSample(sample);
    });
  } else if (WITH_URL && place.url !== undefined && place.url !== current?.origin.url) {
    // It may come from anybody, so it is not followed without being asked for.
    const { url } = place;
    pending = place;
    tasks.ask(`The link points to ${url}`, 'Open it', () => void open(url, { url }));
  } else {
    current?.view.go(place);
  }
}

follow(pending ?? {});
addEventListener('hashchange', () => follow(readPlace()));

if ('serviceWorker' in navigator && import.meta.env.PROD) {
  void navigator.serviceWorker.register('sw.js').catch(() => undefined);
}
