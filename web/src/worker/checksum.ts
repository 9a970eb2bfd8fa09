/** Checksums of data that arrives in pieces; the browser's own take only whole buffers. */

export interface Checksum {
  push(bytes: Uint8Array): void;
  /** The checksum as lower-case hexadecimal. */
  finish(): string;
}

/** Parses a checksum that a file writes as `kind:value`; `undefined` if the kind is unknown. */
export function checksumOf(text: string): { expected: string; sum: Checksum } | undefined {
  const [kind, value] = text.toLowerCase().split(':');
  const expected = (value ?? '').replace(/^0x/, '');
  if (kind === 'crc32c') {
    return { expected: expected.padStart(8, '0'), sum: new Crc32c() };
  }
  return kind === 'sha256' ? { expected, sum: new Sha256() } : undefined;
}

const CASTAGNOLI = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) {
    crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return crc;
});

/** CRC-32C, RFC 3720 appendix B.4. */
class Crc32c implements Checksum {
  #crc = 0xffffffff;

  push(bytes: Uint8Array): void {
    let crc = this.#crc;
    for (let i = 0; i < bytes.length; i++) {
      crc = (crc >>> 8) ^ CASTAGNOLI[(crc ^ bytes[i]) & 0xff];
    }
    this.#crc = crc;
  }

  finish(): string {
    return (~this.#crc >>> 0).toString(16).padStart(8, '0');
  }
}

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function constants(count: number, power: number): Uint32Array {
  const out: number[] = [];
  for (let n = 2; out.length < count; n++) {
    if (!Array.from({ length: n - 2 }, (_, i) => i + 2).some((d) => n % d === 0)) {
      const root = n ** power;
      out.push(((root - Math.floor(root)) * 2 ** 32) >>> 0);
    }
  }
  return Uint32Array.from(out);
}

const ROUNDS = constants(64, 1 / 3);
const START = constants(8, 1 / 2);

/** SHA-256, FIPS 180-4 §6.2. */
class Sha256 implements Checksum {
  readonly #state = START.slice();
  readonly #words = new Uint32Array(64);
  readonly #block = new Uint8Array(64);
  #filled = 0;
  #length = 0;

  push(bytes: Uint8Array): void {
    this.#length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const step = Math.min(64 - this.#filled, bytes.length - at);
      this.#block.set(bytes.subarray(at, at + step), this.#filled);
      this.#filled += step;
      at += step;
      if (this.#filled === 64) {
        this.#compress();
        this.#filled = 0;
      }
    }
  }

  finish(): string {
    const bits = BigInt(this.#length) * 8n;
    this.push(Uint8Array.of(0x80));
    while (this.#filled !== 56) {
      this.push(Uint8Array.of(0));
    }
    const tail = new Uint8Array(8);
    new DataView(tail.buffer).setBigUint64(0, bits);
    this.push(tail);
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('');
  }

  #compress(): void {
    const w = this.#words;
    const view = new DataView(this.#block.buffer);
    for (let i = 0; i < 16; i++) {
      w[i] = view.getUint32(i * 4);
    }
    const turn = (x: number, n: number) => (x >>> n) | (x << (32 - n));
    for (let i = 16; i < 64; i++) {
      const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = this.#state;
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      this.#state[i] += word;
    });
  }
}
