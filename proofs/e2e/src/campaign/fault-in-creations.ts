import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import type { CampaignLoad } from './load.ts';

/** Each of two apis then has a group of them. */
const CREATIONS = 10;
const SLEEPING = `pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;

/**
 * Cuts the connections of creations that have inserted their pastes, and are about to store their answers. Their
 * clients repeat the requests with the same keys: of each key there must be one paste.
 */
export function cutBeforeAnswers(load: CampaignLoad): Fault {
  return async (cluster) => {
    const { rows } = cluster;
    await rows.query(
      `CREATE OR REPLACE FUNCTION campaign_answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$`,
    );
    await rows.query(
      `CREATE TRIGGER campaign_answer BEFORE UPDATE OF answer ON idempotency_keys FOR EACH ROW
       WHEN (OLD.answer IS NULL AND NEW.answer IS NOT NULL) EXECUTE FUNCTION campaign_answer()`,
    );
    load.createBeside(CREATIONS);
    await cluster.until(
      () => rows.query(`SELECT FROM ${SLEEPING}`),
      ({ length }) => length > 0,
    );
    let isOver = false;
    const over = rows
      .query('DROP TRIGGER campaign_answer ON idempotency_keys') // waits for those that sleep
      .finally(() => (isOver = true));
    while (!isOver) {
      await rows.query(`SELECT pg_terminate_backend(pid) FROM ${SLEEPING}`);
      await sleep(50);
    }
    await over;
  };
}
