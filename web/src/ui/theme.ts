/** Light or dark: follows the system until the user chooses. */

import { recolour } from './recolour.ts';

const STORED = 'theme';
const root = document.documentElement;

const stored = localStorage.getItem(STORED);
if (stored === 'light' || stored === 'dark') {
  root.dataset.theme = stored;
}

export function switchTheme(): void {
  const dark = root.dataset.theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : root.dataset.theme === 'dark';
  root.dataset.theme = dark ? 'light' : 'dark';
  localStorage.setItem(STORED, root.dataset.theme);
  recolour();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
