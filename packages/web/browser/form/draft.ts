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

/** An input, a select or a text area. */
type Control = HTMLInputElement & Partial<Pick<HTMLSelectElement, 'selectedIndex'>>;

/** Enters the fields of a draft into its form. A choice that is no longer offered leaves what the form begins with. */
export function enter(form: HTMLFormElement, fields: Fields): void {
  for (const control of form.elements as unknown as Iterable<Control>)
    if (control.type === 'checkbox') {
      if (control.name !== '') control.checked = control.name in fields;
    } else if (/^(?:text|hidden|select)/.test(control.type)) {
      const { value } = control;
      control.value = fields[control.name] ?? value;
      if (control.selectedIndex === -1) control.value = value;
    }
}

/** The two doors of the form have drafts of their own. */
const nameOfPage = (): string => `draft of ${location.pathname}${location.search}`;
