import type { ErasureState } from '@pasteflow/domain';
import type { Generated } from 'kysely';

/** A user whose data are deleted. It refers to no other table, and has no name. */
export interface ErasuresTable {
  id: Generated<string>;
  user_id: string;
  status: Generated<ErasureState>;
  /** What the user had when the erasure was requested. */
  pastes: number;
  jobs: number;
  created_at: Generated<Date>;
  done_at: Date | null;
}
