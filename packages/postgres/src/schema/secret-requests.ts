import type { SecretRequestState } from '@pasteflow/domain';
import type { Generated } from 'kysely';

export interface SecretRequestsTable {
  id: Generated<string>;
  /** 22 characters of base62: the id in the link. */
  code: string;
  /** Who asks. */
  user_id: string;
  /** NULL: none. */
  message: string | null;
  /** How many deposits the request takes. */
  places: number;
  taken: Generated<number>;
  status: Generated<SecretRequestState>;
  created_at: Generated<Date>;
  expires_at: Date;
  /** Set exactly once the request is USED_UP or CANCELLED. */
  ended_at: Date | null;
}

/** What a deposit is beside its paste. */
export interface DepositsTable {
  request_id: string;
  /** From 1, in the order of the deposits. */
  number: number;
  short_code: string;
  /** The key of the paste, wrapped by HPKE for who asks. */
  wrapped_key: Buffer;
  created_at: Generated<Date>;
}
