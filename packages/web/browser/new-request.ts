const NAME = 'unsaved request';

/** This tab has just made the request, whose own link is nowhere else. @param id null: the link is saved */
export function keepUnsaved(id: string | null): void {
  try {
    if (id === null) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, id);
  } catch {
    // The browser keeps nothing: the page then shows both links at once.
  }
}

export function isUnsaved(id: string): boolean {
  try {
    return sessionStorage.getItem(NAME) === id;
  } catch {
    return false;
  }
}
