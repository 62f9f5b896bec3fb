/** What the reader has chosen for all pages. The inline script of the pages reads all but `keys`. */
type Preference = 'theme' | 'wrap' | 'tabs' | 'keys';

export function kept(preference: Preference): string | null {
  try {
    return localStorage.getItem(`pasteflow-${preference}`);
  } catch {
    return null; // the browser keeps nothing
  }
}

export function keep(preference: Preference, value: string): void {
  try {
    localStorage.setItem(`pasteflow-${preference}`, value);
  } catch {
    // The browser keeps nothing.
  }
}
