import type { Request, Response } from 'express';
import { limitKeyOf, type Caller } from './caller.ts';
import { contextOf } from '../request/request-context.ts';
import { RequestError } from '../answers/request-error.ts';
import { idempotencyKeyOf } from '../idempotency/idempotency-key.ts';
import { credentialsRequired } from './authorization.ts';
import { requireUser, requireWrite } from './caller-of.ts';
import { identify, type IdentifyDependencies, nameOfUser } from './identify.ts';
import type { Limits } from '../limits/limits.ts';
import type { Operation } from '../openapi/endpoint.ts';
import type { TokenGuesses } from './token-guesses.ts';

export interface AdmissionDependencies extends IdentifyDependencies {
  readonly limits: Limits;
  readonly guesses: TokenGuesses;
}

/**
 * Runs before every endpoint: identifies the caller, counts the request against the caller's limits, and
 * checks access. Open endpoints skip it, except for the page of a browser that is signed in: its header names
 * the user.
 */
export type Admit = (
  req: Request,
  res: Response,
  operation: Pick<Operation, 'access' | 'errors' | 'ignoresSession' | 'allowsReadTokens'>,
) => Promise<void>;

export function createAdmit(deps: AdmissionDependencies): Admit {
  const { db, limits, sessions } = deps;
  return async (req, res, operation) => {
    const context = contextOf(req);
    if (operation.ignoresSession === true) context.ignoresSession = true;
    const isSignedIn = req.headers.authorization === undefined && sessions.secretOf(req) !== null;
    if (operation.access === 'open' && !(isSignedIn && context.wantsPage === true)) return;
    // Not even the browser keeps what only its user may see.
    if (isSignedIn) res.set('Cache-Control', 'private, no-store');
    const caller = await identifyCounted(deps, req, res);
    context.caller = caller;
    await limits.count(res, limitKeyOf(caller), {
      creates: req.method === 'POST',
      mayMiss: operation.errors.includes('paste_not_found'), // the answer reveals which short codes exist
    });
    if (operation.access === 'user') requireSignedIn(req);
    const reads = req.method === 'GET' || req.method === 'HEAD';
    if (!reads && operation.allowsReadTokens !== true) requireWrite(req);
    if (req.method === 'POST') idempotencyKeyOf(req); // refuses a malformed key before the body is read
    if (context.wantsPage === true && caller.kind === 'user')
      context.viewer = { id: caller.userId, name: await nameOfUser(db, caller.userId) };
  };
}

async function identifyCounted(deps: AdmissionDependencies, req: Request, res: Response): Promise<Caller> {
  const { authorization } = req.headers;
  const secret = deps.sessions.secretOf(req);
  const credential = authorization ?? (secret === null ? undefined : `Session ${secret}`);
  try {
    return await deps.guesses.counted(req, res, credential, () => identify(deps, req));
  } catch (error) {
    if (authorization === undefined && error instanceof RequestError) contextOf(req).mustSignIn = true;
    throw error;
  }
}

function requireSignedIn(req: Request): void {
  const context = contextOf(req);
  if (context.wantsPage !== true || context.caller?.kind === 'user') {
    requireUser(req);
    return;
  }
  context.mustSignIn = true;
  throw credentialsRequired('Sign in to see this page.');
}
