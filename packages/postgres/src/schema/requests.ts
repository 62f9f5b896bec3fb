import type { Generated } from 'kysely';

export interface IdempotencyKeysTable {
  /** `user:<uuid>` or `address:<ip>`. */
  caller: string;
  /** SHA-256 of the key. */
  key_hash: Buffer;
  /** SHA-256 of the content of the request. */
  fingerprint: Buffer;
  /** The fencing token of the request that runs. */
  claim_id: string;
  /** A request without an answer is considered dead after this time. */
  claimed_until: Date;
  /** Encrypted; NULL while the request runs. */
  answer: Buffer | null;
  created_at: Generated<Date>;
}

export interface RateLimitsTable {
  key: string;
  /** A bigint, which pg returns as text. */
  points: string;
  /** Unix milliseconds, as text. */
  expire: string | null;
}
