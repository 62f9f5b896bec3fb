import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { callerOf } from '../callers/caller-of.ts';
import { callerKeyOf } from '../callers/caller.ts';
import { contextOf } from '../request/request-context.ts';

/** Minutes later a browser does not come back of itself. */
const KEPT_MS = 60_000;

/** About 200 bytes each. */
const MAX_KEPT = 10_000;

/**
 * The misses that arrivals have cost. The browser comes again at once: then its miss counts for whom it has been found
 * to be, and no longer for its address. Another copy of the api counts both.
 */
export class ArrivalMisses {
  readonly #giveBack = new LRUCache<string, () => void>({ max: MAX_KEPT, ttl: KEPT_MS });

  /** @param giveBack takes the miss back */
  keep(req: Request, giveBack: () => void): void {
    this.#giveBack.set(keyOf(req), giveBack);
  }

  /** For a request that has looked a paste or a request for secrets up, and has found it or costs a miss of its own. */
  giveBack(req: Request): void {
    if (this.#giveBack.size === 0 || nameIn(req) === undefined) return;
    const key = keyOf(req);
    this.#giveBack.get(key)?.();
    this.#giveBack.delete(key);
  }
}

/** What the URL names, and from which network. */
function keyOf(req: Request): string {
  return `${callerKeyOf({ kind: 'anonymous', address: callerOf(req).address })} ${nameIn(req)}`;
}

/** What was looked up: a paste, or a request for secrets. */
function nameIn(req: Request): string | undefined {
  const { shortCode, slug, secretRequest } = contextOf(req);
  return slug === undefined ? (shortCode ?? secretRequest) : `~${slug}`;
}
