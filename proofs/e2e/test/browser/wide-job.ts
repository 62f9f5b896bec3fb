import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@pasteflow/dev-stack/testing';

const WIDE_JOB = `export default (kit) => kit.defineJobType({
  name: 'wide',
  summary: 'Made for a test.',
  parameters: kit.z.strictObject({}),
  example: {},
  run: async ({ saveAsset }) => {
    await saveAsset({ name: 'a'.repeat(100), content: '' });
    return { status: 'completed', result: { list: Array(60).fill('x'), text: 'x'.repeat(500) } };
  },
});
`;

/** A file for JOB_TYPES, whose job `wide` writes words that nothing breaks. */
export async function writeWideJob(): Promise<{ file: string; remove: () => Promise<void> }> {
  const { dataDir, remove } = await temporaryFolder();
  const file = join(dataDir, 'own.mjs');
  await writeFile(file, WIDE_JOB, { mode: 0o644 });
  return { file, remove };
}
