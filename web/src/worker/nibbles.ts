/** Codes of 4 bits: the float of 4 bits, and blocks of bitsandbytes. */

/** Reads elements of a tensor by its name. */
export interface Reader {
  read(name: string, from: number, count: number): Promise<ArrayLike<number>>;
  all(name: string): Promise<ArrayLike<number>>;
  has(name: string): boolean;
}

/** The values of E2M1: a sign, two bits of exponent, one of mantissa. */
export const FP4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6];

/** The code at an index; the lower half of a byte comes first. */
export function nibble(bytes: ArrayLike<number>, at: number): number {
  return (bytes[at >> 1] >> (4 * (at & 1))) & 15;
}

/** What the `quant_state` of bitsandbytes says. */
export interface Parameters {
  rows: number;
  columns: number;
  /** Elements of each scale. */
  block: number;
  /** Scales of each scale of scales, and what is added to them; if they are quantised too. */
  nested?: { block: number; offset: number };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** The parameters in a `quant_state`, which is JSON in bytes; otherwise why they are not understood. */
export function parametersOf(bytes: ArrayLike<number>): Parameters | string {
  const refused = 'The quant_state beside this tensor is not understood.';
  let state: Record<string, unknown> | null;
  try {
    state = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes))) as Record<string, unknown> | null;
  } catch {
    return refused;
  }
  const { shape, blocksize, nested_blocksize: nested, nested_offset: offset } = state ?? {};
  if (!Array.isArray(shape) || shape.length === 0 || !shape.every(isCount) || !isCount(blocksize)) {
    return refused;
  }
  const [rows, ...rest] = shape as number[];
  const parameters = { rows, columns: rest.reduce((a, b) => a * b, 1), block: blocksize };
  if (nested === undefined) {
    return parameters;
  }
  return isCount(nested) && typeof offset === 'number' ? { ...parameters, nested: { block: nested, offset } } : refused;
}

/** Weights of bitsandbytes: codes into a table, the upper half of a byte first, and a scale for each block. */
export function nf4(reader: Reader, main: string, { rows, columns, block, nested }: Parameters): { rows: number; columns: number; row(at: number): Promise<Float32Array> } {
  const scalesOf = async (from: number, count: number): Promise<ArrayLike<number>> => {
    const own = await reader.read(`${main}.absmax`, from, count);
    if (nested === undefined) {
      return own;
    }
    const table = await reader.all(`${main}.nested_quant_map`);
    const first = Math.floor(from / nested.block);
    const outer = await reader.read(`${main}.nested_absmax`, first, Math.floor((from + count - 1) / nested.block) - first + 1);
    return Float32Array.from(own, (code, i) => table[code] * outer[Math.floor((from + i) / nested.block) - first] + nested.offset);
  };
  const row = async (at: number) => {
    const from = at * columns;
    const [byte, block0] = [Math.floor(from / 2), Math.floor(from / block)];
    const bytes = await reader.read(main, byte, Math.ceil((from + columns) / 2) - byte);
    const scales = await scalesOf(block0, Math.floor((from + columns - 1) / block) - block0 + 1);
    const table = await reader.all(`${main}.quant_map`);
    return Float32Array.from({ length: columns }, (_, i) => {
      const code = (bytes[Math.floor((from + i) / 2) - byte] >> (4 * (1 - ((from + i) % 2)))) & 15;
      return table[code] * scales[Math.floor((from + i) / block) - block0];
    });
  };
  return { rows, columns, row };
}
