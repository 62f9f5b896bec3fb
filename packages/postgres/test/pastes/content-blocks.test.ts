import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ContentBlockedError } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  blockContent,
  findBlocked,
  importPastes,
  listContentBlocks,
  unblockContent,
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
    expect(await blockContent(current.db, hashOf('bad'), by)).toBe(true);
    await expect(newPaste(current.db, 'bad')).rejects.toThrow(ContentBlockedError);
    for (const table of ['pastes', 'paste_payloads', 'task_executions']) expect(await rowsOf(table)).toBe(0);
    await newPaste(current.db, 'good');
    expect(await rowsOf('pastes')).toBe(1);
  });

  it('is refused with the rights of the api', async () => {
    await blockContent(current.db, hashOf('bad'), by);
    const api = open(urlOfRole(current.url, 'pasteflow_api'));
    try {
      await expect(newPaste(api, 'bad')).rejects.toThrow(ContentBlockedError);
      await newPaste(api, 'good');
      await expect(sql`DELETE FROM content_blocks`.execute(api)).rejects.toMatchObject({ code: '42501' });
    } finally {
      await api.destroy();
    }
  });

  it('is blocked once, until the block is lifted; both are kept on record', async () => {
    const twice = await Promise.all([1, 2].map(() => blockContent(current.db, hashOf('bad'), by)));
    expect(twice.filter((blocked) => blocked)).toHaveLength(1);
    const lifted = { actor: 'ops/other', reason: 'a mistake' };
    expect(await unblockContent(current.db, hashOf('bad'), lifted)).toBe(true);
    expect(await unblockContent(current.db, hashOf('bad'), lifted)).toBe(false);
    await newPaste(current.db, 'bad');
    expect(await listContentBlocks(current.db, 10)).toEqual([]);
    expect(await blockContent(current.db, hashOf('bad'), by)).toBe(true);
    expect(await listContentBlocks(current.db, 10)).toMatchObject([{ content_hash: hashOf('bad'), ...by }]);
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
