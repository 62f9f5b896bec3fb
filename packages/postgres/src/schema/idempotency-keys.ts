import type { Generated } from 'kysely';

export interface IdempotencyKeysTable {
  /** `user:<uuid>` or `address:<ip>`. */
  caller: string;
  /** SHA-256 of the key. */
  key_hash: Buffer;
  /** SHA-256 of what the request said. */
  fingerprint: Buffer;
  /** Who runs the request. */
  claim_id: string;
  /** After this, a request without an answer counts as dead. */
  claimed_until: Date;
  /** Sealed; NULL while the request runs. */
  answer: Buffer | null;
  created_at: Generated<Date>;
}
