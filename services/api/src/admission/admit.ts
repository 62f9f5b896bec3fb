import type { Request, Response } from 'express';
import { limitedAs, type Caller } from '../http/request/caller.ts';
import { clientAddressOf, networkOf } from '../http/request/client-address.ts';
import { contextOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { idempotencyKeyOf } from '../idempotency/idempotency-key.ts';
import { GoodCredentials } from '../identity/good-credentials.ts';
import type { Limits } from '../limits/limits.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { requireUser } from '../identity/caller-of.ts';

export interface AdmissionDependencies {
  /** @throws RequestError unauthorized for credentials that are not good */
  readonly identify: (req: Request) => Promise<Caller>;
  readonly limits: Pick<Limits, 'count' | 'countMiss' | 'refuseGuesser'>;
}

/** Runs before every endpoint: who is it, how often have they come, and may they? An open endpoint asks nothing. */
export type Admit = (req: Request, res: Response, operation: Operation) => Promise<void>;

export function createAdmit({ identify, limits }: AdmissionDependencies): Admit {
  const good = new GoodCredentials();
  return async (req, res, operation) => {
    if (operation.access === 'open') return;
    const caller = await identifyCounted({ identify, limits, good }, req, res);
    contextOf(req).caller = caller;
    await limits.count(res, limitedAs(caller), {
      creates: req.method === 'POST',
      mayMiss: mayMiss(operation),
    });
    if (operation.access === 'user') requireUser(req);
    if (req.method === 'POST') idempotencyKeyOf(req); // malformed: refused before the body is read
  };
}

/**
 * A bad token is a guess, and who guesses is the address that it came from. Too many of them, and the address's tokens are looked at no
 * more for the rest of the minute, or each would cost a look-up without an end; but those that this process has lately found good are: one
 * forgotten script with a revoked token must not shut out all who share its address. Misses without a token are counted apart.
 */
async function identifyCounted(
  { identify, limits, good }: AdmissionDependencies & { readonly good: GoodCredentials },
  req: Request,
  res: Response,
): Promise<Caller> {
  const address = clientAddressOf(req);
  const guesser = `token:${networkOf(address)}`;
  const { authorization } = req.headers;
  if (authorization !== undefined && !good.has(authorization)) limits.refuseGuesser(res, guesser);
  try {
    const caller = await identify(req);
    if (authorization !== undefined) good.add(authorization);
    return caller;
  } catch (error) {
    await limits.count(res, limitedAs({ kind: 'anonymous', address }), { creates: false, mayMiss: false });
    if (!(error instanceof RequestError) || error.code !== 'unauthorized') throw error;
    if (authorization !== undefined) good.delete(authorization);
    await limits.countMiss(res, guesser);
    throw error;
  }
}

/** Whether an endpoint tells codes that there are from codes that there aren't. */
function mayMiss({ errors }: Operation): boolean {
  return errors.includes('paste_not_found');
}
