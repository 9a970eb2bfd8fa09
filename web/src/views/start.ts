/** The page before a file is open. */

import { forget, recents, type Recent } from '../recent.ts';
import { button, fill, h, icon } from '../ui/dom.ts';

export interface Sample {
  /** Used in the address. */
  id: string;
  /** The file, or the main file of a set. */
  file: string;
  /** The other files of its set. */
  beside: string[];
  format: string;
  title: string;
  sound: boolean;
  what: string;
}

export interface StartActions {
  pick(): void;
  pickFolder(): void;
  open(sample: Sample): void;
  reopen(recent: Recent): void;
  openUrl?: (address: string) => void;
}

/** The most common formats come first. */
const FIRST = ['safetensors', 'GGUF'];

/** The file name; for a set, the common part of the names. */
function nameOf({ file, beside }: Sample): string {
  return beside.length === 0 ? file : `${file.replace('.safetensors.index.json', '')} (${beside.length} shards)`;
}

/** What the page may do, in terms its policy enforces. */
function policy(byUrl: boolean): HTMLElement {
  return h(
    'p',
    { class: 'muted small policy' },
    h('strong', {}, byUrl ? 'Your files stay in this tab.' : 'Nothing leaves this tab.'),
    byUrl
      ? ' The page reads local files and uploads nothing. It connects only to the address you enter (huggingface.co for org/model) and to the servers it redirects to, only to read, without cookies or sign-in.'
      : " The browser itself blocks connections to other servers (Content-Security-Policy: connect-src 'self'); from its own server the page only loads its code and the samples, and it sends nothing.",
    ' No account, no cookies, no usage statistics; it works offline and never modifies files.',
  );
}

/** The recently opened files; hidden if there are none. */
function recentList(actions: StartActions, leave: () => void): { element: HTMLElement; refresh(): void } {
  const list = h('ul', { class: 'recent-list' });
  const element = h(
    'section',
    { class: 'recent', 'aria-label': 'Recent files', hidden: true },
    h('h2', {}, 'Recent'),
    list,
    h('p', { class: 'muted small' }, 'Kept in this browser only. ', button('Clear list', () => void forget().then(refresh), { class: 'link' })),
  );
  async function refresh(): Promise<void> {
    const all = await recents();
    const held = element.matches(':focus-within');
    element.hidden = all.length === 0;
    fill(list, ...all.map((recent) => h('li', {}, button(recent.name, () => actions.reopen(recent), { class: 'sample' }))));
    if (held && (element.hidden || !element.matches(':focus-within'))) {
      leave();
    }
  }
  return { element, refresh: () => void refresh() };
}

export function startView(samples: Promise<Sample[]>, actions: StartActions): { element: HTMLElement; refresh(): void } {
  const pick = button('Open files…', actions.pick, { class: 'primary' });
  const recent = recentList(actions, () => pick.focus());
  recent.refresh();
  const list = h('tbody', {});
  void samples.then((all) => {
    const rank = (title: string) => (FIRST.includes(title) ? FIRST.indexOf(title) : FIRST.length);
    const formats = [...new Set(all.map(({ title }) => title))].sort((a, b) => rank(a) - rank(b));
    list.replaceChildren(
      ...formats.map((title) => {
        const of = (sound: boolean) =>
          all
            .filter((sample) => sample.title === title && sample.sound === sound)
            .map((sample) => button(nameOf(sample), () => actions.open(sample), { class: 'sample', title: sample.what, 'data-sample': sample.id }));
        return h('tr', {}, h('th', { scope: 'row' }, title), h('td', {}, ...of(true)), h('td', {}, ...of(false)));
      }),
    );
  });
  const address = h('input', {
    // To the browser, model names are not URLs.
    type: 'text',
    inputmode: 'url',
    autocapitalize: 'off',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'https://… or org/model',
    title: 'A file, a folder that its server lists (with / at the end), or a model on huggingface.co',
    'aria-label': 'Address of a file, or of a model on huggingface.co',
    required: true,
  });
  const element = h(
    'section',
    { class: 'start', 'aria-label': 'Open a file' },
    h(
      'div',
      { class: 'drop' },
      icon('folder'),
      h('h1', {}, 'Drop a tensor file'),
      h('p', { class: 'purpose' }, 'Shows what is inside a safetensors or GGUF checkpoint, or a file in eleven other formats, whether it is valid, and whether its weights are healthy.'),
      h('p', { class: 'picks' }, pick, button('Open folder…', actions.pickFolder)),
      actions.openUrl !== undefined &&
        h(
          'form',
          {
            class: 'by-url',
            onsubmit: (event: Event) => {
              event.preventDefault();
              actions.openUrl!(address.value);
            },
          },
          address,
          h('button', { type: 'submit' }, 'Open address'),
        ),
      h('p', { class: 'muted small' }, 'Drop it anywhere in this window. Files can be any size: only the parts you view are read.'),
      policy(actions.openUrl !== undefined),
    ),
    h(
      'div',
      { class: 'samples' },
      recent.element,
      h('h2', {}, 'Samples'),
      h(
        'table',
        { class: 'plain' },
        h('thead', {}, h('tr', {}, ...['Format', 'Valid', 'Broken'].map((label) => h('th', { scope: 'col' }, label)))),
        list,
      ),
    ),
  );
  return { element, refresh: recent.refresh };
}
