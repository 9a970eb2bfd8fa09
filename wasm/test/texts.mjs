// Strings out of `Texts`.

export function list({ text, ends }) {
  return Array.from(ends, (end, i) => text.slice(i === 0 ? 0 : ends[i - 1], end));
}
