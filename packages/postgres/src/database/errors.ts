import { DependencyUnavailableError, InvalidTransitionError } from '@pasteflow/domain';
import { isUnusablePreparation } from './prepared.ts';

/**
 * Pasteflow's own SQLSTATE for a transition that the machine's table does not allow. Class PF is in the range
 * left to applications.
 */
export const INVALID_TRANSITION_SQLSTATE = 'PF001';

/**
 * Pasteflow's own SQLSTATE for a write that no statement may make: a row inserted in a later state, a changed
 * identity, a changed audit trail. A service never makes one, so that it is a defect and has no typed error.
 */
export const FORBIDDEN_CHANGE_SQLSTATE = 'PF002';

/** SQLSTATE insufficient_privilege. */
const INSUFFICIENT_PRIVILEGE = '42501';

const MISSING_RIGHT =
  'A service gets its rights from the migration, as packages/postgres/src/roles/rights.ts lists them. ' +
  'If this is the migration itself, connect as the owner of the database or as a superuser.';

/**
 * Codes of Node for a connection that failed: those of the system (ECONNRESET, EAI_AGAIN) and of streams and
 * TLS.
 */
const CONNECTION_CODE = /^(E(?!RR_)[A-Z_]{3,}|ERR_(SSL|STREAM|SOCKET|TLS)_)/;

/**
 * SQLSTATE classes and codes after which a later try can succeed: 08 connection exceptions, and what a pooler
 * reports; 40 serialization failure and deadlock; 53 insufficient resources; 57 shutdown, startup and
 * timeouts; 58 errors of the system under Postgres; 25P03 and 25P04 a transaction that was open for too long;
 * 55P03 lock not available; 25006 a server that is a standby for now. Not XX: corrupted data stays corrupted.
 */
const UNAVAILABLE_SQLSTATE = /^(08|40|53|57|58|25P03|25P04|55P03|25006)/;

/**
 * pg raises these as plain Errors without a code, so that only the text identifies them (pg 8.23, client.js,
 * parser.js and pg-pool).
 */
const CODELESS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Query read timeout|Received unexpected \w+ message|received invalid response)/;

/**
 * Whether a statement took too long (57014) or waited too long for a lock (55P03), also as the cause of a
 * typed error.
 */
export function isTimeout(error: unknown): boolean {
  return hasCode(error, /^(57014|55P03)$/);
}

/** Whether a lock was not granted in time (55P03), also as the cause of a typed error. */
export function isLockTimeout(error: unknown): boolean {
  return hasCode(error, /^55P03$/);
}

/** Whether a row would be the second one with a key (23505). */
export function isDuplicate(error: unknown): boolean {
  return hasCode(error, /^23505$/);
}

/** Whether a statement names a table or a view that doesn't exist, or no longer. */
export function isUndefinedTable(error: unknown): boolean {
  return hasCode(error, /^42P01$/);
}

/**
 * Whether the system under Postgres failed (class 58), also as the cause of a typed error. The statement
 * changed nothing, and the reason can be one row: the file or the disk block that holds it.
 */
export function isSystemError(error: unknown): boolean {
  return hasCode(error, /^58/);
}

/** Whether Postgres answers but can't write: its disk is full (53100), or it is read only (25006). */
export function cannotWrite(error: unknown): boolean {
  return hasCode(error, /^(53100|25006)$/);
}

/** Whether the error, or one of its causes, has a code like this. */
export function hasCode(error: unknown, pattern: RegExp): boolean {
  if (!Error.isError(error)) return false;
  const { code = '' } = error as { code?: string };
  return pattern.test(code) || hasCode(error.cause, pattern);
}

/**
 * Maps errors of pg to the typed errors of the domain and keeps the cause. Returns any other error unchanged.
 */
export function toTypedError(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { code, detail } = error as Error & { code?: string; detail?: string };
  if (code === INVALID_TRANSITION_SQLSTATE && detail !== undefined) {
    return new InvalidTransitionError(JSON.parse(detail) as { machine: string; from: string; to: string }, {
      cause: error,
    });
  }
  if (code === INSUFFICIENT_PRIVILEGE)
    return Object.assign(new Error(`${error.message}. ${MISSING_RIGHT}`, { cause: error }), { code });
  const unavailable =
    code === undefined
      ? CODELESS.test(error.message)
      : CONNECTION_CODE.test(code) || UNAVAILABLE_SQLSTATE.test(code) || isUnusablePreparation(error);
  return unavailable ? new DependencyUnavailableError('postgres', { cause: error }) : error;
}
