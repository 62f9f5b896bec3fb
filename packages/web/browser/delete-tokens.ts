// Delete tokens of pastes without an owner, by the path of the form that deletes the paste. Each has an item of its
// own, so that two tabs lose none.

const PREFIX = 'pasteflow-delete ';

/** @returns false when the browser keeps nothing */
export function keepToken(url: string, token: string): boolean {
  try {
    localStorage.setItem(`${PREFIX}${new URL(url).pathname}/delete`, token);
    return true;
  } catch {
    return false;
  }
}

export function keptToken(path: string): string | null {
  try {
    return localStorage.getItem(PREFIX + path);
  } catch {
    return null;
  }
}

/** Of all pastes. */
export function forgetTokens(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}
