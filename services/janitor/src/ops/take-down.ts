import { type Answer, EXIT_FAILED, asJson, failed, succeeded } from '@pasteflow/service-kit';
import { countStanding, takeDown, type Database, type TakedownBy } from '@pasteflow/postgres';
import type { TakedownClass } from '@pasteflow/domain';
import { operator } from './operator.ts';
import { takeDownUser } from './take-down-user.ts';

/** The pastes to take down: one, or all of a user. All of a user are only counted unless `yes` is given. */
export type TakedownWhich =
  | { readonly kind: 'one'; readonly shortCode: string }
  | { readonly kind: 'user'; readonly userId: string; readonly yes: boolean };

export interface TakedownOptions {
  readonly which: TakedownWhich;
  readonly class: TakedownClass;
  readonly reason: string;
  readonly json: boolean;
  /** Called with a line now and then while many pastes are taken down. */
  readonly onProgress: (line: string) => void;
}

/** Takes pastes down (ADR 41). */
export function runTakeDown(db: Database, options: TakedownOptions): Promise<Answer> {
  const by = { actor: operator(), class: options.class, reason: options.reason };
  const { which } = options;
  return which.kind === 'one'
    ? takeDownOne(db, which.shortCode, by, options.json)
    : takeDownAll(db, which, by, options);
}

async function takeDownOne(db: Database, shortCode: string, by: TakedownBy, json: boolean): Promise<Answer> {
  const { takenDown, before } = await takeDown(db, [shortCode], by);
  const [paste] = takenDown;
  if (paste === undefined && before.length === 0)
    return failed(EXIT_FAILED, `ops: there is no paste ${shortCode}\n`);
  if (json)
    return succeeded(
      asJson({
        taken_down: takenDown.length,
        before: before.length,
        content_hash: paste?.contentHash ?? null,
        user_id: paste?.userId ?? null,
      }),
    );
  if (paste === undefined) return succeeded(`${shortCode} was taken down before.\n`);
  const owner = paste.userId === null ? 'It has no owner.' : `Its owner is the user ${paste.userId}.`;
  return succeeded(
    `Took ${shortCode} down. ${owner} The cleanup deletes its content${paste.status === 'IN_PROGRESS' ? ' when its upload has ended' : ''}.\n` +
      `To refuse the same content: npm run ops -- block ${shortCode} --reason TEXT\n`,
  );
}

/** Pastes between two lines of progress. */
const PROGRESS_STEP = 1000;

async function takeDownAll(
  db: Database,
  { userId, yes }: Extract<TakedownWhich, { kind: 'user' }>,
  by: TakedownBy,
  { json, onProgress }: TakedownOptions,
): Promise<Answer> {
  const standing = await countStanding(db, userId);
  if (!yes && standing > 0)
    return {
      ...failed(EXIT_FAILED, `ops: nothing was changed. To take them down, repeat the command with --yes\n`),
      stdout: json
        ? asJson({ standing })
        : `The user ${userId} has ${standing} pastes that can be taken down.\n`,
    };
  let reported = 0;
  const count = await takeDownUser(db, userId, by, {
    onBatch: (done) => {
      if (done - reported < PROGRESS_STEP) return;
      reported = done;
      onProgress(`ops: ${done} of ${standing} pastes taken down`);
    },
  });
  return succeeded(json ? asJson({ taken_down: count }) : `Took ${count} pastes down.\n`);
}
