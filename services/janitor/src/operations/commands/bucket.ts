import {
  type CommandResult,
  type BucketContents,
  EXIT_FAILED,
  adoptBucket as adopt,
  asJson,
  countBucket,
  failed,
  formatTable,
  succeeded,
  isMisused,
} from '@pasteflow/service-kit';
import { type Database, findServedObjects } from '@pasteflow/postgres';
import type { ObjectStore, DeletedObject } from '@pasteflow/s3';
import { JOB_OBJECT_KEY_PREFIX, OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { operator } from '../actions/record.ts';
import { type OwnCommand, timeOf } from './command.ts';
import { recordedAnswer } from './recorded-answer.ts';

/**
 * Shows both ids and the objects that the database knows. With `yes`, gives the bucket to this database and
 * records who did so.
 */
export const adoptBucket: OwnCommand<{ readonly yes: boolean }> = {
  name: 'adopt-bucket',
  help: 'shows to which database the bucket belongs; with --yes gives it to this one',
  flags: { yes: ['--yes', 'does what is otherwise only shown'] },
  read: (_args, { yes }) => ({ yes: yes === true }),
  run: async ({ store, db }, given) => {
    const run = () => showOrAdopt(db, store, given);
    return given.yes ? await recordedAnswer(db, 'adopt-bucket', run) : await run();
  },
};

async function showOrAdopt(
  db: Database,
  store: ObjectStore,
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
): Promise<CommandResult> {
  const contents = await countBucket(db, store);
  const isOwner = contents.owner === contents.installationId;
  if (yes && !isOwner) await adopt({ db, store, adoptedBy: operator() }, contents);
  const outcome = isOwner ? 'unchanged' : yes ? 'adopted' : 'not_adopted';
  const shown = json ? asJson({ ...fieldsOf(contents), outcome }) : contentsText(contents);
  switch (outcome) {
    case 'unchanged':
      return succeeded(shown, `ops: the bucket ${contents.bucket} already belongs to this database\n`);
    case 'adopted':
      return succeeded(shown, `ops: the bucket ${contents.bucket} now belongs to this database\n`);
    case 'not_adopted':
      return { ...failed(EXIT_FAILED, adviceText(contents)), stdout: shown };
    default:
      return outcome satisfies never;
  }
}

function fieldsOf({ bucket, installationId, owner, found, known }: BucketContents): object {
  return {
    bucket,
    installation_id: installationId,
    owner_id: owner,
    objects_found: found,
    objects_known: known,
  };
}

function contentsText({ bucket, installationId, owner, found, known }: BucketContents): string {
  return formatTable(
    ['BUCKET', 'BELONGS TO', 'THIS DATABASE', '>OBJECTS', '>KNOWN HERE'],
    [[bucket, owner ?? 'nobody', installationId, String(found), String(known)]],
  );
}

function adviceText({ found, known }: BucketContents): string {
  const loss =
    found === known
      ? ''
      : `The janitor deletes the ${found - known} objects that this database does not know, a day after it first sees them. `;
  return `ops: nothing was changed. ${loss}To give the bucket to this database, repeat the command with --yes\n`;
}

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
