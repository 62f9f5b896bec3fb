/** What somebody has entered, by the names of the fields. */
export type Fields = Readonly<Record<string, string>>;

/**
 * The tab keeps the fields for when its page is loaded again. A browser may write them to its disk, and give
 * them to a closed tab that is opened again.
 */
interface Draft {
  /** The name of the user who was signed in; empty: nobody. */
  readonly writer: string;
  readonly fields: Fields;
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

/** Forgets the draft of another user. @param viewer who is signed in now; empty: nobody */
export function keptFields(viewer: string): Fields | null {
  try {
    const draft = JSON.parse(sessionStorage.getItem(nameOfPage()) ?? 'null') as Draft | null;
    if (draft !== null && isFor(draft.writer, viewer)) return draft.fields;
  } catch {
    // The browser keeps nothing.
  }
  forgetDraft();
  return null;
}

/**
 * Whether a tab may show what a writer has entered. Somebody who was not signed in may have signed in
 * meanwhile: nobody can tell.
 */
export function isFor(writer: string, viewer: string): boolean {
  return writer === '' || writer === viewer;
}

/** A link to the form gives an empty one. The way back to a draft is the way back in the history. */
export function isLoadedAgain(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type !== 'navigate';
}

/** Enters the fields of a draft into its form. */
export function enter(form: HTMLFormElement, fields: Fields): void {
  for (const control of form.elements) {
    if (control instanceof HTMLInputElement && control.type === 'checkbox') {
      if (control.name !== '') control.checked = control.name in fields;
    } else if (
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement ||
      (control instanceof HTMLInputElement && ['text', 'hidden'].includes(control.type))
    )
      restoreValue(control, fields[control.name] ?? control.value);
  }
}

/** What the form offers no longer stays as the form has it. */
function restoreValue(
  control: HTMLTextAreaElement | HTMLSelectElement | HTMLInputElement,
  value: string,
): void {
  const { value: given } = control;
  control.value = value;
  if (control instanceof HTMLSelectElement && control.selectedIndex < 0) control.value = given;
}

/** The two doors of the form have drafts of their own. */
const nameOfPage = (): string => `draft of ${location.pathname}${location.search}`;
