import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { revealPaste, type ClaimedDeletion } from '@pasteflow/postgres';
import { makePastes, makeUsers, type PasteShape } from '@pasteflow/postgres/testing';
import type { Scenario } from './harness/explore.ts';
import type { Operation, World } from './harness/operation.ts';
import type { Lane } from './harness/run-schedule.ts';
import { NEWER, RIVAL, SLUG } from './operations/uploads.ts';

const SHORT_CODE = 'interleaved';

/** A world without a paste and a job. */
export const nothing = {
  lockPoints: {},
  pasteId: randomUUID(),
  newerId: randomUUID(),
  shortCode: SHORT_CODE,
  jobId: randomUUID(),
  userId: '',
  executionId: randomUUID(),
  deletion: null,
  isStranded: false,
  requestCode: '',
  endpointId: randomUUID(),
  deliveryId: randomUUID(),
} satisfies Omit<World, 'objects' | 'takenAtEnd'>;

/** A paste of this shape, whose content is in S3 when it is PROCESSED. */
export function paste(name: string, shape: PasteShape, operations: readonly Operation[]): Scenario {
  return {
    name,
    operations,
    prepare: async ({ db }) => {
      const [made] = await makePastes(db, 1, { ...shape, shortCodes: [SHORT_CODE] });
      const { id, executionId } = made!;
      if (shape.status === 'FAILED')
        await sql`INSERT INTO failed_payloads (paste_id, content) VALUES (${id}, 'hello')`.execute(db);
      const objects = new Set(shape.status === 'PROCESSED' ? [SHORT_CODE] : []);
      const lockPoints = {
        paste: `SELECT FROM pastes WHERE id = '${id}'`,
        execution: `SELECT FROM task_executions WHERE id = '${executionId}'`,
        ...(shape.status === 'IN_PROGRESS' && {
          payload: `SELECT FROM paste_payloads WHERE paste_id = '${id}'`,
        }),
        ...(shape.status === 'FAILED' && {
          payload: `SELECT FROM failed_payloads WHERE paste_id = '${id}'`,
        }),
      };
      return {
        ...nothing,
        objects,
        takenAtEnd: [],
        lockPoints,
        pasteId: id,
        executionId,
        deletion: await deletionOf(db, id),
      };
    },
  };
}

export async function deletionOf(db: Lane['db'], id: string): Promise<ClaimedDeletion | null> {
  const { rows } = await sql<ClaimedDeletion>`
    SELECT id, short_code AS "shortCode", deletion_initiated_at::text AS "claimedAt" FROM pastes
    WHERE id = ${id} AND deletion_status = 'DELETION_IN_PROGRESS'`.execute(db);
  return rows[0] ?? null;
}

/** A paste that a reveal has claimed so many seconds ago. */
export function revealed(name: string, secondsAgo: number, operations: readonly Operation[]): Scenario {
  const scenario = paste(
    name,
    { status: 'PROCESSED', burn: true, createdSecondsAgo: 2 * secondsAgo },
    operations,
  );
  return {
    ...scenario,
    prepare: async (lane) => {
      const world = await scenario.prepare(lane);
      await revealPaste(lane.db, world.pasteId, { readerKeyHash: randomBytes(32), actor: 'api/reader' });
      await sql`UPDATE pastes SET deletion_initiated_at = now() - make_interval(secs => ${secondsAgo}),
        burned_at = now() - make_interval(secs => ${secondsAgo}) WHERE id = ${world.pasteId}`.execute(
        lane.db,
      );
      return { ...world, deletion: await deletionOf(lane.db, world.pasteId) };
    },
  };
}

/** A stored paste with a slug, two that were made from it, and their owner, who may create others. */
export function withSlug(name: string, operations: readonly Operation[]): Scenario {
  return {
    name,
    operations,
    prepare: async (lane) => {
      const [user] = await makeUsers(lane.db, 1);
      const userId = user!.id;
      const shape = { status: 'PROCESSED', slug: SLUG, userId, createdSecondsAgo: 7200 } as const;
      const world = await paste(name, shape, operations).prepare(lane);
      const newer = { status: 'PROCESSED', userId, parent: SHORT_CODE, shortCodes: [NEWER, RIVAL] } as const;
      const ids = (await makePastes(lane.db, 2, newer)).map(({ id }) => id);
      for (const code of newer.shortCodes) world.objects.add(code);
      const lockPoints = { ...world.lockPoints, newer: `SELECT FROM pastes WHERE id = '${ids[0]}'` };
      return { ...world, lockPoints, newerId: ids[0]!, userId };
    },
  };
}

/** The same with a newer version instead of the first of the two, whose upload runs. */
export function withNewerVersion(name: string, operations: readonly Operation[]): Scenario {
  return {
    name,
    operations,
    prepare: async (lane) => {
      const [user] = await makeUsers(lane.db, 1);
      const userId = user!.id;
      const shape = { status: 'PROCESSED', slug: SLUG, userId, createdSecondsAgo: 7200 } as const;
      const world = await paste(name, shape, operations).prepare(lane);
      const [newer] = await makePastes(lane.db, 1, {
        status: 'IN_PROGRESS',
        execution: { status: 'RUNNING', leaseSeconds: 3600 },
        userId,
        supersedes: SHORT_CODE,
        shortCodes: [NEWER],
      });
      const { id: newerId, executionId } = newer!;
      await makePastes(lane.db, 1, { status: 'PROCESSED', userId, parent: SHORT_CODE, shortCodes: [RIVAL] });
      world.objects.add(RIVAL);
      const lockPoints = {
        ...world.lockPoints,
        newer: `SELECT FROM pastes WHERE id = '${newerId}'`,
        execution: `SELECT FROM task_executions WHERE id = '${executionId}'`,
      };
      return { ...world, lockPoints, newerId, executionId, userId };
    },
  };
}
