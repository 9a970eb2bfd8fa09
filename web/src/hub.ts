/** Repositories of the hub and folders of servers, in the build with URL access: which of their files to open. */

import './style/hub.css';
import { button, fill, h, setText, uniqueId } from './ui/dom.ts';
import { count, counted, size } from './ui/format.ts';
import type { Tasks } from './ui/tasks.ts';
import type { Repository } from './worker/hubs.ts';
import type { Api } from './worker/main.ts';
import type { Choice, Listing } from './worker/repository.ts';
import type { Client } from './worker/rpc.ts';

/** With more choices than this, a search field is shown. */
const FEW = 8;
/** Number of choices shown at a time. */
const SHOWN = 200;

/** Returns the only file that can be opened, or lets the user choose. */
export async function chosen(repository: Repository, client: Client<Api>, tasks: Tasks): Promise<Choice | undefined> {
  const { name } = repository;
  const listing = await tasks.run(`Listing ${name}`, (options) => client.with(options).listing(repository));
  if (listing === undefined) {
    return undefined;
  }
  const { choices, entries, cut, strange } = listing;
  if (choices.length === 0) {
    const where = repository.path === '' ? name : `${name}/${repository.path}`;
    const checked = `${cut ? 'the first ' : ''}${counted(entries, 'entry', 'entries')}`;
    tasks.fail(`${where} contains no file of a known format (checked ${checked}${strange > 0 ? `; left out ${counted(strange, 'file')} with an invalid name or size` : ''}).`);
    return undefined;
  }
  return choices.length === 1 && !cut && strange === 0 ? choices[0] : await ask(repository, listing);
}

/** Reads the `config.json` next to the choice. */
export async function settingsOf({ config }: Choice, repository: Repository, client: Client<Api>, tasks: Tasks): Promise<string | undefined> {
  return config === undefined ? undefined : await tasks.run('Reading config.json', (options) => client.with(options).settings(config, repository));
}

/** Shows a dialog with the choices. */
function ask({ name, revision, path }: Repository, { choices, entries, cut, strange }: Listing): Promise<Choice | undefined> {
  const id = uniqueId('hub');
  const list = h('ul', { class: 'choices' });
  const summary = h('p', { class: 'muted', role: 'status' });
  const search = h('input', { type: 'search', 'aria-label': 'Search the files', placeholder: 'Search', hidden: choices.length <= FEW, oninput: () => draw() });
  let answer: Choice | undefined;
  const dialog = h(
    'dialog',
    { class: 'hub', 'aria-labelledby': id },
    h('h2', { id }, h('bdi', {}, [name, revision === 'main' || revision === '' ? '' : `@${revision}`, path === '' ? '' : `/${path}`].join(''))),
    summary,
    search,
    list,
    cut && h('p', { class: 'muted small' }, `Only the first ${count(entries)} entries were listed. Enter a folder to see its contents: ${name}/folder.`),
    strange > 0 && h('p', { class: 'muted small' }, `${counted(strange, 'file')} with an invalid name or size ${strange === 1 ? 'is' : 'are'} not shown.`),
    h('p', {}, button('Cancel', () => dialog.close())),
  );
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    const found = choices.filter((one) => words.every((word) => one.path.toLowerCase().includes(word)));
    const more = found.length - SHOWN;
    setText(summary, `${found.length === choices.length ? counted(choices.length, 'file or set', 'files and sets') : `${count(found.length)} of ${count(choices.length)}`}${more > 0 ? `, the first ${SHOWN} shown` : ''}`);
    fill(list, ...found.slice(0, SHOWN).map((one) => h('li', {}, choiceButton(one, choose))));
  };
  const choose = (choice: Choice) => {
    answer = choice;
    dialog.close();
  };
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...list.querySelectorAll('button')];
    if (step !== undefined) {
      event.preventDefault();
      buttons[buttons.indexOf(event.target as HTMLButtonElement) + step]?.focus();
    }
  });
  draw();
  document.body.append(dialog);
  dialog.showModal();
  (search.hidden ? list.querySelector('button') : search)?.focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(answer);
    });
  });
}

function choiceButton(choice: Choice, choose: (choice: Choice) => void): HTMLButtonElement {
  const { path, size: bytes, files } = choice;
  return h(
    'button',
    { type: 'button', class: 'choice', onclick: () => choose(choice) },
    h('bdi', {}, path),
    h('span', { class: 'muted' }, `${files > 1 ? `${count(files)} files` : ''}${files > 1 && bytes > 0 ? ', ' : ''}${bytes > 0 ? size(bytes) : ''}`),
  );
}
