/** Programs that read a tensor. */

import type { OpenFile } from '../file.ts';
import type { TensorDetails } from '../worker/tables.ts';

/** A line of Python that reads a tensor; of a set, from the file that has it. */
export function python(from: OpenFile, { name, offset, at }: TensorDetails): string {
  const text = (value: string) => JSON.stringify(value);
  const { info } = from;
  const file = text(from.partAt(offset ?? at)?.name ?? info.name);
  switch (info.format) {
    case 'safetensors':
      return `safetensors.safe_open(${file}, "np").get_tensor(${text(name)})`;
    case 'gguf':
      return `next(it for it in gguf.GGUFReader(${file}).tensors if it.name == ${text(name)}).data`;
    case 'npz':
      return `numpy.load(${file})[${text(name)}]`;
    case 'npy':
      return `numpy.load(${file})`;
    default:
      return `weighbridge.load_file(${file})[${text(name)}]`;
  }
}
