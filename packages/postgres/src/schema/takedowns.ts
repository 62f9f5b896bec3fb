import type { Generated } from 'kysely';
import type { TakedownClass } from '@pasteflow/domain';

/** Which paste an operator took down, who, and why. The row outlives the paste. */
export interface TakedownsTable {
  paste_id: string;
  short_code: string;
  content_hash: string;
  class: TakedownClass;
  /** In the words of the operator, for operators. */
  reason: string;
  actor: string;
  taken_down_at: Generated<Date>;
}
