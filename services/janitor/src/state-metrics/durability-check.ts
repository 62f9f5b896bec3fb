import { findUnsafeSettings, type Database, type DurabilitySetting } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';

export interface DurabilityCheckOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly mayLoseDataBy: readonly DurabilitySetting[];
}

/** Checks at each reading that Postgres keeps what it has committed: a reload of its settings can change that while the services run. */
export class DurabilityCheck {
  readonly #options: DurabilityCheckOptions;
  #reported = '';

  constructor(options: DurabilityCheckOptions) {
    this.#options = options;
  }

  /** @returns how many settings are unsafe; a change of them is logged */
  async countUnsafe(): Promise<number> {
    const { db, logger, mayLoseDataBy } = this.#options;
    const unsafe = await findUnsafeSettings(db, mayLoseDataBy);
    const found = unsafe.join(', ');
    if (found !== this.#reported) {
      if (unsafe.length > 0) logger.error('postgres can lose committed pastes', { settings: unsafe });
      else logger.info('postgres keeps committed pastes again');
      this.#reported = found;
    }
    return unsafe.length;
  }
}
