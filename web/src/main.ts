/** The page: opens files, shows views, handles keys. */

import './style/viewer.css';
import './style/start.css';
import { hashOf, isPlain, type Place } from './address.ts';
import { describing, isShard, mayShareFolder, near, passedOver, pathFrom, sortOut } from './sorting.ts';
import { ARCHIVE, isModel } from './names.ts';
import { folderPicker, onDrop } from './drop.ts';
import { OpenFile } from './file.ts';
import { Folders, type Folder } from './folders.ts';
import { onKeys } from './shortcuts.ts';
import { FilePicker, ofFile, onLaunch, type Given } from './picker.ts';
import { copyInFull } from './ui/copy.ts';
import { h, iconButton } from './ui/dom.ts';
import { tabMenu } from './ui/menu.ts';
import { namedFile } from './ui/middle.ts';
import { explain, Tasks } from './ui/tasks.ts';
import { FileView } from './views/file.ts';
import { helpDialog } from './views/help.ts';
import { remember, reopen, type Recent } from './recent.ts';
import { startView, type Sample } from './views/start.ts';
import { Trail, type Link } from './history.ts';
import { switchTheme } from './ui/theme.ts';
import { addressOf, isOpenable, repositoryOf, type Repository } from './worker/hubs.ts';
import type { Api } from './worker/main.ts';
import { Client } from './worker/rpc.ts';

/** Whether this build may read from other servers. */
const WITH_URL = import.meta.env.MODE === 'url';

const tasks = new Tasks(() => (current === undefined ? start.element.querySelector('button')?.focus() : current.view.focus()));
const client = new Client<Api>(
  () => new Worker(new URL('./worker/main.ts', import.meta.url), { type: 'module', name: 'weighbridge' }),
  (message) => tasks.ask(`The worker that reads the files failed: ${message}.`, 'Restart', () => void restart(), () => undefined),
  ({ changed, message }) => entries.find(({ file }) => file.id === changed)?.file.outdate(message),
  (call) => tasks.wait(call),
);

/** Starts the worker anew and opens all files again. */
async function restart(): Promise<void> {
  client.restart();
  entries.forEach(({ file }) => file.closing.abort());
  for (const old of [...entries]) {
    const [first, ...others] = old.given;
    await open(first ?? old.file.info.address!, { origin: old.origin, old, others, link: old.view });
  }
}

interface Entry {
  /** The file's number in the history, the same after it is reloaded. */
  id: number;
  file: OpenFile;
  view: FileView;
  tab: HTMLElement;
  /** Where the file came from, for the address. */
  origin: Place;
  /** The given files, main file first; empty if opened from a URL. */
  given: readonly Given[];
  /** Settles once the file has been checked. */
  checked: Promise<void>;
}

const entries: Entry[] = [];
let current: Entry | undefined;
/** The folder that is shown, if no file is. */
let front: Folder | undefined;
/** The places of what is being opened, by sample, recent file or address. */
const opening = new Map<Sample | Recent | string, { place: Place }>();

const main = document.querySelector('main')!;
const files = document.querySelector<HTMLElement>('#files')!;
const folders = new Folders(client, tasks, files, {
  show: (folder) => show(undefined, false, folder),
  open: openFrom,
  closed: (folder) => folder === front && show(entries.at(-1), true),
});
const samples = fetch('samples/index.json')
  .then((response) => response.json() as Promise<Sample[]>)
  .catch(() => []);
const help = helpDialog();
const picker = new FilePicker((given) => void openAll(given), (error) => tasks.fail(explain(error)));
const pick = () => picker.choose();
const take = (given: Promise<Given[]>) => void given.then(openAll).catch((error) => tasks.fail(explain(error)));
const pickFolder = folderPicker(take);
const start = startView(samples, {
  pick,
  pickFolder,
  open: (sample) => void openSample(sample),
  reopen: (recent) =>
    void once(recent, undefined, () =>
      reopen(recent).then(
        (given) => openAll([given]),
        (error) => {
          tasks.fail(explain(error));
          start.refresh();
        },
      ),
    ),
  openUrl: WITH_URL ? (address) => void openUrl(address) : undefined,
});

document.querySelector('#actions')!.append(
  tabMenu(files),
  iconButton('file', 'Open files (o)', pick),
  iconButton('folder', 'Open folder (f)', pickFolder),
  iconButton('theme', 'Switch between light and dark', switchTheme),
  iconButton('help', 'Keyboard shortcuts (?)', () => help.showModal()),
);
document.querySelector('footer')!.append(tasks.element, h('p', { class: 'promise' }, WITH_URL ? 'Local files stay in this tab' : 'Nothing leaves this tab'));
document.body.append(picker.element, help, tasks.alert, tasks.spoken);
main.replaceChildren(start.element);

const trail = new Trail({
  here: () => ({ file: current?.id ?? front?.id, place: current === undefined ? {} : { ...current.origin, ...current.view.place } }),
  restore({ file, place }) {
    const entry = entries.find(({ id }) => id === file);
    const folder = folders.all.find(({ id }) => id === file);
    if (file !== undefined && entry === undefined && folder === undefined) {
      // The file has been closed since. Reopen it if the page can, otherwise go on.
      if (place.sample !== undefined || place.url !== undefined) {
        void follow(place);
        return true;
      }
      return false;
    }
    if (entry !== current || folder !== front) {
      show(entry, false, folder);
    }
    entry?.view.go({ ...place, view: place.view ?? 'tensors' });
    return true;
  },
  follow: (place) => void follow(place),
});

/** Opens something unless it is being opened already; `place` is shown in either case. */
async function once(what: Sample | Recent | string, place: Place | undefined, action: (link: Link) => Promise<void>): Promise<void> {
  const before = opening.get(what);
  const link = before ?? { place: {} };
  if (place !== undefined) {
    link.place = place;
    // Unless the user has moved since the link was followed.
    if (trail.awaited?.place === place) {
      trail.awaited = link;
    }
  }
  if (before === undefined) {
    opening.set(what, link);
    await action(link).catch((error) => tasks.fail(explain(error)));
    opening.delete(what);
    trail.abandon(link);
  }
}

interface Options {
  origin?: Place;
  /** The entry to replace. */
  old?: Entry;
  /** Files that may belong to the same set. */
  others?: readonly Given[];
  /** Whether the file stays behind the shown file. */
  behind?: (info: OpenFile['info']) => boolean;
  link?: Link;
}

/** Opens a file and starts to check it. */
async function open(what: Given | string, { origin = {}, old, others = [], behind, link }: Options): Promise<Entry | undefined> {
  const source = typeof what === 'string' ? what : what.file;
  const name = typeof source === 'string' ? source : source.name;
  performance.mark('open');
  const info = await tasks.run(`Opening ${name}`, (options) => client.with(options).open(source, typeof what === 'string' ? [] : near(what, others)));
  if (info === undefined) {
    return undefined;
  }
  if (old !== undefined && !entries.includes(old)) {
    // It was closed or replaced meanwhile.
    void client.api.close(info.id);
    return undefined;
  }
  const of = new Set(info.parts?.map(({ name }) => name));
  const given = typeof what === 'string' ? [] : [what, ...others.filter((one) => one !== what && of.has(pathFrom(what, one) ?? ''))];
  const file = new OpenFile(info, client, tasks, () => void reload(entry), given[0]?.folder, given[0]?.file.lastModified, entries.filter((other) => other !== old).map((other) => other.file.name));
  file.droppable = typeof what !== 'string';
  const view = new FileView(file, () => entries.filter((other) => other.file !== file).map((other) => other.file));
  const tab = h(
    'div',
    { class: 'file-tab' },
    h('button', { type: 'button', class: 'file-name', title: file.fullName, 'aria-label': file.name, onclick: () => show(entry) }, ...namedFile(file.name)),
    iconButton('close', `Close ${file.name}`, () => close(entry)),
  );
  const entry: Entry = { id: old?.id ?? file.id, file, view, tab, origin, given, checked: Promise.resolve() };
  const [{ handle } = {}] = given;
  // A handle reopens a single file only.
  if (handle !== undefined && info.parts === undefined) {
    void remember(handle);
  }
  if (old !== undefined) {
    entries.splice(entries.indexOf(old), 1, entry);
    old.tab.replaceWith(tab);
    old.file.close();
    file.config = old.file.config;
    file.beside = old.file.beside;
  } else {
    entries.push(entry);
    files.append(tab);
  }
  file.moved.on((replace) => entry === current && trail.note(replace));
  file.validated.on(() => tab.setAttribute('data-state', file.outdated !== undefined ? 'outdated' : file.verdict === undefined ? '' : file.isAbsent ? 'missing' : file.verdict.valid ? 'valid' : 'invalid'));
  const { awaited } = trail;
  // A link that names no file is for the first file.
  const nameless = awaited?.place.sample === undefined && awaited?.place.url === undefined;
  const placed = link !== undefined && hashOf(link.place) !== '';
  const followed = placed || !nameless ? link : awaited;
  const quiet = old !== undefined || (followed !== undefined && followed === awaited);
  if (old === current || (old === undefined && behind?.(info) !== true)) {
    show(entry, quiet);
  }
  entries.forEach((one) => one.view.filesChanged());
  view.go(followed?.place ?? {});
  if (quiet) {
    trail.awaited = followed === awaited ? undefined : awaited;
    trail.replace();
  }
  entry.checked = file.check();
  return entry;
}

/** Reopens a changed file. */
async function reload(entry: Entry): Promise<void> {
  tasks.dismiss();
  const { given, origin, file, view } = entry;
  const again = (what: Given | string, others: readonly Given[] = []) => open(what, { origin, old: entry, others, link: view });
  try {
    const handles = given.map(({ handle }) => handle);
    if (given.length > 0 && handles.every((handle) => handle !== undefined)) {
      const [first, ...others] = await Promise.all(handles.map(ofFile));
      await again(first, others);
    } else if (file.info.address !== undefined) {
      await again(file.info.address);
    } else {
      // Without a handle, the browser cannot read the file again.
      picker.choose(given.length > 1, (list) => {
        const first = list.find((one) => one.file.name === file.info.name) ?? list[0];
        return first !== undefined && void again(first, list);
      });
    }
  } catch (error) {
    tasks.fail(`Reloading ${file.name}: ${explain(error)}`);
  }
}

/** Number of lists of files that are being opened. */
let lists = 0;

/** Opens files; the files of one model are opened as one. */
async function openAll(list: Given[], table = true): Promise<void> {
  tasks.dismiss();
  // The user may begin to work with the first file before the last one is open.
  const working = new AbortController();
  const note = () => current !== undefined && working.abort();
  ['keydown', 'pointerdown', 'input'].forEach((type) => addEventListener(type, note, { capture: true, signal: working.signal }));
  lists++;
  files.ariaBusy = 'true';
  try {
    const all = table && list.some(({ file }) => ARCHIVE.test(file.name)) ? await (await import('./archive.ts')).withMembers(list) : list;
    await openEach(table ? await folders.take(all) : all, all, working.signal);
  } finally {
    lists--;
    files.ariaBusy = String(lists > 0);
    working.abort();
  }
}

/** Opens a model from the table of its folder, unless it is open. */
function openFrom(list: Given[]): void {
  const there = entries.find(({ given: [first] }) => first?.file === list[0].file);
  void (there === undefined ? openAll(list, false) : show(there));
}

/** Opens files one after the other; `all` may belong to them. Each takes the front, unless the user is at `work` with another. */
async function openEach(list: Given[], all: readonly Given[], work: AbortSignal): Promise<void> {
  const { models, configs, beside } = sortOut(list);
  const before = new Set(entries);
  const left = new Set(models);
  // Files that an open model is missing.
  for (const entry of [...entries]) {
    const missing = new Set(entry.file.parts?.filter(({ state }) => state === 'missing').map(({ name }) => name));
    const found = [...left].filter((one) => missing.has(one.file.name) && mayShareFolder(entry.given[0], one) && left.delete(one));
    if (found.length > 0 && entry.given.length > 0) {
      const whole = await open(entry.given[0], { origin: entry.origin, old: entry, others: [...entry.given, ...found] });
      await whole?.checked;
    }
  }
  for (const given of models) {
    if (!left.has(given)) {
      continue;
    }
    // Shards that were opened before their index.
    const alone = entries.filter(({ file, given: [own] }) => file.parts === undefined && own !== undefined && isShard(own) && mayShareFolder(own, given));
    const others = [...all.filter((one) => pathFrom(given, one) !== undefined), ...alone.map(({ given: [own] }) => own)];
    const shown = entries.some((one) => !before.has(one) && !one.file.info.refused);
    const entry = await open(given, { others, behind: (info) => work.aborted || (shown && info.refused) });
    await entry?.checked;
    const surplus = new Set(entry?.file.parts?.filter(({ state }) => state === 'surplus').map(({ name }) => name));
    left.delete(given);
    const joined = entry?.given.filter((one) => !surplus.has(one.file.name)) ?? [];
    joined.forEach((one) => left.delete(one));
    alone.filter((one) => one !== entry && joined.includes(one.given[0])).forEach(close);
  }
  const opened = entries.filter((entry) => !before.has(entry));
  const used = new Set<File>();
  for (const { file, given: [first] } of opened) {
    const own = describing(beside, first?.folder);
    own.forEach((one) => used.add(one));
    file.accompany(own);
  }
  // Of a folder, only files that describe models are taken.
  const unused = beside.filter(({ file, folder }) => folder === undefined && !used.has(file));
  for (const [folder, config] of configs) {
    const own = opened.filter(({ given: [first] }) => first?.folder === folder);
    // Given alone, it is for the model that is shown.
    const meant = opened.length === 0 && configs.size === 1 && current !== undefined ? [current] : own;
    const text = meant.length === 0 ? '' : await config.file.text();
    meant.forEach(({ file }) => file.configure(text, config.file.name));
  }
  if (opened.length === 0 && configs.size > 0 && current === undefined) {
    tasks.fail('A config.json contains the settings of a model: drop it together with the model or after it.');
  } else if (unused.length > 0) {
    tasks.note(passedOver(unused));
  }
}

/** Opens an address or, in the build with URL access, a repository of the hub. */
async function openUrl(text: string, place?: Place): Promise<void> {
  const address = text.trim().replace(/^(?=(?:huggingface|hf)\.co\/)/, 'https://');
  await once(address, place, async (link) => {
    tasks.dismiss();
    const repository = repositoryOf(address);
    if (repository === undefined) {
      await open(address, { origin: isPlain(address) ? { url: address } : {}, link });
    } else if (isModel(repository.path) && !/^https?:/.test(address)) {
      const url = addressOf(repository, repository.path);
      await open(url, { origin: { url }, link });
    } else {
      await openRepository(repository, link);
    }
  });
}

/** Opens a repository's only tensor file, or the one the user chooses. */
async function openRepository(repository: Repository, link: Link): Promise<void> {
  // The build for local files does not include this code.
  if (import.meta.env.MODE === 'url') {
    const { chosen, settingsOf } = await import('./hub.ts');
    const choice = await chosen(repository, client, tasks);
    if (choice === undefined) {
      return;
    }
    const entry = await open(choice.address, { origin: { url: choice.address }, link });
    const config = entry && (await settingsOf(choice, repository, client, tasks));
    if (config !== undefined) {
      entry!.file.configure(config);
    }
  }
}

async function openSample(sample: Sample, place?: Place): Promise<void> {
  await once(sample, place, async (link) => {
    tasks.dismiss();
    const all = [sample.file, ...sample.beside].map(async (name): Promise<Given> => {
      const response = await fetch(`samples/${name}`);
      return { file: new File([await response.blob()], name) };
    });
    const [first, ...others] = await Promise.all(all);
    if (ARCHIVE.test(sample.file)) {
      return openAll([first]);
    }
    await open(first, { origin: { sample: sample.id }, others, link });
  });
}

function show(entry: Entry | undefined, replace = false, folder?: Folder): void {
  current = entry;
  front = folder;
  const tab = (entry ?? folder)?.tab;
  [...entries, ...folders.all].forEach((one) => one.tab.firstElementChild!.setAttribute('aria-current', String(one.tab === tab)));
  tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const held = document.activeElement === document.body || main.contains(document.activeElement);
  const shown = (entry ?? folder)?.view.element ?? start.element;
  if (!shown.isConnected) {
    main.replaceChildren(shown);
  }
  if (entry === undefined) {
    start.refresh();
  }
  const name = entry?.file.name ?? folder?.name;
  document.title = name === undefined ? 'Weighbridge' : `${name} · Weighbridge`;
  // The element that had the focus was removed.
  if (held) {
    (entry ?? folder)?.view.focus();
  }
  trail.note(replace);
}

function close(entry: Entry): void {
  const at = entries.indexOf(entry);
  if (at < 0) {
    return;
  }
  const held = entry.tab.contains(document.activeElement);
  entries.splice(at, 1);
  entry.tab.remove();
  entry.file.close();
  trail.skip();
  if (entry === current) {
    show(entries[Math.min(at, entries.length - 1)], true, entries.length > 0 ? undefined : folders.all.at(-1));
  }
  if (held) {
    (current?.tab.querySelector('button') ?? start.element.querySelector('button'))?.focus();
  }
  entries.forEach((one) => one.view.filesChanged());
}

// ------------------------------------------------------- drop, paste, keys

onDrop(take);
onLaunch(take);
addEventListener('paste', (event) => {
  const pasted = Array.from(event.clipboardData?.files ?? [], (file) => ({ file }));
  const text = event.clipboardData?.getData('text/plain').trim() ?? '';
  // Much text looks like a model name. While a file is shown, only a URL is opened.
  const isAddress = WITH_URL && (/^https?:\/\/\S+$/.test(text) ? URL.canParse(text) && isOpenable(new URL(text)) : current === undefined && /^\S+$/.test(text) && repositoryOf(text) !== undefined);
  if (pasted.length > 0) {
    void openAll(pasted);
  } else if (isAddress && !(event.target instanceof HTMLInputElement)) {
    void openUrl(text);
  }
});

copyInFull(window, getSelection);

onKeys({
  left: () => current?.view.focusList(),
  escaped() {
    current?.file.select(undefined);
    tasks.dismiss();
  },
  pressed(key) {
    const action = { o: pick, f: pickFolder, '?': () => help.showModal(), c: () => tasks.cancelAll() }[key];
    action?.();
    return action !== undefined || current?.view.key(key) === true;
  },
});

// ---------------------------------------------------------------- address

/** Navigates to the place in an address. */
async function follow(place: Place): Promise<void> {
  const { sample: id, url } = place;
  const there = entries.find(({ origin }) => (id === undefined ? url !== undefined && origin.url === url : origin.sample === id));
  const link = { place };
  if (there !== undefined) {
    if (there !== current) {
      show(there);
    }
    there.view.go(place);
  } else if (id !== undefined) {
    trail.awaited = link;
    const sample = (await samples).find((one) => one.id === id);
    if (sample === undefined) {
      trail.abandon(link);
      tasks.fail(`There is no sample called ${id}.`);
    } else {
      await openSample(sample, place);
    }
  } else if (WITH_URL && url !== undefined) {
    // The link is untrusted, so ask before following it.
    trail.awaited = link;
    if (!isPlain(url)) {
      trail.rewrite({ ...place, url: undefined });
    }
    const open = () => void openUrl(url, place);
    tasks.ask(`The link points to ${url}`, 'Open it', open, () => trail.abandon(link));
  } else if (current !== undefined) {
    current.view.go(place);
  } else if (hashOf(place) !== '') {
    trail.awaited = link;
  }
}

trail.follow();

// A file may have changed while the page was not visible.
addEventListener('focus', () => {
  entries.forEach(({ file }) => file.touch());
});

if ('serviceWorker' in navigator && import.meta.env.PROD) {
  void navigator.serviceWorker.register('sw.js').catch(() => undefined);
}
