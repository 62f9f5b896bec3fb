import type { IncomingMessage } from 'node:http';
import type { Caller } from '../http/request/caller.ts';
import { contextOf } from '../http/request/request-context.ts';
import { credentialsWanted } from './authorization.ts';

/** Who was admitted. Every endpoint but an open one has a caller. */
export function callerOf(req: IncomingMessage): Caller {
  const { caller } = contextOf(req);
  if (caller === undefined) throw new Error('an open endpoint has no caller');
  return caller;
}

/** The caller's user id; null for an anonymous one. */
export function userIdOf(req: IncomingMessage): string | null {
  const caller = callerOf(req);
  return caller.kind === 'user' ? caller.userId : null;
}

/** The caller's user id. @throws RequestError unauthorized when it is anonymous */
export function requireUser(req: IncomingMessage): string {
  const userId = userIdOf(req);
  if (userId === null) throw credentialsWanted();
  return userId;
}
