/** What lies beside the weights: the code that loading runs, and the defaults of generation. */

import { h, icon, pair } from '../ui/dom.ts';
import { counted, visible } from '../ui/format.ts';
import type { ModelFacts } from '../worker/summary.ts';

/** Maximum number of programs that are named. */
const NAMED = 8;

function part(title: string, ...children: (Node | false)[]): HTMLElement {
  const section = h('section', { class: 'model-part', 'aria-label': title }, h('h3', {}, title));
  section.append(...children.filter((child) => child !== false));
  return section;
}

/** The sections about files beside the weights, as far as there are such files. */
export function beside({ code, scripts, generation }: ModelFacts): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (code.length > 0 || scripts.length > 0) {
    const where = (present: boolean | undefined) => (present === undefined ? 'in another repository' : present ? 'in this folder' : 'not among the files given');
    const rows = code.map(({ by, from, what, present }) => pair(visible(by), h('bdi', { class: 'mono' }, visible(what)), h('span', { class: 'origin' }, from), h('span', { class: 'origin' }, where(present))));
    const more = scripts.length > NAMED ? ', …' : '';
    parts.push(
      part(
        'Code',
        code.length > 0 && h('p', { class: 'code-warning' }, icon('lint'), h('span', {}, 'Loading the model with trust_remote_code=True runs this code. This page runs none.')),
        code.length > 0 && h('dl', { class: 'model-facts' }, ...rows),
        scripts.length > 0 && h('p', { class: 'note' }, `${counted(scripts.length, 'program')} that no setting names: `, h('bdi', { class: 'mono' }, visible(scripts.slice(0, NAMED).join(', ') + more))),
      ),
    );
  }
  if (generation.length > 0) {
    const rows = generation.map(([key, value]) => pair(visible(key.replaceAll('_', ' ')), h('bdi', {}, visible(value.slice(0, 400)))));
    parts.push(part('Defaults of generation', h('dl', { class: 'model-facts' }, ...rows), h('p', { class: 'note' }, 'From generation_config.json.')));
  }
  return parts;
}
