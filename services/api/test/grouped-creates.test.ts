import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnService, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { readPayload } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { COMMIT, startHoldingProxy, type HoldingProxy } from './support/holding-proxy.ts';
import { postRaw, problemOf } from './support/http.ts';
import { keyRows, lapseClaims, newKey, postKeyed, wholeAnswer } from './support/keyed.ts';
import { metricOf, until } from './support/until.ts';
import { countPastes, pasteRow } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

/** A group is never slow, so that all creations that wait go into one group. */
const bed = useApi({ slowGroupMs: 60_000 });

beforeEach(async () => {
  await sql`TRUNCATE idempotency_keys`.execute(bed.db);
});

const MANY = 20;

/** Every insert into `pastes` waits while this runs. The first creation starts alone, and those after it wait for their group. */
async function whileInsertsWait(run: () => Promise<void>): Promise<void> {
  await bed.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE pastes IN SHARE MODE`.execute(tx);
    await run();
  });
}

const untilInsertWaits = () =>
  until(
    async () =>
      (
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE '%entry AS MATERIALIZED%'`.execute(bed.db)
      ).rows.length,
    (count) => count > 0,
  );

const texts = Array.from({ length: MANY }, (_, n) => `${n}-content`);
const SEVERAL = /content\d/; // in the parameter of a group, between two of them
const answersOfKeys = 'AS kept (caller';

/** Whether the api has received this many bytes of bodies, which it inserts now. */
const untilReceived = (bytes: number) =>
  until(async () => (await metricOf(bed.api, 'http_body_bytes', { kind: 'in_flight' })) >= bytes);

const bytesOf = (texts: readonly string[]) => texts.join('').length;

const storedContent = async (shortCode: string) =>
  String(await readPayload(bed.db, (await pasteRow(bed.db, shortCode))!.id));

async function expectCreated(response: Response, content: string): Promise<void> {
  expect(response.status).toBe(201);
  const { short_code } = (await response.json()) as { short_code: string };
  expect(await storedContent(short_code)).toBe(content);
}

describe('creations that arrive while an insert is under way', () => {
  it('are inserted together by one statement, and each is answered with its own paste', async () => {
    const before = bed.api.statements.length;
    let first: Promise<Response> | undefined;
    let others: Promise<Response>[] = [];
    await whileInsertsWait(async () => {
      first = postRaw(bed.api.url, 'first');
      await untilInsertWaits();
      others = texts.map((content) => postRaw(bed.api.url, content));
      await untilReceived(bytesOf(['first', ...texts]));
    });
    await expectCreated(await first!, 'first');
    for (const [n, response] of (await Promise.all(others)).entries())
      await expectCreated(response, texts[n]!);
    const inserts = bed.api.statements.slice(before).filter((text) => text.includes('INSERT INTO pastes'));
    expect(inserts).toHaveLength(2);
  });

  it('with keys store their answers in the same transaction, and each is replayed', async () => {
    const before = bed.api.statements.length;
    const keys = texts.map(() => newKey());
    let first: Promise<Response> | undefined;
    let others: Promise<Response>[] = [];
    await whileInsertsWait(async () => {
      first = postKeyed(bed.api.url, { key: newKey(), body: 'first' });
      await untilInsertWaits();
      others = texts.map((body, n) => postKeyed(bed.api.url, { key: keys[n]!, body }));
      await until(async () => (await unanswered()) === MANY + 1);
      await untilReceived(bytesOf(['first', ...texts]));
    });
    expect((await first!).status).toBe(201);
    const answers = await Promise.all((await Promise.all(others)).map(wholeAnswer));
    for (const [n, answer] of answers.entries()) {
      expect(answer.status).toBe(201);
      const again = await wholeAnswer(await postKeyed(bed.api.url, { key: keys[n]!, body: texts[n]! }));
      expect(again).toEqual({ ...answer, replayed: true });
      const { short_code } = JSON.parse(answer.body.toString()) as { short_code: string };
      expect(await storedContent(short_code)).toBe(texts[n]);
    }
    const kept = bed.api.statements.slice(before).filter((text) => text.includes(answersOfKeys));
    expect(kept).toHaveLength(1); // of the group; the first creation came alone
    expect(await unanswered()).toBe(0);
  });
});

const unanswered = async () => (await keyRows(bed.db)).filter(({ answer }) => answer === null).length;

const postOwned = (user: TestUser, body: string) =>
  fetch(`${bed.api.url}/v1/pastes`, {
    method: 'POST',
    headers: { ...user.headers, 'content-type': 'application/octet-stream' },
    body,
  });

describe('a creation that fails within a group', () => {
  it('because its row breaks a constraint touches no other', async () => {
    const user = await newUser(bed.db);
    let others: Promise<Response>[] = [];
    let bad: Promise<Response> | undefined;
    const errors = bed.api.logs.filter(({ level }) => level === 'error').length;
    await whileInsertsWait(async () => {
      others = [postRaw(bed.api.url, 'first')];
      await untilInsertWaits();
      bad = postOwned(user, 'of a user who is removed meanwhile');
      others.push(...texts.map((content) => postRaw(bed.api.url, content)));
      await untilReceived(bytesOf(['first', 'of a user who is removed meanwhile', ...texts]));
      await sql`DELETE FROM api_tokens WHERE user_id = ${user.id}`.execute(bed.db);
      await sql`DELETE FROM users WHERE id = ${user.id}`.execute(bed.db);
    });
    expect(await problemOf(await bad!)).toMatchObject({ status: 500, code: 'internal' });
    for (const [n, response] of (await Promise.all(others)).entries()) {
      await expectCreated(response, ['first', ...texts][n]!);
    }
    expect(bed.api.logs.filter(({ level }) => level === 'error')).toHaveLength(errors + 1);
  });

  it.each([
    ['io_error', 503, 'dependency_unavailable'],
    ['data_corrupted', 500, 'internal'],
  ])("because Postgres can't write its row (%s) touches no other", async (condition, status, code) => {
    const content = `fails with ${condition}`;
    await sql`CREATE OR REPLACE FUNCTION fail_to_write() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'failed by the test' USING ERRCODE = TG_ARGV[0]; END $$`.execute(bed.db);
    await sql`CREATE TRIGGER fail_to_write BEFORE INSERT ON paste_payloads FOR EACH ROW
      WHEN (NEW.content = ${sql.lit(content)}::bytea) EXECUTE FUNCTION fail_to_write(${sql.lit(condition)})`.execute(
      bed.db,
    );
    let others: Promise<Response>[] = [];
    let bad: Promise<Response> | undefined;
    await whileInsertsWait(async () => {
      others = [postRaw(bed.api.url, 'first')];
      await untilInsertWaits();
      bad = postRaw(bed.api.url, content);
      others.push(...texts.map((each) => postRaw(bed.api.url, each)));
      await untilReceived(bytesOf(['first', content, ...texts]));
    });
    expect(await problemOf(await bad!)).toMatchObject({ status, code });
    for (const [n, response] of (await Promise.all(others)).entries())
      await expectCreated(response, ['first', ...texts][n]!);
    await sql`DROP TRIGGER fail_to_write ON paste_payloads`.execute(bed.db);
  });

  it.each(['without', 'with'])(
    'because its short code is taken, %s keys, gets another one, and touches no other',
    async (keys) => {
      const codes = [`taken${keys}`, `taken${keys}`, ...texts.map((_, n) => `${keys}Code${n}`)];
      const api = await bed.start({ newShortCode: () => codes.shift()! });
      const post = (body: string) =>
        keys === 'with' ? postKeyed(api.url, { key: newKey(), body }) : postRaw(api.url, body);
      let all: Promise<Response>[] = [];
      await whileInsertsWait(async () => {
        all = [post('first')];
        await untilInsertWaits();
        all.push(...texts.map(post));
        await until(
          async () => (await metricOf(api, 'http_body_bytes', { kind: 'in_flight' })) >= bytesOf(texts),
        );
      });
      for (const [n, response] of (await Promise.all(all)).entries())
        await expectCreated(response, ['first', ...texts][n]!);
      expect(codes).toEqual([]);
      expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  it('because a row is locked lets the others through, and is completed when the lock is released', async () => {
    const user = await newUser(bed.db);
    let others: Promise<Response>[] = [];
    let stuck: Promise<Response> | undefined;
    await bed.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM users WHERE id = ${user.id} FOR UPDATE`.execute(tx);
      await whileInsertsWait(async () => {
        others = [postRaw(bed.api.url, 'first')];
        await untilInsertWaits();
        stuck = postOwned(user, 'of a locked user');
        await untilReceived(bytesOf(['first', 'of a locked user'])); // it joins the group of the others
        others.push(...texts.map((content) => postRaw(bed.api.url, content)));
        await untilReceived(bytesOf(['first', 'of a locked user', ...texts]));
      });
      for (const [n, response] of (await Promise.all(others)).entries())
        await expectCreated(response, ['first', ...texts][n]!);
      await expectCreated(await postRaw(bed.api.url, 'later'), 'later');
    });
    await expectCreated(await stuck!, 'of a locked user');
  });

  it('because another request has taken its key creates nothing, and touches no other, with a key or without', async () => {
    const before = await countPastes(bed.db);
    let others: Promise<Response>[] = [];
    let tooLate: Promise<Response> | undefined;
    await whileInsertsWait(async () => {
      others = [postKeyed(bed.api.url, { key: newKey(), body: 'first' })];
      await untilInsertWaits();
      tooLate = postKeyed(bed.api.url, { key: newKey(), body: 'late' });
      await until(async () => (await unanswered()) === 2);
      const newest = sql`(SELECT max(created_at) FROM idempotency_keys)`;
      await sql`UPDATE idempotency_keys SET claim_id = gen_random_uuid() WHERE created_at = ${newest}`.execute(
        bed.db,
      );
      const post = (body: string, n: number) =>
        n % 2 === 0 ? postKeyed(bed.api.url, { key: newKey(), body }) : postRaw(bed.api.url, body);
      others.push(...texts.map(post));
      await until(async () => (await unanswered()) === MANY / 2 + 2);
      await untilReceived(bytesOf(['first', 'late', ...texts]));
    });
    expect(await problemOf(await tooLate!)).toMatchObject({ status: 409, code: 'idempotency_key_in_use' });
    for (const [n, response] of (await Promise.all(others)).entries()) {
      await expectCreated(response, ['first', ...texts][n]!);
    }
    expect(await countPastes(bed.db)).toBe(before + MANY + 1);
  });
});

const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const services: SpawnedProcess[] = [];
const proxies: HoldingProxy[] = [];

afterEach(async () => {
  for (const service of services.splice(0)) {
    service.kill('SIGKILL');
    await service.exited;
  }
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

/** A process of its own, which receives nothing from Postgres after a connection that has inserted several pastes has sent this text. */
async function startProcess(text: string) {
  const proxy = await startHoldingProxy(bed.stack.postgres.port, text, { after: SEVERAL });
  proxies.push(proxy);
  const service = spawnService({
    entry,
    env: {
      DATABASE_URL: proxy.through(bed.databaseUrl),
      AWS_ENDPOINT_URL: bed.stack.aws.endpoint,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      API_PORT: '0',
      METRICS_PORT: '0',
      LOG_FORMAT: 'json',
    },
  });
  services.push(service);
  const [, url = ''] = await service.waitFor(/"message":"listening".*"url":"([^"]+)"/);
  return { url, proxy, service };
}

describe('a process that is killed', () => {
  it.each([
    ['before the commit of a group', answersOfKeys],
    ['between the commit of a group and its answers', COMMIT],
  ])('%s: each client has one paste when it has repeated its request', async (_name, text) => {
    const dying = await startProcess(text);
    const keys = texts.map(() => newKey());
    const before = await countPastes(bed.db);
    let answers: Promise<Response | 'lost'>[] = [];
    await whileInsertsWait(async () => {
      answers = texts.map((body, n) =>
        postKeyed(dying.url, { key: keys[n]!, body }).catch(() => 'lost' as const),
      );
      await until(async () => (await unanswered()) === MANY);
    });
    await dying.proxy.holding;
    // A slow machine makes several groups of them. One is held, and the others end.
    if (text === COMMIT)
      await until(
        () => countPastes(bed.db),
        (count) => count === before + MANY,
      );
    dying.service.kill('SIGKILL');
    await dying.service.exited;
    const lost = (await Promise.all(answers)).flatMap((answer, n) => (answer === 'lost' ? [n] : []));
    expect(lost.length).toBeGreaterThan(1);
    await lapseClaims(bed.db);
    for (const [n, body] of texts.entries()) {
      const response = await postKeyed(bed.api.url, { key: keys[n]!, body });
      if (text === COMMIT) expect(response.headers.get('idempotency-replayed')).toBe('true');
      await expectCreated(response, body);
    }
    expect(await countPastes(bed.db)).toBe(before + MANY);
  });
});
