import { asJson, formatTable, isMisused, succeeded } from '@pasteflow/service-kit';
import { JOB_OBJECT_KEY_PREFIX, OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { findServedObjects, type Database } from '@pasteflow/postgres';
import type { DeletedObject, ObjectStore } from '@pasteflow/s3';
import { timeOf, type OwnCommand } from './command.ts';
import { recordedAnswer } from './recorded-answer.ts';

const BATCH = 1000;

/**
 * Restores deleted objects that a PROCESSED paste or an asset names, from the versions that the bucket keeps
 * for 7 days.
 */
export const restoreObjects: OwnCommand<{ readonly deletedSince: Date | null }> = {
  name: 'restore-objects',
  help: 'restores wrongly deleted objects from the versions that the bucket keeps',
  flags: {
    'deleted-since': ['--deleted-since <TIME>', 'leaves earlier deletions alone, e.g. 2026-11-22T03:00Z'],
  },
  read: (_args, options) => {
    const deletedSince = timeOf('deleted-since', options);
    return isMisused(deletedSince) ? deletedSince : { deletedSince };
  },
  run: ({ store, db }, { deletedSince, json }) =>
    recordedAnswer(db, 'restore-objects', async () => {
      const counts = await restore(db, store, deletedSince);
      if (json) return succeeded(asJson(counts));
      const row = [counts.deleted, counts.restored, counts.not_served].map(String);
      return succeeded(formatTable(['>DELETED', '>RESTORED', '>NOT SERVED'], [row]));
    }),
};

async function restore(db: Database, store: ObjectStore, deletedSince: Date | null) {
  /** `not_served`: those whose paste or asset is gone too, e.g. of an expired paste. They stay deleted. */
  const counts = { deleted: 0, restored: 0, not_served: 0 };
  const restoreBatch = async (batch: readonly DeletedObject[]): Promise<void> => {
    const served = await findServedObjects(
      db,
      batch.map(({ key }) => key),
    );
    for (const deleted of batch.filter(({ key }) => served.has(key))) {
      await store.restore(deleted);
      counts.restored += 1;
    }
    counts.deleted += batch.length;
    counts.not_served += batch.length - served.size;
  };
  for (const prefix of [OBJECT_KEY_PREFIX, JOB_OBJECT_KEY_PREFIX]) {
    let batch: DeletedObject[] = [];
    for await (const deleted of store.listDeleted(prefix)) {
      if (deletedSince !== null && deleted.deletedAt < deletedSince) continue;
      batch.push(deleted);
      if (batch.length < BATCH) continue;
      await restoreBatch(batch);
      batch = [];
    }
    await restoreBatch(batch);
  }
  return counts;
}
