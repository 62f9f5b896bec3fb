import { hash } from 'node:crypto';
import { networkOf } from '@pasteflow/http-kit';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { ProblemCode } from '../answers/problem-codes.ts';
import { RequestError } from '../answers/request-error.ts';
import { clientAddressOf } from '../request/client-address.ts';
import type { Limits } from '../limits/limits.ts';

/** About 100 bytes each. */
const MAX_KNOWN_CREDENTIALS = 10_000;

const WRONG_CREDENTIALS: ReadonlySet<ProblemCode> = new Set(['unauthorized', 'invitation_not_found']);

/**
 * Counts invalid tokens and links of invitations as guesses from their address. Beyond the limit a wrong token is answered 429, and a
 * right one passes: somebody who guesses must not lock out the users of the same address. An address that has
 * sent as many wrong tokens in this minute as a caller may send requests gets no look-up, except for tokens
 * that this process has recently found valid.
 */
export class TokenGuesses {
  readonly #limits: Limits;
  /** Hashes of credentials that this process has recently found valid. They are looked up again each time. */
  readonly #known = new LRUCache<string, true>({
    maxSize: MAX_KNOWN_CREDENTIALS, // `max` would reserve the room of all of them at once
    sizeCalculation: () => 1,
  });

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * For what costs more than a statement.
   * @throws RequestError rate_limited for an address with too many wrong tokens
   */
  refuseGuesser(req: Request, res: Response): void {
    this.#limits.refuseUsedUp(res, 'misses', guesserOf(req));
  }

  /**
   * Runs `identify`, which looks the credential up.
   * @param credential a scheme and the secret, as in the Authorization header; undefined: none
   * @throws RequestError rate_limited, and what `identify` throws
   */
  async counted<Found>(
    req: Request,
    res: Response,
    credential: string | undefined,
    identify: () => Promise<Found>,
  ): Promise<Found> {
    const guesser = guesserOf(req);
    const hashed = credential === undefined ? undefined : hash('sha256', credential, 'base64');
    if (hashed !== undefined && !this.#known.has(hashed)) this.#limits.refuseUsedUp(res, 'requests', guesser);
    try {
      const found = await identify();
      if (hashed !== undefined) this.#known.set(hashed, true);
      return found;
    } catch (error) {
      await this.#limits.count(res, guesser, { creates: false, mayMiss: false });
      if (!(error instanceof RequestError) || !WRONG_CREDENTIALS.has(error.code)) throw error;
      if (hashed !== undefined) this.#known.delete(hashed);
      await this.#limits.countMiss(res, guesser);
      throw error;
    }
  }
}

function guesserOf(req: Request): string {
  return `token:${networkOf(clientAddressOf(req))}`;
}
