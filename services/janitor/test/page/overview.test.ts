import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TransitionStatistic } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import type { KyselyPlugin } from 'kysely';
import { MinuteHistory } from '../../src/page/minutes.ts';
import { callSqs } from '../messages.ts';
import { createWorld, UPLOADS, type World } from '../world.ts';
import { openPage } from './open-page.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

it('reads the figures once for fifty open pages', async () => {
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  await makePastes(world.db, 3, { status: 'IN_PROGRESS' });
  const page = await openPage(world, {}, (db) => db.withPlugin(counting));
  world.proxy.requests.length = 0;
  const answers = await Promise.all(Array.from({ length: 50 }, () => page.call('/')));
  const one = statements;
  expect(answers.every(({ status, body }) => status === 200 && body.includes('paste upload'))).toBe(true);
  expect(one).toBeGreaterThan(0);
  expect(one).toBeLessThanOrEqual(12);
  expect(world.proxy.requests.length).toBeLessThanOrEqual(8); // the URLs and the counts of four queues
  await page.stop();
});

it('shows what is left when SQS fails, and says so of each queue', async () => {
  await world.reset();
  const page = await openPage(world);
  try {
    world.proxy.rule({ method: 'POST' }, { kind: 'fail', status: 500 });
    const { status, body } = await page.call('/');
    expect([status, body]).toEqual([200, expect.stringContaining('Nothing is stuck.')]);
    expect(body).toContain('pasteflow-uploads-dead-letters</td><td>–</td>');
  } finally {
    await page.stop();
  }
});

it('marks the dead letters, which wait for an operator', async () => {
  await world.reset();
  const dead = `${UPLOADS}-dead-letters`;
  await callSqs(world.stack.aws.endpoint, 'SendMessage', dead, { MessageBody: '{}' });
  const page = await openPage(world);
  try {
    const { body } = await page.call('/');
    expect(body).toContain(`${dead}</td><td><strong class="bad-news">1</strong></td>`);
    expect(body).toContain('pasteflow-jobs-dead-letters</td><td>0</td>');
  } finally {
    await page.stop();
  }
});

it('counts the ends of each minute from the totals, and shares a gap', () => {
  let now = 0;
  const history = new MinuteHistory(() => now);
  const learn = (minute: number, count: number) => {
    now = minute * 60_000;
    const statistic = { machine: 'paste_upload', from: 'IN_PROGRESS', to: 'PROCESSED', count };
    history.learn([{ ...statistic, seconds: 0, buckets: [] } as TransitionStatistic]);
  };
  expect(history.read().stored).toEqual([]);
  learn(0, 100);
  learn(0.5, 103); // also in the minute in which the janitor started
  learn(1, 110);
  learn(1.5, 120);
  learn(2, 150);
  learn(4, 160);
  expect(history.read()).toEqual({
    stored: [3, 17, 30, 5, 5],
    failed: [0, 0, 0, 0, 0],
    jobs: [0, 0, 0, 0, 0],
  });
  learn(5, 0); // another database
  expect(history.read().stored.at(-1)).toBe(0);
  for (let minute = 6; minute < 200; minute += 1) learn(minute, minute);
  expect(history.read().stored).toHaveLength(60);
});
