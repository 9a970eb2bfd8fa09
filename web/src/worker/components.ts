/** The parts of a checkpoint that are models of their own, and how its weights are quantised. */

import type { Tensors } from './tensors.ts';

/** Components by the beginnings of names, as checkpoints of one file have them. */
const COMPONENTS: readonly (readonly [string, RegExp])[] = [
  ['diffusion model', /^(?:model\.diffusion_model|unet|diffusion_model)\./],
  ['EMA copy', /^(?:model_ema|ema)\./],
  ['VAE', /^(?:first_stage_model|vae)\./],
  ['text encoder', /^(?:cond_stage_model|text_encoder|text_model|(?:conditioner\.embedders|text_encoders)\.([^.]+))\./],
  ['control network', /^control_model\./],
  ['vision encoder', /^(?:model\.)?(?:vision_tower|vision_model|vision_encoder|visual|image_encoder)\.|^v\./],
  ['audio encoder', /^(?:model\.)?(?:audio_tower|audio_encoder|speech_encoder)\.|^a\./],
  ['projector', /^(?:model\.)?(?:multi_modal_projector|mm_projector|connector)\.|^mm\./],
  ['language model', /^(?:model\.)?language_model\./],
];

export interface Component {
  name: string;
  tensors: number;
  elements: bigint;
  stored: bigint;
}

/** The components of a checkpoint, in the order of the file; none if it is a single model. */
export function componentsOf({ names, elements, stored }: Tensors): Component[] {
  const all = new Map<string, Component>();
  names.forEach((tensor, i) => {
    let name = 'others';
    for (const [component, begins] of COMPONENTS) {
      const found = begins.exec(tensor);
      if (found !== null) {
        name = found[1] === undefined ? component : `${component} ${/^\d{1,3}$/.test(found[1]) ? Number(found[1]) + 1 : `(${found[1].slice(0, 32)})`}`;
        break;
      }
    }
    const known = all.get(name) ?? { name, tensors: 0, elements: 0n, stored: 0n };
    // A name of the file may be part of the component's.
    if (!all.has(name) && all.size >= 32) {
      return;
    }
    all.set(name, known);
    known.tensors++;
    known.elements += elements[i];
    known.stored += stored[i];
  });
  const own = [...all.values()].filter(({ name }) => name !== 'others');
  return own.length < 2 && !(own.length === 1 && all.size === 2) ? [] : [...own, ...[...all.values()].filter(({ name }) => name === 'others')];
}

export interface Quantised {
  /** What writes such tensors: `GPTQ, 4 bits, groups of 128`. */
  layout: string;
  tensors: number;
}

type Settings = ReadonlyMap<string, unknown>;

/** The layouts of quantised weights that Python libraries spread over several tensors. */
export function quantisedOf(tensors: Tensors, config: Settings): Quantised[] {
  const { names, shapes, dtypes } = tensors;
  const index = new Map(names.map((name, i) => [name, i]));
  const counts = new Map<string, number>();
  const setting = (...keys: string[]) => keys.map((key) => config.get(key)).find((value) => typeof value === 'number' && value > 0) as number | undefined;
  const bitsOf = (found: number | undefined) => setting('quantization_config.bits', 'quantization.bits', 'quantization_config.config_groups.group_0.weights.num_bits') ?? found;
  const add = (layout: string, bits?: number, group?: number) => {
    const text = [layout, bits && `${bits} bits`, group && `groups of ${group}`].filter((part) => part).join(', ');
    counts.set(text, (counts.get(text) ?? 0) + 1);
  };
  const extent = (name: string, axis: number) => Number(shapes[index.get(name) ?? -1]?.[axis] ?? 0n);
  names.forEach((name, i) => {
    const dtype = dtypes[i];
    const has = (end: string) => index.has(`${base}${end}`);
    const base = name.replace(/\.(?:qweight|weight|weight_packed)$|_blocks$/, '');
    const [first = 0, second = 0] = shapes[i].map(Number);
    if (name.endsWith('.qweight') && dtype === 'i32') {
      // GPTQ packs rows and numbers each in `g_idx`; AWQ packs columns.
      const length = extent(`${base}.g_idx`, 0);
      const groups = extent(`${base}.scales`, 0);
      const gptq = has('.g_idx');
      const unpacked = gptq ? length / first : extent(`${base}.scales`, 1) / second;
      const inputs = gptq ? length : first;
      add(gptq ? 'GPTQ' : 'AWQ', bitsOf(Number.isInteger(32 / unpacked) ? 32 / unpacked : undefined), setting('quantization_config.group_size') ?? (Number.isInteger(inputs / groups) ? inputs / groups : undefined));
    } else if (name.endsWith('.weight_packed')) {
      add(has('.weight_global_scale') ? 'NVFP4 of compressed-tensors' : 'compressed-tensors', has('.weight_global_scale') ? undefined : bitsOf(undefined), setting('quantization_config.config_groups.group_0.weights.group_size') ?? (has('.weight_global_scale') ? 16 : undefined));
    } else if (name.endsWith('_blocks') && dtype === 'u8' && has('_scales')) {
      add('MXFP4', undefined, 32);
    } else if (!name.endsWith('.weight')) {
      return;
    } else if (has('.weight.quant_state.bitsandbytes__nf4') || has('.weight.quant_state.bitsandbytes__fp4')) {
      add(`bitsandbytes ${has('.weight.quant_state.bitsandbytes__nf4') ? 'NF4' : 'FP4'}`);
    } else if (has('.SCB') && dtype === 'i8') {
      add('bitsandbytes int8, a scale per row');
    } else if (has('.weight_scale_2') && dtype === 'u8') {
      add('NVFP4 of ModelOpt', undefined, 16);
    } else if (has('.weight_scale_inv')) {
      const rows = Math.round(first / extent(`${base}.weight_scale_inv`, 0));
      const columns = Math.round(second / extent(`${base}.weight_scale_inv`, 1));
      add(`FP8 in blocks${rows > 1 && columns > 1 && Number.isFinite(rows * columns) ? ` of about ${rows} × ${columns}` : ''}`);
    } else if (has('.weight_scale') && /^(?:f8|i8)/.test(dtype)) {
      const scales = (shapes[index.get(`${base}.weight_scale`)!] ?? []).reduce((a, b) => a * b, 1n);
      add(`${dtype.startsWith('f8') ? 'FP8' : 'int8'}, a scale per ${scales === 1n ? 'tensor' : 'row'}`);
    } else if (has('.biases') && has('.scales') && dtype === 'u32') {
      add('MLX', bitsOf(undefined), setting('quantization.group_size', 'quantization_config.group_size'));
    }
  });
  return [...counts].map(([layout, tensors]) => ({ layout, tensors })).sort((a, b) => b.tensors - a.tensors).slice(0, 8);
}
