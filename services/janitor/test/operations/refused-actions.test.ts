import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makeJobs, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { createActions } from '../../src/operations/actions.ts';
import { createWorld, type World } from '../world.ts';
import { openPage, READ_TOKEN, type Call, type OpenPage } from './page.ts';

let world: World;
let page: OpenPage;
beforeAll(async () => {
  world = await createWorld();
  page = await openPage(world);
});
afterAll(async () => {
  await page.stop();
  await world.stop();
});

const HASH = `sha256:${'0'.repeat(64)}`;
let subjects: Readonly<Record<string, string | null>> = {};
beforeEach(async () => {
  await world.reset();
  const [user] = await makeUsers(world.db, 1);
  const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED', userId: user!.id });
  const [failed] = await makePastes(world.db, 1, { status: 'FAILED' });
  const [job] = await makeJobs(world.db, 1, { userId: user!.id, status: 'queued' });
  subjects = {
    takedown: paste!.shortCode,
    'takedown-user': user!.id,
    block: HASH,
    unblock: HASH,
    retry: failed!.shortCode,
    'cancel-job': job!.id,
    'retry-failed': null,
    'retry-dead-letters': null,
    'run-sweep': 'cleanup',
  };
});

const actions = [
  'takedown',
  'takedown-user',
  'block',
  'unblock',
  'retry',
  'cancel-job',
  'retry-failed',
  'retry-dead-letters',
  'run-sweep',
];

const refusals: readonly (readonly [name: string, call: Call, status: number])[] = [
  ['without a token', { token: null }, 401],
  ['with the token of readers', { token: READ_TOKEN }, 403],
  ['from another origin', { headers: { origin: 'https://evil.example' } }, 403],
  ['from another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
];

describe.each(actions)('the action %s', (action) => {
  it.each(refusals)('is refused %s, and not recorded', async (_name, call, status) => {
    const subject = subjects[action];
    const form = { ...(typeof subject === 'string' && { subject }), count: '9', reason: 'x', class: 'spam' };
    expect((await page.call(`/act/${action}`, { form, ...call })).status).toBe(status);
    expect(await world.db.selectFrom('operator_actions').selectAll().execute()).toEqual([]);
  });

  it('asks for a reason', async () => {
    const subject = subjects[action];
    const form = { ...(typeof subject === 'string' && { subject }), count: '9', reason: '', class: 'spam' };
    expect((await page.call(`/act/${action}`, { form })).status).toBe(422);
    expect(await world.db.selectFrom('operator_actions').selectAll().execute()).toEqual([]);
  });

  it('shows readers no step to confirm it', async () => {
    const subject = subjects[action];
    const path = `/confirm/${action}${typeof subject !== 'string' ? '' : `?subject=${subject}`}`;
    expect((await page.call(path, { token: READ_TOKEN })).status).toBe(403);
    expect((await page.call(path)).status).toBe(200);
  });
});

it('every action of the page is in this file', () => {
  const nothing = {} as Parameters<typeof createActions>[0];
  const names = createActions({ ...nothing, queues: { uploads: 'u', jobs: 'j' } });
  expect([...names.keys()].toSorted()).toEqual(actions.toSorted());
});
