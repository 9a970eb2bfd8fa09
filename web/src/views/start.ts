/** What the page shows before a file is open. */

import { button, h, icon } from '../ui/dom.ts';

export interface Sample {
  /** Part of the address. */
  id: string;
  /** Its file. */
  file: string;
  format: string;
  title: string;
  sound: boolean;
  what: string;
}

export interface StartActions {
  pick(): void;
  open(sample: Sample): void;
  openUrl?: (address: string) => void;
}

export function startView(samples: Promise<Sample[]>, actions: StartActions): HTMLElement {
  const list = h('tbody', {});
  void samples.then((all) => {
    const formats = [...new Set(all.map(({ title }) => title))];
    list.replaceChildren(
      ...formats.map((title) => {
        const of = (sound: boolean) =>
          all
            .filter((sample) => sample.title === title && sample.sound === sound)
            .map((sample) => button(sample.file, () => actions.open(sample), { class: 'sample', title: sample.what, 'data-sample': sample.id }));
        return h('tr', {}, h('th', { scope: 'row' }, title), h('td', {}, ...of(true)), h('td', {}, ...of(false)));
      }),
    );
  });
  const address = h('input', { type: 'url', placeholder: 'https://…', 'aria-label': 'Address of a file', required: true });
  return h(
    'section',
    { class: 'start', 'aria-label': 'Open a file' },
    h(
      'div',
      { class: 'drop' },
      icon('folder'),
      h('h1', {}, 'Drop a tensor file'),
      h('p', {}, 'See what is inside, whether the file is valid, and if not, which byte is wrong.'),
      h('p', {}, button('Open files…', actions.pick, { class: 'primary' })),
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
      h(
        'p',
        { class: 'muted small' },
        'Files of any size: only the parts you look at are read. ',
        actions.openUrl === undefined ? 'Nothing leaves this tab: the page is not allowed to send anything.' : 'Local files stay in this tab.',
      ),
    ),
    h(
      'div',
      { class: 'samples' },
      h('h2', {}, 'Samples'),
      h(
        'table',
        { class: 'plain' },
        h('thead', {}, h('tr', {}, ...['Format', 'Valid', 'Broken'].map((label) => h('th', { scope: 'col' }, label)))),
        list,
      ),
    ),
  );
}
