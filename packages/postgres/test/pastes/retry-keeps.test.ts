import { describe, expect, it } from '@jest/globals';
import {
  blockContent,
  createPaste,
  findPaste,
  findRetryable,
  rejectReports,
  reportPaste,
  retryFailed,
  unblockContent,
  upholdReports,
} from '../../src/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';
import { failUpload, makeFailed } from '../support/failed-paste.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'database' });
const by = { actor: 'ops/test', reason: 'S3 is back' };
const takedown = { actor: 'ops/test', class: 'spam', reason: 'reported' } as const;

describe('a FAILED paste that is retried', () => {
  it('keeps its reports, open and judged, and stays held until they are judged', async () => {
    const paste = pasteToCreate();
    const { id } = (await createPaste(current.db, paste))!;
    const report = (of: string, reporter: string) =>
      reportPaste(current.db, of, { class: 'spam', text: reporter, contact: null, reporter }, 2);
    await report(id, 'a');
    expect(await rejectReports(current.db, paste.shortCode, by)).toMatchObject({ reports: 1 });
    await current.db.deleteFrom('cleared_contents').execute();
    for (const reporter of ['b', 'c', 'd']) expect(await report(id, reporter)).toBe('recorded');
    const held = (await findPaste(current.db, paste.shortCode))!.held_at;
    expect(held).not.toBeNull();
    const ofPaste = async (of: string) =>
      await current.db
        .selectFrom('paste_reports')
        .select(['id', 'status', 'class', 'text', 'reporter', 'created_at'])
        .where('paste_id', '=', of)
        .orderBy('id')
        .execute();
    const before = await ofPaste(id);
    expect(before).toHaveLength(4);
    let last = id;
    for (let time = 0; time < 2; time += 1) {
      await failUpload(current.db, paste.shortCode);
      const [retried] = await retryFailed(current.db, [paste.shortCode], by);
      expect(await findPaste(current.db, paste.shortCode)).toMatchObject({
        id: retried!.id,
        held_at: held,
        status: 'IN_PROGRESS',
      });
      expect([await ofPaste(last), await ofPaste(retried!.id)]).toEqual([[], before]);
      last = retried!.id;
    }
    expect(await report(last, 'b')).toBe('recorded'); // and counts once
    expect(await ofPaste(last)).toHaveLength(4);
    expect(await rejectReports(current.db, paste.shortCode, by)).toEqual({ reports: 3, pastes: 1 });
    expect(await findPaste(current.db, paste.shortCode)).toMatchObject({ held_at: null });
  });

  it.each([
    ['uphold', (code: string) => upholdReports(current.db, code, { ...takedown, endTokens: false })],
    ['reject', (code: string) => rejectReports(current.db, code, by)],
  ] as const)('that commits while a judgement waits leaves its reports to it: %s', async (how, judge) => {
    const paste = pasteToCreate();
    const { id } = (await createPaste(current.db, paste))!;
    await reportPaste(current.db, id, { class: 'spam', text: null, contact: null, reporter: 'a' }, 1);
    await failUpload(current.db, paste.shortCode);
    const retry = await current.db.startTransaction().execute();
    await retryFailed(retry, [paste.shortCode], by);
    const judgement = judge(paste.shortCode);
    await untilSomebodyWaits(current.db);
    await retry.commit().execute();
    expect(await judgement).toMatchObject({ reports: 1 });
    const expected =
      how === 'uphold' ? { gone: true, taken_down_for: 'spam' } : { gone: false, held_at: null };
    expect(await findPaste(current.db, paste.shortCode)).toMatchObject(expected);
  });

  it('is neither offered nor done while an operator blocks the content', async () => {
    const { id, shortCode } = await makeFailed(current.db, { content: Buffer.from('malware') });
    const { content_hash: hash } = (await findPaste(current.db, shortCode))!;
    await blockContent(current.db, hash, takedown);
    expect(await retryFailed(current.db, [shortCode], by)).toEqual([]);
    expect(await findRetryable(current.db, { after: null, limit: 1000 })).not.toContainEqual(
      expect.objectContaining({ shortCode }),
    );
    expect(await findPaste(current.db, shortCode)).toMatchObject({ id, status: 'FAILED' });
    await unblockContent(current.db, hash, by);
    expect(await retryFailed(current.db, [shortCode], by)).toHaveLength(1);
  });
});
