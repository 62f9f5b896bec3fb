import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from '@jest/globals';
import { claimExecutions, settleExecutions, uploadSubject } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { useApi } from './support/api.ts';
import { until, waiting } from './support/until.ts';

const bed = useApi({ env: { MAX_WAITERS: '50000' } });
const CLIENTS = 1000;
const agent = new Agent({ keepAlive: false });
afterEach(() => agent.destroy());

async function open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    get(bed.api.url + path, { agent, headers }, resolve).once('error', reject);
  });
}

/** Creates pastes whose uploads run; `settle` ends them, a hundred at a time. */
async function running(count: number) {
  const pastes = await makePastes(bed.db, count, { status: 'IN_PROGRESS' });
  const shortCodes = pastes.map(({ shortCode }) => shortCode);
  await claimExecutions(bed.db, uploadSubject, { keys: shortCodes, actor: 'w', leaseSeconds: 600 });
  const settle = async (): Promise<void> => {
    for (let n = 0; n < count; n += 100) {
      const settlements = pastes.slice(n, n + 100).map(({ executionId }) => ({
        executionId,
        outcome: { kind: 'succeeded' as const, s3Url: 's3://pasteflow/x' },
        nextStep: { kind: 'done' as const },
      }));
      await settleExecutions(bed.db, uploadSubject, settlements, { actor: 'w', dispatched: true });
    }
  };
  return { shortCodes, settle };
}

/** Counts the statements that read changes, and the time. */
function countReads() {
  const isRead = (statement: string): boolean => statement.includes('unnest(');
  const before = bed.api.statements.length;
  const startedAt = performance.now();
  const reads = () => bed.api.statements.slice(before).filter(isRead).length;
  return {
    reads,
    /** Expects a pause after each read; the last one may still run. */
    expectPauses: (pauseMs: number) => {
      const elapsedMs = performance.now() - startedAt;
      process.stderr.write(`${CLIENTS} clients: ${reads()} reads in ${Math.round(elapsedMs)} ms\n`);
      expect(reads()).toBeLessThanOrEqual(elapsedMs / pauseMs + 2);
    },
  };
}

it('a thousand clients that wait for pastes of their own cost at most 20 reads a second', async () => {
  const { shortCodes, settle } = await running(CLIENTS);
  const { expectPauses } = countReads();
  const answers = shortCodes.map((code) => open(`/v1/pastes/${code}`, { prefer: 'wait=60' }));
  await waiting(bed.api, CLIENTS);
  const whileAllWait = countReads();
  await until(() => whileAllWait.reads() >= 5);
  whileAllWait.expectPauses(50);
  await settle();
  const statuses = await Promise.all(
    answers.map(async (answer) => (JSON.parse(await text(await answer)) as { status: string }).status),
  );
  expect(statuses).toEqual(Array<string>(CLIENTS).fill('PROCESSED'));
  expectPauses(20);
});

it('a thousand clients whose wait ends by time cost far fewer reads', async () => {
  const { shortCodes } = await running(CLIENTS);
  const { reads, expectPauses } = countReads();
  const answers = shortCodes.map((code) => open(`/v1/pastes/${code}`, { prefer: 'wait=2' }));
  for (const answer of answers) expect(await text(await answer)).toContain('"IN_PROGRESS"');
  expectPauses(20);
  expect(reads()).toBeLessThan(CLIENTS / 2);
});

it('a thousand clients that wait for one paste learn of its end by one read', async () => {
  const { shortCodes, settle } = await running(1);
  const { expectPauses } = countReads();
  const answers = Array.from({ length: CLIENTS }, () =>
    open(`/v1/pastes/${shortCodes[0]}`, { prefer: 'wait=60' }),
  );
  await waiting(bed.api, CLIENTS);
  await settle();
  const atTheEnd = countReads();
  for (const answer of answers) expect(await text(await answer)).toContain('"PROCESSED"');
  expect(atTheEnd.reads()).toBeLessThanOrEqual(2); // one may have begun before the settlement
  expectPauses(20);
});

it('a thousand streams cost no statement each after they have begun', async () => {
  const { shortCodes, settle } = await running(CLIENTS);
  const { expectPauses } = countReads();
  const streams = await Promise.all(shortCodes.map((code) => open(`/v1/pastes/${code}/events`)));
  const bodies = streams.map((stream) => text(stream));
  await waiting(bed.api, CLIENTS, 'events');
  await settle();
  for (const body of await Promise.all(bodies)) {
    expect(body.match(/^event: .*$/gm)).toEqual([
      'event: transition',
      'event: transition',
      'event: transition',
      'event: end',
    ]);
  }
  expectPauses(20);
});
