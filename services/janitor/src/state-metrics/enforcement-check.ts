import { findEnforcementGaps, findRightsGaps, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';

/**
 * Checks at each reading that the triggers and constraints that enforce the state machines are in place, and
 * that the roles of the services have exactly their rights. The owner of the tables can change all of that, and
 * `pg_restore --disable-triggers` leaves the triggers weaker than they were.
 */
export class EnforcementCheck {
  readonly #options: { readonly db: Database; readonly logger: Logger };
  #reported = '';

  constructor(options: { readonly db: Database; readonly logger: Logger }) {
    this.#options = options;
  }

  /** @returns how many objects are missing, disabled or different; a change of them is logged */
  async countGaps(): Promise<number> {
    const { db, logger } = this.#options;
    const gaps = [...(await findEnforcementGaps(db)), ...(await findRightsGaps(db))];
    const found = gaps.join(', ');
    if (found !== this.#reported) {
      if (gaps.length > 0)
        logger.error('state machines not enforced; run the migration of this version', { gaps });
      else logger.info('state machines enforced again');
      this.#reported = found;
    }
    return gaps.length;
  }
}
