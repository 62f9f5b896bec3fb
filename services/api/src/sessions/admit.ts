import type { Request, Response } from 'express';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { credentialsRequired } from '../http/callers/authorization.ts';
import { limitKeyOf, type Caller } from '../http/callers/caller.ts';
import { namesOfUser, requireUser, requireWrite } from '../http/callers/caller-of.ts';
import { viewerOf } from '../http/callers/person.ts';
import { idempotencyKeyOf } from '../http/idempotency/idempotency.ts';
import type { Policy } from '../http/openapi/endpoint.ts';
import { contextOf } from '../http/request/request-context.ts';
import { identify } from './identify.ts';

/**
 * Runs before every endpoint: identifies the caller, counts the request against the caller's limits, and
 * checks access. Open endpoints skip it, except for the page of a browser that is signed in: its header names
 * the user.
 */
export async function admit(api: ApiContext, req: Request, res: Response, policy: Policy): Promise<void> {
  const { db, limits, sessions } = api;
  const context = contextOf(req);
  if (policy.ignoresSession === true) context.ignoresSession = true;
  const isSignedIn = req.headers.authorization === undefined && sessions.secretOf(req) !== null;
  if (policy.access === 'open' && !(isSignedIn && context.wantsPage === true)) return;
  // Not even the browser keeps what only its user may see.
  if (isSignedIn) res.set('Cache-Control', 'private, no-store');
  const caller = await identifyCounted(api, req, res);
  context.caller = caller;
  await limits.count(res, limitKeyOf(caller), {
    creates: req.method === 'POST',
    mayMiss: policy.countsMisses === true,
  });
  if (policy.access === 'user') requireSignedIn(req);
  const reads = req.method === 'GET' || req.method === 'HEAD';
  if (!reads && policy.allowsReadTokens !== true) requireWrite(req);
  if (req.method === 'POST') idempotencyKeyOf(req); // refuses a malformed key before the body is read
  if (context.wantsPage === true && caller.kind === 'user')
    context.viewer = {
      id: caller.userId,
      ...viewerOf(await namesOfUser(db, caller.userId)),
      onlyReads: caller.scope === 'read',
    };
}

async function identifyCounted(api: ApiContext, req: Request, res: Response): Promise<Caller> {
  const { authorization } = req.headers;
  const secret = api.sessions.secretOf(req);
  const credential = authorization ?? (secret === null ? undefined : `Session ${secret}`);
  try {
    return await api.guesses.counted(req, res, credential, () => identify(api, req));
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
