import { expect, it } from '@jest/globals';
import { placedFiles } from '@pasteflow/domain';
import { sql } from 'kysely';
import { rejectReports, reportPaste } from '../../src/index.ts';
import { makePastes, type MadePaste } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

/** A stored paste of one content, which is that of two files when the first has a name. */
async function stored(name: string | null): Promise<MadePaste> {
  const content = Buffer.from('content');
  const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED', content });
  const files = placedFiles([
    { name: name ?? '', size: 1, syntax: null },
    { name: 'rest', size: content.length - 1, syntax: null },
  ]);
  if (name !== null)
    await sql`UPDATE pastes SET files = ${JSON.stringify(files)}::jsonb WHERE id = ${paste!.id}`.execute(
      current.db,
    );
  return paste!;
}

it('a judgement that rejects settles nothing of the same content in files of other names', async () => {
  const [files, same, others, plain] = [
    await stored('a'),
    await stored('a'),
    await stored('your-bank'),
    await stored(null),
  ];
  const report = ({ id }: MadePaste, reporter: string) =>
    reportPaste(current.db, id, { class: 'spam', text: null, contact: null, reporter }, null);
  await report(files, 'a');
  const by = { actor: 'ops/test', class: 'malware', reason: 'x' } as const;
  expect(await rejectReports(current.db, files.shortCode, by)).toEqual({ reports: 1, pastes: 1 });
  const outcomes = [];
  for (const paste of [files, same, others, plain]) outcomes.push(await report(paste, 'b'));
  expect(outcomes).toEqual(['cleared', 'cleared', 'recorded', 'recorded']);
});
