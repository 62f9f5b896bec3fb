import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from '@jest/globals';
import { claimExecutions, settleExecutions, uploadSubject } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { useApi } from './support/api.ts';
import { waiting } from './support/waiting.ts';

const bed = useApi();
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

it('a thousand clients that wait for pastes of their own cost one read for each batch that ends', async () => {
  const { shortCodes, settle } = await running(CLIENTS);
  const before = bed.api.statements.length;
  const cost = () => bed.api.statements.length - before;
  const answers = shortCodes.map((code) => open(`/v1/pastes/${code}`, { prefer: 'wait=60' }));
  await waiting(bed.api, CLIENTS);
  expect(cost()).toBeLessThanOrEqual(CLIENTS + 5); // each has read once; the claims may be notified a moment late
  await settle();
  const statuses = await Promise.all(
    answers.map(async (answer) => (JSON.parse(await text(await answer)) as { status: string }).status),
  );
  expect(statuses).toEqual(Array<string>(CLIENTS).fill('PROCESSED'));
  process.stderr.write(`${CLIENTS} waits, each for its own: ${cost() - CLIENTS} looks\n`);
  // Ten settlements; a read that runs when one commits is followed by another.
  expect(cost() - CLIENTS).toBeLessThanOrEqual(25);
}, 60_000);

it('a thousand clients whose wait ends by time are answered by far fewer reads', async () => {
  const { shortCodes } = await running(CLIENTS);
  const before = bed.api.statements.length;
  const answers = shortCodes.map((code) => open(`/v1/pastes/${code}`, { prefer: 'wait=2' }));
  for (const answer of answers) expect(await text(await answer)).toContain('"IN_PROGRESS"');
  const looks = bed.api.statements.length - before - CLIENTS;
  process.stderr.write(`${CLIENTS} waits that end by their time: ${looks} looks\n`);
  expect(looks).toBeLessThan(CLIENTS / 2); // at most 50 a second
}, 60_000);

it('a thousand clients that wait for one paste cost one read at its end', async () => {
  const { shortCodes, settle } = await running(1);
  const before = bed.api.statements.length;
  const answers = Array.from({ length: CLIENTS }, () =>
    open(`/v1/pastes/${shortCodes[0]}`, { prefer: 'wait=60' }),
  );
  await waiting(bed.api, CLIENTS);
  await settle();
  for (const answer of answers) expect(await text(await answer)).toContain('"PROCESSED"');
  expect(bed.api.statements.length - before).toBeLessThanOrEqual(CLIENTS + 2);
}, 60_000);

it('a thousand streams cost no statement each after they have begun, and fewer than one each before', async () => {
  const { shortCodes, settle } = await running(CLIENTS);
  const before = bed.api.statements.length;
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
  const looks = bed.api.statements.length - before - CLIENTS;
  process.stderr.write(`${CLIENTS} streams: ${looks} looks\n`);
  // At most 50 a second while they are opened and while they end; the rest is one statement each, which finds
  // the paste.
  expect(looks).toBeLessThan(CLIENTS / 2);
}, 60_000);
