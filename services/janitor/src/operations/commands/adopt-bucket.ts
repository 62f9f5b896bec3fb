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
} from '@pasteflow/service-kit';
import type { Database } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { operator } from '../actions/record.ts';
import type { OwnCommand } from './command.ts';
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
