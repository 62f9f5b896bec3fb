import { findUserNames, type Database, type UserNames } from '@pasteflow/postgres';
import type { IncomingMessage } from 'node:http';
import type { Caller, Credential } from './caller.ts';
import { contextOf } from '../request/request-context.ts';
import { credentialsRequired, insufficientScope } from './authorization.ts';

/** The caller that was admitted. Every endpoint except an open one has a caller. */
export function callerOf(req: IncomingMessage): Caller {
  const { caller } = contextOf(req);
  if (caller === undefined) throw new Error('an open endpoint has no caller');
  return caller;
}

/** The caller's user id; null for an anonymous caller. */
export function userIdOf(req: IncomingMessage): string | null {
  const caller = callerOf(req);
  return caller.kind === 'user' ? caller.userId : null;
}

/** @throws RequestError insufficient_scope for a token that only reads */
export function requireWrite(req: IncomingMessage): void {
  const caller = callerOf(req);
  if (caller.kind === 'user' && caller.scope === 'read') throw insufficientScope();
}

/** Whether the caller may do everything: not with a token that its user has made, nor in its sessions. */
export function isFull(req: IncomingMessage): boolean {
  const caller = callerOf(req);
  return caller.kind === 'user' && caller.scope === 'full';
}

/** @throws RequestError insufficient_scope */
export function requireFull(req: IncomingMessage): void {
  if (isFull(req)) return;
  throw insufficientScope(
    'You are identified by a token that you made yourself: it makes no tokens, revokes only itself, and erases nobody. Sign in with a token from the operator, or at the identity provider.',
  );
}

/** The caller's user id. @throws RequestError unauthorized for an anonymous caller */
export function requireUser(req: IncomingMessage): string {
  const userId = userIdOf(req);
  if (userId === null) throw credentialsRequired();
  return userId;
}

/** The hash of the token or session of the caller; null: an access token of the identity provider. */
export function hashOfCaller(req: IncomingMessage): Buffer | null {
  const caller = callerOf(req);
  const credential: Credential | null = caller.kind === 'user' ? caller.credential : null;
  return credential?.kind === 'stored' ? credential.hash : null;
}

/** The names of a user who is there. */
export async function namesOfUser(db: Database, userId: string): Promise<UserNames> {
  return (await findUserNames(db, userId)) ?? { userName: '', shownName: null };
}
