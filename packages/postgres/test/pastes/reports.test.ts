import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { MAX_OPEN_REPORTS } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExpired,
  createApiToken,
  findPaste,
  findReports,
  listReported,
  rejectReports,
  removeJudgedReports,
  reportPaste,
  requestDeletion,
  settleDeleted,
  takeDown,
  upholdReports,
} from '../../src/index.ts';
import { makePastes, makeUsers, type MadePaste } from '../../src/testing/index.ts';
import { untilSomebodyWaits } from '../support/locks.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();
const by = { actor: 'ops/test', class: 'malware', reason: 'the words of the operator' } as const;

async function stored(content = 'content', userId?: string): Promise<MadePaste> {
  const [paste] = await makePastes(current.db, 1, {
    status: 'PROCESSED',
    content: Buffer.from(content),
    ...(userId !== undefined && { userId }),
  });
  return paste!;
}

const report = (paste: MadePaste, reporter: string, holdAfter: number | null = null) =>
  reportPaste(
    current.db,
    paste.id,
    { class: 'spam', text: `by ${reporter}`, contact: null, reporter },
    holdAfter,
  );
const uphold = (paste: MadePaste) => upholdReports(current.db, paste.shortCode, { ...by, endTokens: false });
const reject = (paste: MadePaste) => rejectReports(current.db, paste.shortCode, by);
const isHeld = async (paste: MadePaste) => (await findPaste(current.db, paste.shortCode))!.held_at !== null;

async function states(): Promise<readonly string[]> {
  const rows = await current.db.selectFrom('paste_reports').select('status').orderBy('created_at').execute();
  return rows.map(({ status }) => status);
}

describe('a report', () => {
  it('counts once for each reporter, and stores neither the address nor its plain hash', async () => {
    const paste = await stored();
    for (const reporter of ['192.0.2.1', '192.0.2.1', '192.0.2.2'])
      expect(await report(paste, reporter)).toBe('recorded');
    expect((await listReported(current.db, { by: 'age', limit: 10 })).pastes).toMatchObject([
      { shortCode: paste.shortCode, reporters: 2, classes: ['spam'], text: 'by 192.0.2.1', heldAt: null },
    ]);
    expect((await findReports(current.db, paste.id)).map(({ text }) => text)).toEqual([
      'by 192.0.2.1',
      'by 192.0.2.2',
    ]);
    const rows = await current.db.selectFrom('paste_reports').select('reporter').execute();
    const plain = createHash('sha256').update('192.0.2.1').digest('hex');
    expect(rows.map(({ reporter }) => reporter!.toString('hex'))).not.toContain(plain);
  });

  it('holds the paste at the number of reporters, also when all of them come at once, and by default never', async () => {
    const [few, many, never] = [await stored('a'), await stored('b'), await stored('c')];
    const reporters = Array.from({ length: 8 }, (_, n) => `192.0.2.${n}`);
    await Promise.all(reporters.slice(1).map((each) => report(few, each, 8)));
    await Promise.all(reporters.map((each) => report(many, each, 8)));
    await Promise.all(reporters.map((each) => report(never, each)));
    expect([await isHeld(few), await isHeld(many), await isHeld(never)]).toEqual([false, true, false]);
  });

  it('beyond MAX_OPEN_REPORTS of a paste leaves no row, and a copy of the paste has its own', async () => {
    const [paste, copy] = [await stored(), await stored()];
    const late = Array.from({ length: MAX_OPEN_REPORTS + 5 }, (_, n) => report(paste, `192.0.2.${n}`));
    expect(new Set(await Promise.all(late))).toEqual(new Set(['recorded']));
    expect(await findReports(current.db, paste.id)).toHaveLength(MAX_OPEN_REPORTS);
    await report(copy, '192.0.2.1');
    expect(await findReports(current.db, copy.id)).toHaveLength(1);
  });

  it.each(['deleted', 'expired', 'taken down', 'failed'])(
    'of a paste that is %s leaves no row',
    async (how) => {
      const paste = await stored();
      if (how === 'deleted') await requestDeletion(current.db, paste.id);
      if (how === 'taken down') await takeDown(current.db, [paste.shortCode], by);
      if (how === 'expired')
        await sql`UPDATE pastes SET expires_at = now() - interval '1 minute'`.execute(current.db);
      const [failed] = await makePastes(current.db, 1, { status: 'FAILED' });
      expect(await report(how === 'failed' ? failed! : paste, 'a')).toBe('gone');
      expect(await states()).toEqual([]);
    },
  );

  it('is removed with the content of a paste that was deleted at the same time, or was refused', async () => {
    for (let round = 0; round < 20; round += 1) {
      const paste = await stored();
      const reports = ['a', 'b', 'c'].map((reporter) => report(paste, reporter, 1));
      await Promise.all([...reports, requestDeletion(current.db, paste.id)]);
      const claims = await claimExpired(current.db, { actor: 'janitor/a', limit: 10 });
      expect(await settleDeleted(current.db, claims, 'janitor/a')).toBe(1);
      expect(await states()).toEqual([]);
    }
  });

  it('makes a deletion wait for its commit, which then removes it', async () => {
    const paste = await stored();
    const deletion = await current.db.transaction().execute(async (tx) => {
      await reportPaste(tx, paste.id, { class: 'spam', text: null, contact: null, reporter: 'a' }, null);
      const waiting = requestDeletion(current.db, paste.id);
      await untilSomebodyWaits(current.db);
      return { waiting };
    });
    expect(await deletion.waiting).toBe(true);
  });

  it('that was judged is removed after its retention, and an open one is not', async () => {
    const [judged, open] = [await stored('a'), await stored('b')];
    await report(judged, 'a');
    await report(open, 'a');
    await reject(judged);
    const remove = (retentionSeconds: number) =>
      removeJudgedReports(current.db, { retentionSeconds, limit: 10 });
    expect(await remove(60)).toBe(0);
    await sql`UPDATE paste_reports SET judged_at = judged_at - interval '2 minutes'`.execute(current.db);
    expect([await remove(60), await remove(60), await states()]).toEqual([1, 0, ['open']]);
  });
});

describe('a judgement', () => {
  it('that upholds takes the paste down, says who and why, and forgets the reporters; the second one learns that', async () => {
    const [user] = await makeUsers(current.db, 1);
    const { userId } = await createApiToken(current.db, {
      userName: 'somebody',
      name: 't',
      tokenHash: createHash('sha256').update('t').digest(),
      expiresInSeconds: null,
    });
    const paste = await stored('content', userId);
    const others = await stored('others', user!.id);
    await report(paste, 'a');
    await report(paste, 'b');
    await report(others, 'a');
    const upheld = await upholdReports(current.db, paste.shortCode, { ...by, endTokens: true });
    expect(upheld).toMatchObject({ reports: 2, userId, tokens: 1 });
    expect(await findPaste(current.db, paste.shortCode)).toMatchObject({
      taken_down_for: 'malware',
      gone: true,
    });
    expect(await states()).toEqual(['upheld', 'upheld', 'open']);
    const trail = await current.db
      .selectFrom('state_transitions')
      .select(['from', 'to', 'actor', 'reason'])
      .where('machine', '=', 'paste_report')
      .execute();
    expect(trail).toEqual(
      Array.from({ length: 2 }, () => ({ from: 'open', to: 'upheld', actor: by.actor, reason: by.reason })),
    );
    expect([await uphold(paste), await reject(paste)]).toEqual([null, null]);
  });

  it('that rejects releases all pastes of the content, and settles later reports of the content until a takedown', async () => {
    const [paste, copy, other] = [await stored(), await stored(), await stored('other')];
    for (const each of [paste, copy, other]) await report(each, 'a', 1);
    expect(await reject(paste)).toEqual({ reports: 2, pastes: 2 });
    expect([await isHeld(paste), await isHeld(copy), await isHeld(other)]).toEqual([false, false, true]);
    expect(await states()).toEqual(['rejected', 'rejected', 'open']);
    const later = await stored();
    expect([await report(paste, 'b', 1), await report(later, 'b', 1)]).toEqual(['cleared', 'cleared']);
    expect([await isHeld(later), (await states()).length]).toEqual([false, 3]);
    await takeDown(current.db, [copy.shortCode], by);
    expect(await report(later, 'b', 1)).toBe('recorded');
  });

  it('that rejects settles nothing of the same content under another title or slug', async () => {
    const [user] = await makeUsers(current.db, 1);
    const [plain, titled, same, named] = [
      await stored(),
      await stored(),
      await stored(),
      await stored('content', user!.id),
    ];
    await sql`UPDATE pastes SET title = 'Your bank' WHERE id IN (${titled.id}, ${same.id})`.execute(
      current.db,
    );
    await sql`UPDATE pastes SET slug = 'your-bank' WHERE id = ${named.id}`.execute(current.db);
    await report(titled, 'a', 1);
    await report(plain, 'a');
    expect(await reject(plain)).toEqual({ reports: 1, pastes: 1 });
    expect(await isHeld(titled)).toBe(true);
    expect([await report(plain, 'b'), await report(same, 'b'), await report(named, 'b')]).toEqual([
      'cleared',
      'recorded',
      'recorded',
    ]);
    expect(await reject(titled)).toEqual({ reports: 2, pastes: 2 });
    expect([await report(titled, 'c'), await report(same, 'c'), await report(named, 'c')]).toEqual([
      'cleared',
      'cleared',
      'recorded',
    ]);
    const rows = await current.db.selectFrom('cleared_contents').select('shown_as').execute();
    expect(rows.map(({ shown_as: shown }) => shown)).toEqual(['', expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('that rejects, after a takedown of the paste, clears nothing', async () => {
    const paste = await stored();
    await report(paste, 'a');
    await takeDown(current.db, [paste.shortCode], by);
    expect(await reject(paste)).toBeNull();
    expect(await report(await stored(), 'b')).toBe('recorded');
  });

  it('of two operators counts once, whatever both decide', async () => {
    for (const [first, second] of [
      [uphold, uphold],
      [uphold, reject],
      [reject, reject],
    ] as const)
      for (let round = 0; round < 10; round += 1) {
        const paste = await stored(`${first.name} ${second.name} ${round}`);
        await report(paste, 'a');
        const judged = await Promise.all([first(paste), second(paste)]);
        expect(judged.filter((each) => each !== null)).toHaveLength(1);
      }
  });

  it('that rejects leaves no report of the content open, also of another paste at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      const [paste, copy] = [await stored(`${round}`), await stored(`${round}`)];
      await report(paste, 'a', 1);
      const outcomes = await Promise.all([reject(paste), report(copy, 'b', 1), report(paste, 'c', 1)]);
      expect(outcomes[0]).not.toBeNull();
      expect([await isHeld(paste), await isHeld(copy)]).toEqual([false, false]);
    }
    expect(await listReported(current.db, { by: 'reporters', limit: 10 })).toEqual({
      pastes: [],
      total: 0,
      next: null,
    });
  });

  it('that has waited for a deletion, which removes the reports, changes nothing', async () => {
    for (const judge of [uphold, reject]) {
      const paste = await stored(judge.name);
      await report(paste, 'a');
      await requestDeletion(current.db, paste.id);
      const claims = await claimExpired(current.db, { actor: 'janitor/a', limit: 10 });
      const { waiting } = await current.db.transaction().execute(async (tx) => {
        await settleDeleted(tx, claims, 'janitor/a');
        const judgement = judge(paste);
        await untilSomebodyWaits(current.db);
        return { waiting: judgement };
      });
      expect(await waiting).toBeNull();
    }
    expect(await current.db.selectFrom('cleared_contents').selectAll().execute()).toEqual([]);
  });

  it('does not deadlock with a deletion that removes the reports', async () => {
    for (let round = 0; round < 20; round += 1) {
      const paste = await stored(`${round}`);
      await report(paste, 'a');
      await requestDeletion(current.db, paste.id);
      const claims = await claimExpired(current.db, { actor: 'janitor/a', limit: 10 });
      const judge = round % 2 === 0 ? uphold : reject;
      const [judged, settled] = await Promise.all([
        judge(paste),
        settleDeleted(current.db, claims, 'janitor/a'),
      ]);
      expect(settled).toBe(1);
      const left = await current.db
        .selectFrom('paste_reports')
        .select('id')
        .where('paste_id', '=', paste.id)
        .execute();
      expect(left).toHaveLength(judged === null ? 0 : 1);
    }
  });
});
