import type { TakedownClass } from '@pasteflow/domain';

/** Who acts, and why. */
export interface ActedBy {
  readonly actor: string;
  /** In the operator's words. Not empty. */
  readonly reason: string;
  /** The class that readers see, for the actions that have classes. */
  readonly class: TakedownClass;
}

/** How many an action means, before it is done. */
export interface Meant {
  readonly count: number;
  /** `This takes down 12 pastes.` */
  readonly sentence: string;
}

/** Something that an operator can do on the page. */
export interface Action {
  readonly title: string;
  readonly hasClass: boolean;
  /** The owner of the subject reads the reason, too. Default: only operators do. */
  readonly isReasonForOwner?: true;
  /** null: there is no such subject. */
  readonly meant: (subject: string | null) => Promise<Meant | null>;
  /** @returns what was done, in words. @throws when it could not be done, or the signal was aborted between two steps */
  readonly run: (subject: string | null, by: ActedBy, signal: AbortSignal) => Promise<string>;
}

/** `1 paste`, `12 pastes`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
