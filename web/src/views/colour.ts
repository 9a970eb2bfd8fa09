/** Heat map colours: even steps in lightness, distinguishable for colour-blind readers. */

export interface Scale {
  lo: number;
  hi: number;
  /** Whether zero is the midpoint, with a different hue on each side. */
  two: boolean;
}

/** The values at the ends of the colour scale. */
export const COLOURS = {
  even: 'Around 0',
  range: 'Min to max',
  thousandth: '0.1 to 99.9 %',
  hundredth: '1 to 99 %',
} as const;
export type Colours = keyof typeof COLOURS;

/** The quantile at the lower end of the colour scale; `undefined` if no values are beyond its ends. */
export function clipOf(colours: Colours | undefined): 0 | 1 | undefined {
  return colours === 'thousandth' ? 0 : colours === 'hundredth' ? 1 : undefined;
}

type Rgb = readonly [number, number, number];

/** From the negative end through zero to the positive end. */
const TWO: readonly Rgb[] = [
  [20, 52, 104],
  [44, 109, 181],
  [136, 180, 221],
  [242, 241, 238],
  [236, 170, 116],
  [198, 95, 34],
  [110, 42, 12],
];

const ONE: readonly Rgb[] = [
  [16, 22, 58],
  [46, 64, 130],
  [53, 112, 158],
  [76, 160, 159],
  [146, 202, 140],
  [240, 234, 150],
];

const STEPS = 256;
const table = (stops: readonly Rgb[]) =>
  Uint32Array.from({ length: STEPS }, (_, i) => {
    const place = (i / (STEPS - 1)) * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(place));
    const part = place - at;
    const [r, g, b] = stops[at].map((from, channel) => Math.round(from + (stops[at + 1][channel] - from) * part));
    // Little-endian RGBA.
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });

const TWO_TABLE = table(TWO);
const ONE_TABLE = table(ONE);

/** The colour of cells with values that are not finite. */
const BAD = 0xffb000ff;

/** The pixel colour of a finite value. */
function heatColour(value: number, { lo, hi, two }: Scale): number {
  const share = hi > lo ? (value - lo) / (hi - lo) : 0.5;
  return (two ? TWO_TABLE : ONE_TABLE)[Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))))];
}

/** Draws cells, one pixel each; `bad` counts the values in each that are not finite. */
export function paintCells(canvas: HTMLCanvasElement, cells: Float32Array | Float64Array, scale: Scale, bad?: Uint32Array): void {
  const paint = canvas.getContext('2d')!;
  const image = paint.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < cells.length; i++) {
    pixels[i] = bad !== undefined && (bad[i] > 0 || Number.isNaN(cells[i])) ? BAD : heatColour(cells[i], scale);
  }
  paint.putImageData(image, 0, 0);
}

/** The scale of cells in the chosen or else in suitable colours, clipped at `quantiles` or at their own. */
export function rangeOf(cells: Float32Array, chosen: Colours | undefined, quantiles?: Float64Array): Scale & { colours: Colours } {
  let [lo, hi] = [Infinity, -Infinity];
  for (const value of cells) {
    if (value < lo) {
      lo = value;
    }
    if (value > hi) {
      hi = value;
    }
  }
  const colours = chosen ?? (lo < 0 && hi > 0 ? 'even' : 'range');
  const clip = clipOf(colours);
  if (clip !== undefined) {
    if (quantiles === undefined) {
      const all = cells.filter((value) => !Number.isNaN(value)).sort();
      const share = clip === 0 ? 0.001 : 0.01;
      [lo, hi] = [share, 1 - share].map((one) => all[Math.round(one * (all.length - 1))]);
    } else {
      [lo, hi] = [quantiles[clip], quantiles[3 - clip]];
    }
  }
  // Around zero, both sides get the same scale, so that zero is in the middle.
  const two = colours === 'even' || (clip !== undefined && lo < 0 && hi > 0);
  const bound = Math.max(Math.abs(lo), Math.abs(hi));
  return two ? { lo: -bound, hi: bound, two, colours } : { lo, hi, two, colours };
}
