/** The largest singular values of a matrix, by Lanczos bidiagonalisation (Golub and Kahan). */

/** A matrix, row after row. */
export interface Matrix {
  rows: number;
  columns: number;
  data: Float32Array | Float64Array;
}

export interface Singular {
  /** Largest first. */
  values: number[];
  /** For each value, how far it may be from a singular value of the matrix. */
  errors: number[];
}

/** Below this share of the norm, a vector is nothing but rounding. */
const NOTHING = 1e-12;
/** Rounds of rotations; a few are enough. */
const ROUNDS = 40;

/**
 * Approximates the largest singular values in at most `steps` steps. With as many steps as the shorter
 * side has, all values are found. `next` is called before each step and may stop the work by throwing.
 */
export async function singularValues(matrix: Matrix, steps: number, next: (step: number) => Promise<void>): Promise<Singular> {
  const { rows, columns } = matrix;
  const most = Math.min(rows, columns, steps);
  const [left, right]: Float64Array[][] = [[], []];
  // The bidiagonal matrix: its diagonal and what is above that.
  const [alpha, beta]: number[][] = [[], []];
  const random = numbers();
  const scale = norm(matrix.data);
  if (scale === 0) {
    return { values: Array<number>(most).fill(0), errors: Array<number>(most).fill(0) };
  }
  const unit = (vector: Float64Array, others: Float64Array[]) => {
    separate(vector, others);
    const length = norm(vector);
    if (length > NOTHING * scale) {
      multiply(vector, 1 / length);
      return length;
    }
    // The vectors so far span a space of their own: go on outside of it.
    vector.forEach((_, i) => (vector[i] = random()));
    separate(vector, others);
    multiply(vector, 1 / norm(vector));
    return 0;
  };
  let rest = Float64Array.from({ length: columns }, random);
  unit(rest, right);
  for (let step = 0; step < most; step++) {
    await next(step);
    right.push(rest);
    const image = times(matrix, rest);
    alpha.push(unit(image, left));
    left.push(image);
    rest = transposed(matrix, image);
    // In exact arithmetic nothing is left after the last column.
    beta.push(step + 1 < columns ? unit(rest, right) : 0);
  }
  return bidiagonal(alpha, beta, most === Math.min(rows, columns));
}

/** The singular values of a bidiagonal matrix, by one-sided rotations of its columns. */
function bidiagonal(alpha: readonly number[], beta: readonly number[], complete: boolean): Singular {
  const size = alpha.length;
  const vectors = alpha.map((diagonal, i) => {
    const column = new Float64Array(size);
    column[i] = diagonal;
    if (i > 0) {
      column[i - 1] = beta[i - 1];
    }
    return column;
  });
  for (let round = 0, turned = true; turned && round < ROUNDS; round++) {
    turned = false;
    for (let i = 0; i < size; i++) {
      for (let j = i + 1; j < size; j++) {
        turned = rotate(vectors[i], vectors[j]) || turned;
      }
    }
  }
  const last = beta.at(-1) ?? 0;
  const found = vectors.map((vector) => {
    const value = norm(vector);
    // How much of the singular vector leads out of the space that was searched.
    return { value, error: complete || value === 0 ? 0 : (last * Math.abs(vector[size - 1])) / value };
  });
  found.sort((a, b) => b.value - a.value);
  return { values: found.map(({ value }) => value), errors: found.map(({ error }) => error) };
}

/** Makes two columns orthogonal; says whether they were not. */
function rotate(one: Float64Array, other: Float64Array): boolean {
  const [a, b, c] = [dot(one, one), dot(other, other), dot(one, other)];
  if (Math.abs(c) <= 1e-15 * Math.sqrt(a * b)) {
    return false;
  }
  const ratio = (b - a) / (2 * c);
  const tangent = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.hypot(1, ratio));
  const cosine = 1 / Math.hypot(1, tangent);
  const sine = cosine * tangent;
  for (let i = 0; i < one.length; i++) {
    const x = one[i];
    one[i] = cosine * x - sine * other[i];
    other[i] = sine * x + cosine * other[i];
  }
  return true;
}

function times({ rows, columns, data }: Matrix, vector: Float64Array): Float64Array<ArrayBuffer> {
  const image = new Float64Array(rows);
  for (let row = 0, at = 0; row < rows; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++, at++) {
      sum += data[at] * vector[column];
    }
    image[row] = sum;
  }
  return image;
}

function transposed({ rows, columns, data }: Matrix, vector: Float64Array): Float64Array<ArrayBuffer> {
  const image = new Float64Array(columns);
  for (let row = 0, at = 0; row < rows; row++) {
    const factor = vector[row];
    for (let column = 0; column < columns; column++, at++) {
      image[column] += data[at] * factor;
    }
  }
  return image;
}

/** Takes away the parts of a vector along others, twice because of rounding. */
function separate(vector: Float64Array, others: readonly Float64Array[]): void {
  for (const other of [...others, ...others]) {
    const share = dot(vector, other);
    for (let i = 0; i < vector.length; i++) {
      vector[i] -= share * other[i];
    }
  }
}

function multiply(vector: Float64Array, factor: number): void {
  vector.forEach((value, i) => (vector[i] = value * factor));
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i++) {
    sum += one[i] * other[i];
  }
  return sum;
}

function norm(vector: Float32Array | Float64Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) {
    sum += vector[i] * vector[i];
  }
  return Math.sqrt(sum);
}

/** Numbers from -0.5 to 0.5, the same each time (xorshift). */
function numbers(): () => number {
  let state = 0x2545_f491;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32 - 0.5;
  };
}
