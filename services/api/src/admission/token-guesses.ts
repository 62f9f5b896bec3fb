import type { Request, Response } from 'express';
import { RequestError } from '../http/errors/request-error.ts';
import { clientAddressOf, networkOf } from '../http/request/client-address.ts';
import { KnownCredentials } from '../identity/known-credentials.ts';
import type { Limits } from '../limits/limits.ts';

/**
 * Counts invalid tokens as guesses from their address. Beyond the limit a wrong token is answered 429, and a right
 * one always passes: somebody who guesses must not lock out the users of the same address. Each look-up costs a
 * statement. So an address that has sent as many wrong tokens in this minute as a caller may send requests gets no
 * look-up, except for tokens that this process has recently found valid. Requests and misses without a token are
 * counted separately.
 */
export class TokenGuesses {
  readonly #limits: Pick<Limits, 'count' | 'countMiss' | 'refuseGuesser' | 'refuseWithoutRequests'>;
  readonly #known = new KnownCredentials();

  constructor(limits: Pick<Limits, 'count' | 'countMiss' | 'refuseGuesser' | 'refuseWithoutRequests'>) {
    this.#limits = limits;
  }

  /**
   * For what costs more than a statement.
   * @throws RequestError rate_limited for an address with too many wrong tokens
   */
  refuseGuesser(req: Request, res: Response): void {
    this.#limits.refuseGuesser(res, guesserOf(clientAddressOf(req)));
  }

  /**
   * Runs `identify`, which looks the credential up.
   * @param credential as in the Authorization header; undefined: none
   * @throws RequestError rate_limited, and what `identify` throws
   */
  async counted<Found>(
    req: Request,
    res: Response,
    credential: string | undefined,
    identify: () => Promise<Found>,
  ): Promise<Found> {
    if (credential !== undefined && !this.#known.has(credential)) {
      this.#limits.refuseWithoutRequests(res, guesserOf(clientAddressOf(req)));
    }
    try {
      const found = await identify();
      if (credential !== undefined) this.#known.add(credential);
      return found;
    } catch (error) {
      const guesser = guesserOf(clientAddressOf(req));
      await this.#limits.count(res, guesser, { creates: false, mayMiss: false });
      if (!(error instanceof RequestError) || error.code !== 'unauthorized') throw error;
      if (credential !== undefined) this.#known.delete(credential);
      await this.#limits.countMiss(res, guesser);
      throw error;
    }
  }
}

function guesserOf(address: string): string {
  return `token:${networkOf(address)}`;
}
