import { randomBytes } from 'node:crypto';
import { beforeAll, expect, it, jest } from '@jest/globals';
import { PROBE_KEY } from '@pasteflow/domain';
import { createPaste, findRefusedUploads } from '@pasteflow/postgres';
import { createQueue, sendUploads } from '@pasteflow/sqs';
import { until, useBench } from '../support/bench.ts';
import { newPaste } from '../support/database.ts';

const bench = useBench();
const PASTES = 12;

jest.setTimeout(180_000);

beforeAll(async () => {
  const env = { UPLOAD_WORKER_QUEUES: 'uploads', UPLOAD_RETRY_DELAYS_MS: '100,100,100,100,100' };
  await bench.startForAll(new Map(), { env });
});

const newCodes = (count: number) => Array.from({ length: count }, () => randomBytes(5).toString('hex'));

/** Creates pastes with their messages, as the api does. */
async function submit(codes: readonly string[]): Promise<void> {
  const queue = createQueue(bench.sqs, 'pasteflow-uploads');
  for (const shortCode of codes) {
    const content = Buffer.from(shortCode);
    const { executionId } = (await createPaste(bench.db, newPaste(shortCode, content)))!;
    await sendUploads(bench.sqs, queue, [{ executionId, shortCode, content, context: {} }]);
  }
}

const refuse = (path: RegExp, code: string) =>
  bench.proxy.rule(
    { method: 'PUT', path },
    { kind: 'answer', status: 403, body: `<Error><Code>${code}</Code><Message>no</Message></Error>` },
  );

const statuses = async (codes: readonly string[]) => {
  const rows = await bench.db
    .selectFrom('pastes')
    .select('status')
    .where('short_code', 'in', codes)
    .execute();
  return rows.map(({ status }) => status).toSorted();
};
const attempts = async () =>
  (await bench.db.selectFrom('task_executions').select('attempt').execute()).map(({ attempt }) => attempt);
const probes = () => bench.proxy.matching({ method: 'PUT', path: new RegExp(PROBE_KEY) }).length;

it.each(['AccessDenied', 'InvalidAccessKeyId'])(
  'uploads wait without spending an attempt while S3 refuses the service (%s), and are stored afterwards',
  async (code) => {
    refuse(/./, code);
    const codes = newCodes(PASTES);
    await submit(codes);
    const refused = await until(
      () => findRefusedUploads(bench.db),
      (found) => found.length > 0,
    );
    expect(refused).toEqual([{ answer: `S3 answered 403 ${code}`, count: expect.any(Number) }]);
    await until(
      () => Promise.resolve(probes()),
      (many) => many >= 8, // more than the attempts of a paste
    );
    expect(new Set(await statuses(codes))).toEqual(new Set(['IN_PROGRESS']));
    bench.proxy.clear();
    await until(
      () => statuses(codes),
      (all) => all.every((status) => status === 'PROCESSED'),
    );
    expect(new Set(await attempts())).toEqual(new Set([1]));
    expect(await findRefusedUploads(bench.db)).toEqual([]);
  },
);

it('spends attempts on the refusal of one paste, and stores the others', async () => {
  const codes = newCodes(3);
  refuse(new RegExp(codes[1] as string), 'AccessDenied');
  await submit(codes);
  const ended = await until(
    () => statuses(codes),
    (all) => !all.includes('IN_PROGRESS'),
  );
  expect(ended).toEqual(['FAILED', 'PROCESSED', 'PROCESSED']);
});
