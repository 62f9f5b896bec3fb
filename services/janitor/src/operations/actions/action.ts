import type { TakedownClass } from '@pasteflow/domain';
import type { Operations } from '../operations.ts';
import type { Subject } from './subjects.ts';

/** What some actions can do in the same step: refuse the content from now on, revoke the tokens of the user. */
export const actionOptions = ['block', 'end-tokens'] as const;

export type ActionOption = (typeof actionOptions)[number];

/** Who acts, and why. */
export interface ActedBy {
  readonly actor: string;
  /** In the operator's words. null: none was given, which only commands allow. */
  readonly reason: string | null;
  /** What readers see, for the actions that have classes. */
  readonly class: TakedownClass;
  /** Options of the action that the operator has chosen. Default: none. */
  readonly also?: readonly ActionOption[];
}

/** How many an action means, before it is done. */
export interface Meant {
  readonly count: number;
  /** `This takes down 12 pastes.` */
  readonly sentence: string;
  /** The class that the reporters have chosen most. Default: none. */
  readonly class?: TakedownClass;
}

interface Done {
  /** In words: what is recorded, and shown on the page and in the terminal. */
  readonly outcome: string;
  /** For programs. */
  readonly json: object;
  /** What a terminal shows instead of the outcome. */
  readonly terminal?: string;
}

export interface Running {
  /** Ends a long action between two of its steps. */
  readonly signal: AbortSignal;
  /** Called now and then during an action that takes long. */
  readonly onProgress: (line: string) => void;
}

/**
 * Something that operators do. The command line and the operations page are made from these definitions, which
 * actions.ts lists.
 */
export interface Action {
  /** As it is recorded, and in the addresses of the page. */
  readonly name: string;
  readonly title: string;
  /** null: only the page has it. */
  readonly command: ActionCommand | null;
  readonly hasClass?: true;
  readonly options?: readonly ActionOption[];
  /** The owner of the subject reads the reason, too. Otherwise only operators do. */
  readonly isReasonForOwner?: true;
  /** What `do` uses beside the database. A command whose environment lacks the settings of it records nothing. */
  readonly uses?: readonly ('sqs' | 'store')[];
  /** @param subject empty when the action has none. @returns null when there is no such subject */
  readonly check: (operations: Operations, subject: string) => Promise<Meant | null>;
  /**
   * @throws Refused, or the error of a dependency. After an abort between two steps, the reason of the signal
   */
  readonly do: (operations: Operations, subject: string, by: ActedBy, running: Running) => Promise<Done>;
}

/** How the command line asks for an action. */
interface ActionCommand {
  /** Several actions may share one, when they differ in their subjects. */
  readonly name: string;
  /** What the command takes; none: the action has no subject. */
  readonly subjects: readonly Subject[];
  /** For --help. */
  readonly help: string;
  readonly reason: 'needed' | 'optional' | 'none';
  /** For an action that is done only with --yes: what is shown without it. */
  readonly unconfirmed?: Unconfirmed;
}

interface Unconfirmed {
  readonly show: (meant: Meant, subject: string) => { readonly json: object; readonly text: string };
  /** When `check` finds no such subject. */
  readonly missing: (subject: string) => string;
  /** `To …, repeat the command with --yes` */
  readonly toDoIt: string;
}

/** The action is not possible. The message is for the operator. */
export class Refused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refused';
  }
}

/** What is recorded when the operator gave no reason. */
export const NO_REASON = 'no reason given';
