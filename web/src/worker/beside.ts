/** What lies beside a model: its tokenizer, templates, defaults of generation, adapter settings, code. */

import { listsOf, factsOf, isObject, type TokenLists } from './tokenizer.ts';
import type { TokenizerFacts } from './summary.ts';
import type { Session } from './session.ts';

/** Maximum sizes: the largest tokenizers have 35 MB. */
const MOST_TOKENIZER = 96 << 20;
const MOST_SETTINGS = 8 << 20;
/** Maximum number of settings and of templates that are listed. */
const MOST = 64;

/** Code that loading the model would run. */
export interface Code {
  /** The class or the setting, and the file that names it. */
  by: string;
  from: string;
  /** The path of the module. */
  what: string;
  /** Whether it is in the same folder; `undefined` if it is in another repository. */
  present: boolean | undefined;
}

export interface Beside {
  tokenizer: TokenizerFacts | undefined;
  lists: TokenLists | undefined;
  templates: { name: string; text: string; from: string }[];
  generation: (readonly [string, string])[];
  /** The `adapter_config.json`. */
  adapter: Record<string, unknown> | undefined;
  code: Code[];
  /** Programs that no setting names. */
  scripts: string[];
  /** What could not be read. */
  notes: string[];
}

/** The companions of each file, and those files. */
const known = new WeakMap<Session, readonly [readonly File[], string | undefined, Promise<Beside>]>();

/** What lies beside a model, as last read. */
export async function besideOf(file: Session): Promise<Beside | undefined> {
  return await known.get(file)?.[2];
}

/** Reads the companions of a model once; `config` is its `config.json`. */
export function readBeside(file: Session, files: readonly File[], config: string | undefined): Promise<Beside> {
  const [before, of, read] = known.get(file) ?? [];
  // Each call brings copies of the files.
  const same = before?.length === files.length && before.every(({ name, size, lastModified }, i) => name === files[i].name && size === files[i].size && lastModified === files[i].lastModified);
  if (same && read !== undefined && config === of) {
    return read;
  }
  const reading = all(files, config);
  known.set(file, [files, config, reading]);
  reading.catch(() => known.delete(file));
  return reading;
}

async function all(files: readonly File[], config: string | undefined): Promise<Beside> {
  const notes: string[] = [];
  const given = async (name: string, most = MOST_SETTINGS): Promise<string | undefined> => {
    const found = files.find((one) => one.name === name);
    if (found !== undefined && found.size > most) {
      notes.push(`${name} was not read: it has ${found.size} bytes`);
      return undefined;
    }
    return await found?.text();
  };
  const json = async (name: string, most?: number): Promise<unknown> => {
    const text = await given(name, most);
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      notes.push(`${name} is not valid JSON`);
      return undefined;
    }
  };
  const tokens = await json('tokenizer.json', MOST_TOKENIZER);
  const settings = await json('tokenizer_config.json');
  const generation = await json('generation_config.json');
  const adapter = await json('adapter_config.json');
  const lists = tokens === undefined ? undefined : listsOf(tokens);
  if (tokens !== undefined && lists === undefined) {
    notes.push('tokenizer.json contains no tokenizer model');
  }
  const templates = templatesOf(settings, 'tokenizer_config.json');
  // Libraries prefer the files to the setting.
  templates.unshift(...templatesOf(await json('chat_template.json'), 'chat_template.json'));
  const jinja = await given('chat_template.jinja');
  if (jinja !== undefined) {
    templates.unshift({ name: '', text: jinja, from: 'chat_template.jinja' });
  }
  const names = new Set(files.map(({ name }) => name));
  const own = config === undefined ? undefined : (JSON.parse(config) as unknown);
  const code = ([['config.json', own], ['tokenizer_config.json', settings], ['generation_config.json', generation]] as const).flatMap(([from, value]) => codeOf(value, from, names));
  return {
    tokenizer: lists && factsOf(tokens, lists, settings),
    lists,
    templates: templates.slice(0, MOST),
    generation: isObject(generation) ? Object.entries(generation).filter(([key]) => key !== '_from_model_config').slice(0, MOST).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const) : [],
    adapter: isObject(adapter) ? adapter : undefined,
    code,
    scripts: [...names].filter((name) => name.endsWith('.py') && !code.some(({ what }) => what === name)).sort(),
    notes,
  };
}

/** The templates of settings: one, or several with names. */
function templatesOf(settings: unknown, from: string): Beside['templates'] {
  const found = isObject(settings) ? settings.chat_template : undefined;
  if (typeof found === 'string') {
    return [{ name: '', text: found, from }];
  }
  const list = Array.isArray(found) ? found : isObject(found) ? Object.entries(found).map(([name, template]) => ({ name, template })) : [];
  return list.flatMap((one: unknown) => (isObject(one) && typeof one.template === 'string' ? [{ name: one.name === 'default' ? '' : String(one.name ?? ''), text: one.template, from }] : []));
}

/** The classes that settings take from modules of a repository. */
function codeOf(settings: unknown, from: string, names: ReadonlySet<string>): Code[] {
  if (!isObject(settings)) {
    return [];
  }
  const code: Code[] = [];
  const add = (by: string, value: unknown) => {
    if (typeof value === 'string' && code.length < MOST) {
      const [first, rest] = value.split('--', 2);
      const [repository, name] = rest === undefined ? ['', first] : [first, rest];
      const module = `${name.replace(/\.[^.]*$/, '').replaceAll('.', '/')}.py`;
      code.push({ by, from, what: repository === '' ? module : `${module} of ${repository}`, present: repository === '' ? names.has(module) : undefined });
    }
  };
  const map = settings.auto_map;
  const entries = Array.isArray(map) ? map.map((one: unknown) => ['auto_map', one] as const) : isObject(map) ? Object.entries(map) : [['auto_map', map] as const];
  entries.forEach(([by, value]) => [value].flat().forEach((one) => add(by, one)));
  const pipelines = isObject(settings.custom_pipelines) ? Object.entries(settings.custom_pipelines) : [];
  pipelines.forEach(([by, pipeline]) => add(by, isObject(pipeline) ? (pipeline.impl ?? 'a module') : 'a module'));
  return code;
}
