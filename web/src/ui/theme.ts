/** Light or dark: as the system says, until somebody says otherwise. */

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
  tell();
}

/** Canvases take their colours when they are drawn. */
function tell(): void {
  dispatchEvent(new Event('theme'));
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tell);
