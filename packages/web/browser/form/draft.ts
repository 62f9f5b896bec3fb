/** What somebody has entered. The tab keeps it for a reload, and no longer than the tab exists. */
interface Draft {
  /** The name of the user who was signed in; empty: nobody. */
  readonly writer: string;
  /** By the names of the fields. */
  readonly fields: Readonly<Record<string, string>>;
}

/** @returns false for more than the browser keeps, and when the browser keeps nothing */
export function keepDraft(draft: Draft): boolean {
  forgetDraft();
  try {
    sessionStorage.setItem(nameOfPage(), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(nameOfPage());
  } catch {
    // The browser keeps nothing.
  }
}

/** @param viewer who is signed in now; empty: nobody. Another user finds nothing */
export function keptFields(viewer: string): Draft['fields'] | null {
  try {
    const draft = JSON.parse(sessionStorage.getItem(nameOfPage()) ?? 'null') as Draft | null;
    return draft !== null && isFor(draft.writer, viewer) ? draft.fields : null;
  } catch {
    return null; // the browser keeps nothing
  }
}

/** Whether a tab may show what a writer has entered. Somebody who was not signed in may have signed in meanwhile. */
export function isFor(writer: string, viewer: string): boolean {
  return writer === '' || writer === viewer;
}

const nameOfPage = (): string => `draft of ${location.pathname}`;
