/** Chat templates: what they access, and their highlighted text. */

import type { OpenFile } from '../file.ts';
import { button, h, icon, pair, segmented } from '../ui/dom.ts';
import { count, counted, visible } from '../ui/format.ts';
import { refill } from '../ui/redraw.ts';
import type { ModelFacts, TemplateFacts } from '../worker/summary.ts';

/** Characters shown at first, and at most. */
const FIRST = 64 << 10;
const MOST = 1 << 20;
/** Maximum number of templates to choose from. */
const MOST_TEMPLATES = 32;

export function chatTemplate(file: OpenFile, templates: ModelFacts['templates']): HTMLElement {
  const body = h('div', { class: 'template' });
  /** Counts the templates asked for: only the last is drawn. */
  let asked = 0;
  const show = async (index: number, most = FIRST) => {
    const own = ++asked;
    const facts = await file.tasks.run('Reading the template', (options) => file.client.with(options).chatTemplate(file.id, index, most), file.closing.signal);
    if (own !== asked) {
      return;
    }
    if (facts === undefined) {
      refill(body, h('p', { class: 'empty' }, 'The template could not be read. ', button('Try again', () => void show(index, most), { class: 'link' })));
    } else {
      draw(body, facts, () => void show(index, MOST));
    }
  };
  void show(templates[0].index);
  // Template names come from the file, so the choice is identified by index.
  const label = (name: string, from: string | undefined) => visible(name || (templates.length > 1 && from) || 'default').slice(0, 60);
  const choices = templates.slice(0, MOST_TEMPLATES).map(({ name, index, from }) => [String(index), label(name, from)] as const);
  return h('div', { class: 'scroll', tabindex: '0' }, choices.length > 1 && h('div', { class: 'toolbar' }, segmented('Templates', choices, choices[0][0], (index) => void show(Number(index)))),
    templates.length > MOST_TEMPLATES && h('p', { class: 'note' }, `${counted(templates.length - MOST_TEMPLATES, 'more template')} not shown.`),
    templates[0].from !== undefined && h('p', { class: 'note template-from' }, `From ${[...new Set(templates.map(({ from = 'the file itself' }) => from))].join(', ')}.`),
    body,
  );
}

function names(label: string, all: string[], none: string): HTMLElement {
  const list = all.flatMap((name, i) => [i > 0 && ' ', h('code', { class: 'chip' }, visible(name))]);
  return pair(label, ...(all.length > 0 ? list : [h('span', { class: 'muted' }, none)]));
}

function draw(body: HTMLElement, { found, pieces, shown, length, left }: TemplateFacts, more: () => void): void {
  const { variables, functions, filters, roles, markers, warnings } = found;
  const text = h('pre', { class: 'template-text', tabindex: '0', 'aria-label': 'Template' });
  for (const { kind, text: piece } of pieces) {
    const plain = visible(piece);
    text.append(kind === 'text' || kind === 'code' ? plain : h('span', { class: `t-${kind}` }, plain));
  }
  refill(
    body,
    warnings.length > 0 &&
      h(
        'div',
        { class: 'template-warning', role: 'note' },
        h('h2', {}, icon('fatal'), ' This template accesses more than a chat template needs'),
        h('p', {}, 'Do not render it outside a sandbox. This page has parsed it but not rendered it.'),
        h('ul', {}, ...warnings.map(({ line, text: what, why }) => h('li', {}, `Line ${count(line)}: `, h('code', {}, visible(what)), ` ${why}.`))),
      ),
    h(
      'dl',
      { class: 'model-facts template-facts' },
      names('Reads', variables, 'no variables'),
      names('Calls', functions, 'no functions'),
      names('Filters', filters, 'none'),
      names('Roles', roles, 'none named'),
      names('Special tokens and tags', markers, 'none'),
    ),
    text,
    shown < length && h('p', { class: 'note' }, `The first ${count(shown)} of ${counted(length, 'character')} are shown. `, shown < MOST && button('Show more', more, { class: 'link' })),
    left > 0 && h('p', { class: 'note' }, `${counted(left, 'byte')} at the end not analysed.`),
  );
}
