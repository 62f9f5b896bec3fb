import type { Request, Response } from 'express';
import { limitKeyOf, type Caller } from '../http/request/caller.ts';
import { clientAddressOf, networkOf } from '../http/request/client-address.ts';
import { contextOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { idempotencyKeyOf } from '../idempotency/idempotency-key.ts';
import { KnownCredentials } from '../identity/known-credentials.ts';
import type { Limits } from '../limits/limits.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { requireUser } from '../identity/caller-of.ts';

export interface AdmissionDependencies {
  /** @throws RequestError unauthorized for invalid credentials */
  readonly identify: (req: Request) => Promise<Caller>;
  readonly limits: Pick<Limits, 'count' | 'countMiss' | 'refuseGuesser'>;
}

/**
 * Runs before every endpoint: identifies the caller, counts the request against the caller's limits, and
 * checks access. Open endpoints skip it.
 */
export type Admit = (req: Request, res: Response, operation: Operation) => Promise<void>;

export function createAdmit({ identify, limits }: AdmissionDependencies): Admit {
  const known = new KnownCredentials();
  return async (req, res, operation) => {
    if (operation.access === 'open') return;
    const caller = await identifyCounted({ identify, limits, known }, req, res);
    contextOf(req).caller = caller;
    await limits.count(res, limitKeyOf(caller), {
      creates: req.method === 'POST',
      mayMiss: mayMiss(operation),
    });
    if (operation.access === 'user') requireUser(req);
    if (req.method === 'POST') idempotencyKeyOf(req); // refuses a malformed key before the body is read
  };
}

/**
 * An invalid token counts as a guess from its address. After too many of them the address's tokens are
 * refused without a look-up for the rest of the minute, because each look-up costs a statement. Tokens that
 * this process has recently found valid are exempt: a forgotten script with a revoked token must not lock out
 * everybody who shares its address. Misses without a token are counted separately.
 */
async function identifyCounted(
  { identify, limits, known }: AdmissionDependencies & { readonly known: KnownCredentials },
  req: Request,
  res: Response,
): Promise<Caller> {
  const address = clientAddressOf(req);
  const guesser = `token:${networkOf(address)}`;
  const { authorization } = req.headers;
  if (authorization !== undefined && !known.has(authorization)) limits.refuseGuesser(res, guesser);
  try {
    const caller = await identify(req);
    if (authorization !== undefined) known.add(authorization);
    return caller;
  } catch (error) {
    await limits.count(res, limitKeyOf({ kind: 'anonymous', address }), { creates: false, mayMiss: false });
    if (!(error instanceof RequestError) || error.code !== 'unauthorized') throw error;
    if (authorization !== undefined) known.delete(authorization);
    await limits.countMiss(res, guesser);
    throw error;
  }
}

/** Whether the answer of an endpoint reveals which short codes exist. */
function mayMiss({ errors }: Operation): boolean {
  return errors.includes('paste_not_found');
}
