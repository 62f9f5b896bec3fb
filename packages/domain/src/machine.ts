import { InvalidTransitionError } from './errors.ts';

/** Where a machine's state lives in Postgres: the database's own enforcement is generated from it. */
export interface StateColumn {
  readonly table: string;
  readonly column: string;
}

/** One state as the table describes it: what it means and who moves it on, and where it may go. */
export interface StateDescription<State extends string = string> {
  readonly meaning: string;
  readonly to: readonly State[];
}

export interface Machine<State extends string = string> {
  readonly name: string;
  readonly storedIn: StateColumn;
  readonly initial: State;
  readonly states: Readonly<Record<State, StateDescription<State>>>;
}

/** Every state of the machine, in the order of its table. */
export function statesOf<State extends string>(machine: Machine<State>): readonly State[] {
  return Object.keys(machine.states) as State[];
}

/** Every allowed transition as [from, to]. Keeping a state is no transition and is always allowed. */
export function transitionsOf<State extends string>(
  machine: Machine<State>,
): readonly (readonly [State, State])[] {
  return statesOf(machine).flatMap((from) => machine.states[from].to.map((to) => [from, to] as const));
}

export function isState<State extends string>(machine: Machine<State>, value: unknown): value is State {
  return typeof value === 'string' && Object.hasOwn(machine.states, value);
}

export function isTerminal<State extends string>(machine: Machine<State>, state: State): boolean {
  return machine.states[state].to.length === 0;
}

export function canTransition<State extends string>(
  machine: Machine<State>,
  from: State,
  to: State,
): boolean {
  return machine.states[from].to.includes(to);
}

export interface Transition<State extends string = string> {
  readonly from: State;
  readonly to: State;
}

/**
 * A transition of the machine, for code to name what it does: a statement made from it can't do what the table doesn't allow, since the
 * module that names it doesn't load then.
 * @throws InvalidTransitionError
 */
export function transition<State extends string>(
  machine: Machine<State>,
  from: State,
  to: State,
): Transition<State> {
  assertTransition(machine, from, to);
  return { from, to };
}

/** @throws InvalidTransitionError naming both states, when the table does not lead from one to the other. */
export function assertTransition<State extends string>(
  machine: Machine<State>,
  from: State,
  to: State,
): void {
  if (!canTransition(machine, from, to))
    throw new InvalidTransitionError({ machine: machine.name, from, to });
}
