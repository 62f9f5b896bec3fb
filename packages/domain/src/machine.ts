import { InvalidTransitionError } from './errors.ts';

/**
 * Where a machine's state is stored. The database's enforcement and its audit trail are generated from this.
 */
export interface StateStorage {
  readonly table: string;
  readonly column: string;
  /** The columns that say what a row is. They are set by the INSERT and never change. */
  readonly identityColumns: readonly string[];
  /** The column whose text says why a row entered its state; null: the table has no such column. */
  readonly reasonColumn: string | null;
}

export interface StateDescription<State extends string = string> {
  /** What the state means, and which process ends it. */
  readonly meaning: string;
  /** The states that may follow. None: the state is terminal. */
  readonly to: readonly State[];
  /**
   * The column with the time at which a row entered the state. Without one, the last transition in the audit
   * trail tells the time, and for the initial state `created_at` does.
   */
  readonly since?: string;
}

export interface Machine<State extends string = string> {
  readonly name: string;
  readonly storedIn: StateStorage;
  readonly initial: State;
  readonly states: Readonly<Record<State, StateDescription<State>>>;
}

/** The states of a machine: `StateOf<typeof job>`. */
export type StateOf<M extends Machine> = keyof M['states'] & string;

/** The states that may follow `From`. */
export type NextStateOf<M extends Machine, From extends StateOf<M>> = M['states'][From]['to'][number];

/** The states that no transition leads out of. */
type TerminalStateOf<M extends Machine> = {
  [State in StateOf<M>]: M['states'][State]['to'] extends readonly [] ? State : never;
}[StateOf<M>];

/** The states that a transition leads out of. */
export type OpenStateOf<M extends Machine> = Exclude<StateOf<M>, TerminalStateOf<M>>;

/** Defines a machine by its table. The type of its states is inferred from the keys of `states`. */
export function defineMachine<
  const Name extends string,
  const Storage extends StateStorage,
  const States extends Readonly<Record<string, StateDescription<keyof States & string>>>,
>(machine: {
  readonly name: Name;
  readonly storedIn: Storage;
  readonly initial: keyof States & string;
  readonly states: States;
}) {
  return machine;
}

/** Every state of the machine, in the order of its table. */
export function statesOf<M extends Machine>(machine: M): readonly StateOf<M>[] {
  return Object.keys(machine.states);
}

/** Every state that a transition leads out of, in the order of the table. */
export function openStatesOf<M extends Machine>(machine: M): readonly OpenStateOf<M>[] {
  return statesOf(machine).filter((state) => !isTerminal(machine, state)) as OpenStateOf<M>[];
}

/** Every allowed transition as [from, to]. Keeping a state is not a transition and is always allowed. */
export function transitionsOf<M extends Machine>(machine: M): readonly (readonly [StateOf<M>, StateOf<M>])[] {
  return statesOf(machine).flatMap((from) => nextStatesOf(machine, from).map((to) => [from, to] as const));
}

/** The states that may follow `from`. */
function nextStatesOf<M extends Machine>(machine: M, from: StateOf<M>): readonly StateOf<M>[] {
  return (machine.states[from] as StateDescription<StateOf<M>>).to;
}

export function isState<M extends Machine>(machine: M, value: unknown): value is StateOf<M> {
  return typeof value === 'string' && Object.hasOwn(machine.states, value);
}

export function isTerminal<M extends Machine>(machine: M, state: StateOf<M>): boolean {
  return nextStatesOf(machine, state).length === 0;
}

export function canTransition<M extends Machine>(machine: M, from: StateOf<M>, to: StateOf<M>): boolean {
  return nextStatesOf(machine, from).includes(to);
}

export interface Transition<From extends string = string, To extends string = string> {
  readonly from: From;
  readonly to: To;
}

/**
 * A transition of the machine, for statements to take their states from. A transition that the table does not
 * allow fails to compile, and the module that names it fails to load.
 * @throws InvalidTransitionError
 */
export function transition<
  M extends Machine,
  From extends StateOf<M>,
  To extends NextStateOf<M, From> & StateOf<M>,
>(machine: M, from: From, to: To): Transition<From, To> {
  assertTransition(machine, from, to);
  return { from, to };
}

/** @throws InvalidTransitionError naming both states, when the table does not lead from one to the other. */
export function assertTransition<M extends Machine>(machine: M, from: StateOf<M>, to: StateOf<M>): void {
  if (!canTransition(machine, from, to))
    throw new InvalidTransitionError({ machine: machine.name, from, to });
}
