import { DependencyUnavailableError, InvalidTransitionError } from '@pasteflow/domain';

/** Pasteflow's own SQLSTATE for a transition that the machine's table does not allow. Class PF is in the range left to applications. */
export const INVALID_TRANSITION_SQLSTATE = 'PF001';

/** Node's codes for a connection that could not be made or went away. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * SQLSTATE classes and codes after which trying again later is right: 08 connection exceptions, 53 insufficient resources, 57P
 * shutdown and startup, 57014 a statement over its time, 40 serialisation and deadlock, 25P03 idle in transaction, 55P03 lock
 * not available, 25006 a server that is a standby for now.
 */
const UNAVAILABLE_SQLSTATE = /^(08|53|57P|57014|40|25P03|55P03|25006)/;

/** pg raises these without a code, as plain Errors: their text is the only mark they carry (pg 8.23, client.js and pg-pool). */
const CODELESS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Query read timeout)/;

/** A lock that wasn't to be had in its time (55P03), also inside a typed error. */
export function isLockTimeout(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  return (error as { code?: string }).code === '55P03' || isLockTimeout(error.cause);
}

/** Maps what pg raises to the typed errors of the domain, cause kept; what it doesn't know is returned as it is. */
export function toTypedError(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { code, detail } = error as Error & { code?: string; detail?: string };
  if (code === INVALID_TRANSITION_SQLSTATE && detail !== undefined) {
    return new InvalidTransitionError(JSON.parse(detail) as { machine: string; from: string; to: string }, {
      cause: error,
    });
  }
  const unavailable =
    code === undefined
      ? CODELESS.test(error.message)
      : CONNECTION_CODES.has(code) || UNAVAILABLE_SQLSTATE.test(code);
  return unavailable ? new DependencyUnavailableError('postgres', { cause: error }) : error;
}
