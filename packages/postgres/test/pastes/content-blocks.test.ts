import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, until } from '@pasteflow/dev-stack/testing';
import { sql, type ControlledTransaction } from 'kysely';
import {
  blockContent,
  createDatabase,
  findBlocked,
  findPaste,
  importPastes,
  listContentBlocks,
  unblockContent,
  type Database,
  type Schema,
} from '../../src/index.ts';
import { newPaste, open, useDatabase } from '../support/database.ts';
import { entriesOf, runningJob } from '../support/jobs.ts';
import { urlOfRole } from '../support/roles.ts';

const current = useDatabase();
const by = { actor: 'ops/test', class: 'malware', reason: 'reported by an antivirus' } as const;
const hashOf = (content: string) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

async function rowsOf(table: string): Promise<number> {
  return (await sql`SELECT FROM ${sql.ref(table)}`.execute(current.db)).rows.length;
}

describe('a blocked content', () => {
  it('becomes no paste, and leaves nothing behind; another content does', async () => {
    expect(await blockContent(current.db, hashOf('bad'), by)).toEqual({ isNew: true, takenDown: [] });
    await expect(newPaste(current.db, 'bad')).rejects.toThrow('content_blocked');
    for (const table of ['pastes', 'paste_payloads', 'task_executions']) expect(await rowsOf(table)).toBe(0);
    await newPaste(current.db, 'good');
    expect(await rowsOf('pastes')).toBe(1);
  });

  it('is refused with the rights of the api', async () => {
    await blockContent(current.db, hashOf('bad'), by);
    const api = open(urlOfRole(current.url, 'pasteflow_api'));
    try {
      await expect(newPaste(api, 'bad')).rejects.toThrow('content_blocked');
      await newPaste(api, 'good');
      await expect(sql`DELETE FROM content_blocks`.execute(api)).rejects.toMatchObject({ code: '42501' });
    } finally {
      await api.destroy();
    }
  });

  it('is blocked once, until the block is lifted; both are kept on record', async () => {
    const twice = await Promise.all([1, 2].map(() => blockContent(current.db, hashOf('bad'), by)));
    expect(twice.filter(({ isNew }) => isNew)).toHaveLength(1);
    const lifted = { actor: 'ops/other', reason: 'a mistake' };
    expect(await unblockContent(current.db, hashOf('bad'), lifted)).toBe(true);
    expect(await unblockContent(current.db, hashOf('bad'), lifted)).toBe(false);
    await newPaste(current.db, 'bad');
    expect(await listContentBlocks(current.db, 10)).toEqual([]);
    expect(await blockContent(current.db, hashOf('bad'), by)).toMatchObject({ isNew: true });
    expect(await listContentBlocks(current.db, 10)).toEqual([
      { content_hash: hashOf('bad'), ...by, blocked_at: expect.any(Date) },
    ]);
    const kept = await current.db.selectFrom('content_blocks').selectAll().orderBy('id').execute();
    expect(kept).toMatchObject([
      { ...by, unblocked_by: 'ops/other', unblock_reason: 'a mistake' },
      { ...by, unblocked_at: null },
    ]);
  });

  it('is left out by an import, which makes pastes of the other entries', async () => {
    const job = await runningJob(current.db);
    const entries = entriesOf(job, [0, 1, 2]);
    const hash = entries[1]!.paste.contentHash;
    await blockContent(current.db, hash, by);
    const worker = open(urlOfRole(current.url, 'pasteflow_worker'));
    try {
      const made = await importPastes(worker, { ...job, entries });
      expect(made.map(({ position }) => position)).toEqual([0, 2]);
      expect(
        await findBlocked(
          worker,
          entries.map(({ paste }) => paste.contentHash),
        ),
      ).toEqual(new Set([hash]));
    } finally {
      await worker.destroy();
    }
  });
});

describe('a block that is made while pastes with the content are created', () => {
  /** A creation whose statement has ended, and whose transaction has not. */
  const creations: readonly [string, (tx: Database) => Promise<void>][] = [
    ['the api', async (tx) => void (await newPaste(tx, 'bad'))],
    [
      'an import',
      async (tx) => {
        const job = await runningJob(current.db);
        const [entry] = entriesOf(job, [0]);
        const content = Buffer.from('bad');
        const paste = { ...entry!.paste, content, contentHash: hashOf('bad') };
        expect(await importPastes(tx, { ...job, entries: [{ ...entry!, paste }] })).toHaveLength(1);
      },
    ],
  ];

  /**
   * Rolled back after a test that fails, because an open transaction would keep the connection, and the run
   * would not end.
   */
  const begun: ControlledTransaction<Schema>[] = [];
  const begin = async () => {
    const transaction = await current.db.startTransaction().execute();
    begun.push(transaction);
    return transaction;
  };
  afterEach(async () => {
    const left = begun.splice(0).filter((each) => !each.isCommitted && !each.isRolledBack);
    await Promise.all(left.map((each) => each.rollback().execute()));
  });

  /** With the rights of the janitor. `polls` counts how often it has looked for creations. */
  const openJanitor = () => {
    const polls = { count: 0 };
    const janitor = createDatabase({
      url: urlOfRole(current.url, 'pasteflow_janitor'),
      applicationName: 'test',
      maxConnections: 2,
      onConnectionError: () => {},
      onStatement: ({ query }) => (polls.count += query.sql.includes('pg_locks') ? 1 : 0),
    });
    return { janitor, polls };
  };

  const isBlocked = async () => (await findBlocked(current.db, [hashOf('bad')])).size === 1;

  const codes = async () =>
    (await current.db.selectFrom('pastes').select('short_code').orderBy('id').execute()).map(
      ({ short_code: code }) => code,
    );

  it.each(creations)(
    'waits for a creation by %s that began before, and takes its paste down',
    async (_who, create) => {
      const older = await newPaste(current.db, 'bad');
      const creation = await begin();
      await create(creation);
      const { janitor, polls } = openJanitor();
      try {
        let hasEnded = false;
        const block = blockContent(janitor, hashOf('bad'), by).finally(() => (hasEnded = true));
        await until(() => Promise.resolve(polls.count > 2));
        expect([hasEnded, await isBlocked()]).toEqual([false, true]);
        await creation.commit().execute();
        const raced = (await codes()).find((code) => code !== older.shortCode);
        expect(await block).toEqual({ isNew: true, takenDown: [raced] });
        expect(await findPaste(current.db, raced!)).toMatchObject({
          gone: true,
          taken_down_for: 'malware',
        });
        expect(await findPaste(current.db, older.shortCode)).toMatchObject({ taken_down_for: null });
        await expect(newPaste(current.db, 'bad')).rejects.toThrow('content_blocked');
      } finally {
        await janitor.destroy();
      }
    },
  );

  it('takes nothing down when the creation fails', async () => {
    const creation = await begin();
    await newPaste(creation, 'bad');
    const block = blockContent(current.db, hashOf('bad'), by);
    await until(isBlocked);
    await creation.rollback().execute();
    expect(await block).toEqual({ isNew: true, takenDown: [] });
  });

  it('waits for no creation that began after it, and for no reader of the tables', async () => {
    const reader = await begin();
    await sql`SELECT FROM pastes, content_blocks`.execute(reader);
    await blockContent(current.db, hashOf('other'), by);
    const creation = await begin();
    await newPaste(creation, 'good');
    const { janitor, polls } = openJanitor();
    try {
      const block = blockContent(janitor, hashOf('bad'), by);
      // A creation that begins between the commit of the block and its first look may be waited for.
      await until(() => Promise.resolve(polls.count > 0));
      const later = await begin();
      await newPaste(later, 'better');
      await creation.commit().execute();
      expect(await block).toEqual({ isNew: true, takenDown: [] });
      await Promise.all([reader.rollback().execute(), later.rollback().execute()]);
    } finally {
      await janitor.destroy();
    }
  });

  it('waits for no creation in another database of the server, whose tables have the same numbers', async () => {
    const other = await createTestDatabase(current.stack);
    const db = open(other.url);
    const creation = await db.startTransaction().execute();
    try {
      await newPaste(creation, 'bad');
      const block = blockContent(current.db, hashOf('bad'), by, { withinSeconds: 0.2 });
      expect(await block).toEqual({ isNew: true, takenDown: [] });
    } finally {
      await creation.rollback().execute();
      await db.destroy();
    }
  });

  it('fails when a creation does not end in time, and is in force', async () => {
    const creation = await begin();
    await newPaste(creation, 'bad');
    await expect(blockContent(current.db, hashOf('bad'), by, { withinSeconds: 0.2 })).rejects.toThrow(
      'The content is blocked, but creations that began before do not end',
    );
    expect(await isBlocked()).toBe(true);
    await creation.rollback().execute();
  });

  it.each(['before', 'after'] as const)(
    'does the rest when it is repeated %s the creation has ended, and takes no older paste down',
    async (when) => {
      const older = await newPaste(current.db, 'bad');
      const creation = await begin();
      const raced = await newPaste(creation, 'bad');
      const { janitor, polls } = openJanitor();
      try {
        // As if the process was killed: the block has committed, and looks no more.
        await expect(blockContent(janitor, hashOf('bad'), by, { withinSeconds: 0 })).rejects.toThrow();
        const looked = polls.count;
        if (when === 'after') await creation.commit().execute();
        const repeated = blockContent(janitor, hashOf('bad'), { ...by, class: 'spam' });
        if (when === 'before') {
          await until(() => Promise.resolve(polls.count > looked + 2));
          await creation.commit().execute();
        }
        expect(await repeated).toEqual({ isNew: false, takenDown: [raced.shortCode] });
        expect(await findPaste(current.db, raced.shortCode)).toMatchObject({ taken_down_for: 'spam' });
        expect(await findPaste(current.db, older.shortCode)).toMatchObject({ taken_down_for: null });
        expect(await blockContent(janitor, hashOf('bad'), by)).toEqual({ isNew: false, takenDown: [] });
        expect(await listContentBlocks(current.db, 10)).toMatchObject([by]);
      } finally {
        await janitor.destroy();
      }
    },
  );
});
