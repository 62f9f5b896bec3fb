import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSealed, parseSealedText } from '@pasteflow/sealed';
import { BrokenLinkError, unwrapKey, WrongRequestKeyError } from '@pasteflow/sealed/wrapped-keys';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { COMMIT, type HoldingProxy, startHoldingProxy } from './support/holding-proxy.ts';
import { problemOf } from './support/http.ts';
import { lapseClaims, newKey, wholeAnswer } from './support/keyed.ts';
import { countPastes } from './support/pastes.ts';
import {
  deposit,
  depositsOf,
  newRequest,
  receiptOf,
  sealFor,
  someDeposit,
  type AskedFor,
} from './support/secret-requests.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();

let asker: TestUser;
beforeEach(async () => {
  await sql`TRUNCATE rate_limits, idempotency_keys`.execute(bed.db);
  asker = await newUser(bed.db);
});

const left = async ({ id }: AskedFor) => {
  const answer = await fetch(`${bed.api.url}/v1/requests/${id}`, { headers: asker.headers });
  const { status, deposits_left } = (await answer.json()) as Record<string, unknown>;
  return `${String(deposits_left)} left, ${String(status)}`;
};

describe('deposits at the same moment', () => {
  it('of any number exactly as many are taken as allowed, through two copies of the api', async () => {
    const other = await bed.start();
    const request = await newRequest(bed.api.url, asker, { deposits: 3 });
    const before = await countPastes(bed.db);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => deposit((n % 2 === 0 ? bed.api : other).url, request.id)),
    );
    const taken = answers.filter(({ status }) => status === 201);
    const receipts = await Promise.all(taken.map((answer) => receiptOf(answer)));
    expect(receipts).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(await problemOf(answer)).toMatchObject({ status: 409, code: 'request_used_up' });
    expect(await countPastes(bed.db)).toBe(before + 3);
    const listed = await depositsOf(bed.api.url, request.id, asker);
    expect(listed.map(({ short_code }) => short_code).toSorted()).toEqual(receipts.toSorted());
    expect(await left(request)).toBe('0 left, USED_UP');
  });

  it('with one key take one place, and each gets the same receipt, also once the request is used up', async () => {
    const request = await newRequest(bed.api.url, asker);
    const headers = { 'idempotency-key': newKey() };
    const send = () => deposit(bed.api.url, request.id, someDeposit, headers);
    const first = await Promise.all(Array.from({ length: 20 }, send));
    expect(first.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    for (const answer of first.filter(({ status }) => status === 409))
      expect(await problemOf(answer)).toMatchObject({ code: 'idempotency_key_in_use' });
    const again = await Promise.all((await Promise.all(Array.from({ length: 5 }, send))).map(wholeAnswer));
    expect(new Set(again.map(({ status, body }) => `${status} ${body.toString()}`)).size).toBe(1);
    expect(again.every(({ status, replayed }) => status === 201 && replayed)).toBe(true);
    expect(await depositsOf(bed.api.url, request.id, asker)).toHaveLength(1);
    expect(await left(request)).toBe('0 left, USED_UP');
    const changed = { ...someDeposit, wrapped_key: 'B'.repeat(151) };
    const other = await deposit(bed.api.url, request.id, changed, headers);
    expect(await problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });
});

const proxies: HoldingProxy[] = [];
afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.stop())));

async function apiHeldAt(text: string | RegExp) {
  const proxy = await startHoldingProxy(bed.stack.postgres.port, text, { after: /take_place/ });
  proxies.push(proxy);
  const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
  return { api, proxy };
}

describe('an api that loses its connections', () => {
  it.each([
    ['between the place and the paste', 'INSERT INTO pastes'],
    ['between the paste and the answer', 'insert into "deposits"'],
  ])('%s leaves the place free, and the repeated deposit gets it', async (_, text) => {
    const { api, proxy } = await apiHeldAt(text);
    const request = await newRequest(bed.api.url, asker);
    const before = await countPastes(bed.db);
    const headers = { 'idempotency-key': newKey() };
    const lost = deposit(api.url, request.id, someDeposit, headers);
    await proxy.holding;
    await proxy.drop();
    expect((await lost).status).toBe(503);
    expect([await left(request), await countPastes(bed.db)]).toEqual(['1 left, OPEN', before]);
    await lapseClaims(bed.db);
    const receipt = await receiptOf(await deposit(bed.api.url, request.id, someDeposit, headers));
    expect(await depositsOf(bed.api.url, request.id, asker)).toMatchObject([{ short_code: receipt }]);
  });

  it('after the commit has the deposit, whose receipt the repeated request gets', async () => {
    const { api, proxy } = await apiHeldAt(COMMIT);
    const request = await newRequest(bed.api.url, asker);
    const headers = { 'idempotency-key': newKey() };
    const lost = deposit(api.url, request.id, someDeposit, headers);
    await proxy.holding;
    await expectSoon(async () => (await left(request)) === '0 left, USED_UP');
    await proxy.drop();
    expect((await lost).status).toBe(503);
    const answer = await wholeAnswer(await deposit(bed.api.url, request.id, someDeposit, headers));
    expect(answer).toMatchObject({ status: 201, replayed: true });
    const [found] = await depositsOf(bed.api.url, request.id, asker);
    expect(JSON.parse(answer.body.toString())).toEqual({ receipt: found!.short_code });
  });
});

async function expectSoon(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isSo())) if (Date.now() > deadline) throw new Error('it is not so after a minute');
}

/** The content of a deposit, as the payload has it until its upload. */
async function contentOf(shortCode: string): Promise<string> {
  const { rows } = await sql<{ content: Buffer }>`SELECT content FROM paste_payloads p
    JOIN pastes ON pastes.id = paste_id WHERE short_code = ${shortCode}`.execute(bed.db);
  return rows[0]!.content.toString();
}

/** Every row of every table as text, with bytes in hex. */
async function wholeDatabase(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`SELECT quote_ident(table_name) AS name
    FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`.execute(
    bed.db,
  );
  expect(tables.length).toBeGreaterThan(20);
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.raw(name)} t`.execute(
        bed.db,
      );
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return texts.join('\n');
}

describe('a server that looks at the database, or changes it', () => {
  it('finds neither half of the keys of a request, in any encoding', async () => {
    const request = await newRequest(bed.api.url, asker, { message: 'The password' });
    const sealed = await sealFor(request, 'correct horse battery staple');
    const { content, wrapped_key } = sealed;
    await receiptOf(
      await deposit(bed.api.url, request.id, { content, wrapped_key }, { 'idempotency-key': newKey() }),
    );
    const everything = (await wholeDatabase()).toLowerCase();
    const inDatabase = (bytes: Buffer): string[] =>
      (['base64url', 'base64', 'hex'] as const).filter((encoding) =>
        everything.includes(bytes.toString(encoding).replace(/=+$/, '').toLowerCase()),
      );
    expect(inDatabase(Buffer.from(wrapped_key, 'base64url'))).toEqual(['hex']); // the search finds what is there
    const [publicKey, both] = [request.publicPart, request.privatePart].map((part) =>
      Buffer.from(part, 'base64url'),
    );
    const halves = [publicKey!.subarray(1, 33), publicKey!.subarray(33), both!.subarray(0, 32)];
    for (const bytes of [publicKey!, both!, ...halves]) expect(inDatabase(bytes)).toEqual([]);
    for (const part of [request.publicPart, request.privatePart])
      expect(inDatabase(Buffer.from(part))).toEqual([]);
    expect(inDatabase(Buffer.from(sealed.key))).toEqual([]);
    expect(everything).not.toContain('battery staple');
  });

  it('that has put another wrapped key into the row, or the deposit into another request, opens nothing', async () => {
    const [mine, other] = [await newRequest(bed.api.url, asker), await newRequest(bed.api.url, asker)];
    const sealed = await sealFor(mine, 'hunter2');
    const receipt = await receiptOf(
      await deposit(bed.api.url, mine.id, { content: sealed.content, wrapped_key: sealed.wrapped_key }),
    );
    const open = async (id: string) => {
      const [found] = await depositsOf(bed.api.url, id, asker);
      const key = await unwrapKey(found!.wrapped_key, id, mine.privatePart);
      return (await openSealed(parseSealedText(await contentOf(receipt)), key)).text;
    };
    expect(await open(mine.id)).toBe('hunter2');

    const put = (wrapped: string) =>
      sql`UPDATE deposits SET wrapped_key = ${Buffer.from(wrapped, 'base64url')} WHERE short_code = ${receipt}`.execute(
        bed.db,
      );
    // The server can wrap a key of its own for a key of its own, but it does not know that of the asker.
    await put((await sealFor({ id: mine.id, publicPart: other.publicPart })).wrapped_key);
    await expect(open(mine.id)).rejects.toThrow(WrongRequestKeyError);
    await expect(open(mine.id)).rejects.toThrow('This key does not open the deposit');
    await put(sealed.wrapped_key);
    await sql`UPDATE deposits SET request_id = (SELECT id FROM secret_requests WHERE code = ${other.id})
      WHERE short_code = ${receipt}`.execute(bed.db);
    await expect(open(other.id)).rejects.toThrow(WrongRequestKeyError);
    await expect(wrapFor('')).rejects.toThrow(BrokenLinkError);
  });
});

const wrapFor = (publicPart: string) => sealFor({ id: 'x', publicPart });
