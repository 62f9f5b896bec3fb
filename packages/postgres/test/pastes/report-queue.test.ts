import { describe, expect, it } from '@jest/globals';
import {
  listReported,
  rejectReports,
  reportPaste,
  type ReportedFilter,
  type ReportedPaste,
} from '../../src/index.ts';
import { makePastes, type MadePaste } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();
const by = { actor: 'ops/test', reason: 'the words of the operator' };

async function stored(content: string): Promise<MadePaste> {
  const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED', content: Buffer.from(content) });
  return paste!;
}

const report = (paste: MadePaste, reporter: string) =>
  reportPaste(current.db, paste.id, { class: 'spam', text: null, contact: null, reporter }, null);

describe('the queue', () => {
  it('is read in full by pages, also while reports are judged, by class and by network', async () => {
    const pastes: MadePaste[] = [];
    for (let n = 0; n < 13; n += 1) pastes.push(await stored(`queue ${n}`));
    for (const paste of pastes.slice(0, 12)) await report(paste, 'flood');
    for (const reporter of ['a', 'b']) await report(pastes[7]!, reporter);
    const wanted = { class: 'phishing', text: 'true', contact: null, reporter: 'witness' } as const;
    await reportPaste(current.db, pastes[12]!.id, wanted, null);
    for (const by of ['age', 'reporters'] as const) {
      const found: string[] = [];
      for (let after: string | null | undefined; after !== null;) {
        const page = await listReported(current.db, { by, limit: 5, ...(after !== undefined && { after }) });
        expect(page.total).toBe(13);
        found.push(...page.pastes.map(({ shortCode }) => shortCode));
        after = page.next;
      }
      expect(new Set(found)).toEqual(new Set(pastes.map(({ shortCode }) => shortCode)));
      expect([found.length, found.indexOf(pastes[7]!.shortCode)]).toEqual([13, by === 'age' ? 7 : 0]);
    }
    const list = (filter: ReportedFilter, after: string | null = null) =>
      listReported(current.db, { by: 'age', limit: 5, after, ...filter });
    const phishing = await list({ class: 'phishing' });
    expect([phishing.total, phishing.pastes[0]!.shortCode]).toEqual([1, pastes[12]!.shortCode]);
    const first = await list({});
    const [{ network }] = first.pastes as [ReportedPaste];
    expect(network).toMatch(/^[0-9a-f]{8}$/);
    expect((await list({ network })).total).toBe(12);
    expect((await list({ network, isOnlyReporter: true })).total).toBe(11);
    for (const { shortCode } of first.pastes) await rejectReports(current.db, shortCode, by);
    expect((await list({}, first.next)).pastes[0]).toMatchObject({ shortCode: pastes[5]!.shortCode });
  });
});
