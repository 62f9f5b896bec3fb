/** The objects in Postgres that the enforcement consists of. */

export interface CheckConstraint {
  readonly table: string;
  readonly name: string;
  readonly expression: string;
}

/** A trigger, and the function that it executes. Several triggers may execute one function. */
export interface EnforcedTrigger {
  readonly table: string;
  readonly name: string;
  readonly function: string;
  /** The body of the function, as pg_proc.prosrc has it. */
  readonly body: string;
  /** Settings of the function, for example `SET enable_nestloop = off`. */
  readonly settings: string;
  /** The function has the rights of its owner (SECURITY DEFINER). */
  readonly runsAsOwner: boolean;
  /** The definition after the name of the trigger. */
  readonly definition: string;
}

/** A function that roles without rights on the tables may call. It has the rights of its owner. */
export interface OwnerFunction {
  readonly name: string;
  /** With their names: `retention_seconds double precision`. */
  readonly parameters: string;
  readonly returns: string;
  readonly body: string;
}

/**
 * A string literal. Names and states come from packages/domain; the quoting is for a future name with an
 * apostrophe.
 */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * The actor of what a function does for its caller, in SQL: the database user, whom the caller can't choose,
 * and the process as which the caller acts, as it says.
 */
export const callerAs = (actor: string): string => `concat(session_user, ' (', ${actor}, ')')`;
