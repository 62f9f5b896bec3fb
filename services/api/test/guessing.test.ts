import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { postRaw } from './support/http.ts';
import { expectLimited, fields, limited } from './support/limits.ts';
import { failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { newUser, revokeTokens } from './support/users.ts';

const bed = useApi();

/** Counters are per caller, and all these requests come from one address. */
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
});

const get = (url: string, headers: Readonly<Record<string, string>> = {}) => fetch(url, { headers });

describe('guessing short codes', () => {
  it('is refused after the limit, over all copies of the api together', async () => {
    const env = limited({ misses: 5 });
    const copies = [await bed.start({ env }), await bed.start({ env })] as const;
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => (await get(`${copies[n % 2]!.url}/guess${n}`)).status),
    );
    expect(statuses.filter((status) => status === 404)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(35);
  });

  it('is refused before a look-up, also for existing pastes; other copies learn of it at their next miss', async () => {
    const env = limited({ misses: 2 });
    const [one, other] = [await bed.start({ env }), await bed.start({ env })] as const;
    const code = await processedPaste(bed, 'x');
    for (const _guess of [1, 2]) expect((await get(`${one.url}/guess`)).status).toBe(404);
    const before = one.statements.length;
    for (const path of [
      `/${code}`,
      `/v1/pastes/${code}`,
      `/v1/pastes/${code}/content`,
      `/v1/pastes/${code}/timeline`,
    ]) {
      await expectLimited(await get(one.url + path), 'misses');
    }
    expect((await fetch(`${one.url}/v1/pastes/${code}`, { method: 'DELETE' })).status).toBe(429);
    expect(one.statements.length).toBe(before);
    expect((await postRaw(one.url, 'creating is no guessing')).status).toBe(201);

    expect((await get(`${other.url}/${code}`)).status).toBe(200);
    await expectLimited(await get(`${other.url}/guess`), 'misses');
    await expectLimited(await get(`${other.url}/${code}`), 'misses');
  });

  it('counts every paste_not_found, including FAILED pastes and others’ private ones, but no malformed short code', async () => {
    const api = await bed.start({ env: limited({ misses: 3 }) });
    const owner = await newUser(bed.db);
    const made = await fetch(`${api.url}/v1/pastes?visibility=private`, {
      method: 'POST',
      body: 'x',
      headers: owner.headers,
    });
    const { short_code: secret } = (await made.json()) as { short_code: string };
    for (const path of ['/favicon.ico', '/robots.txt', `/${'x'.repeat(40)}`, '/v1/nothing/at/all']) {
      expect((await get(api.url + path)).status).toBe(404);
    }
    for (const path of [
      `/${await failedPaste(bed.db)}`,
      `/v1/pastes/${secret}`,
      `/v1/pastes/none/timeline`,
    ]) {
      expect((await get(api.url + path)).status).toBe(404);
    }
    await expectLimited(await get(`${api.url}/none`), 'misses');
    expect((await get(`${api.url}/v1/pastes/${secret}`, owner.headers)).status).toBe(200);
  });
});

describe('imports of a paste that does not exist', () => {
  it('count as misses, and are refused after the limit; an import of an existing paste does not count', async () => {
    const api = await bed.start({ env: limited({ misses: 2 }) });
    const user = await newUser(bed.db);
    const source = await newPaste(bed.db, '{"content":"x"}');
    const post = async (shortCode: string) =>
      await fetch(`${api.url}/v1/jobs`, {
        method: 'POST',
        headers: { ...user.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ job_type: 'import', parameters: { source_short_code: shortCode } }),
      });
    const codes = [source, 'neverThere', source, 'norThisOne'];
    for (const code of codes) expect((await post(code)).status).toBe(202);
    await expectLimited(await post(source), 'misses');
    await expectLimited(await get(`${api.url}/v1/pastes/${source}`, user.headers), 'misses');
  });
});

describe('invalid tokens', () => {
  const bad = { authorization: 'Bearer pf_nonsense' };

  it('count against their address, and after the limit are refused; a valid token always passes', async () => {
    const env = { ...limited({ misses: 3 }), TRUST_PROXY: 'loopback' };
    const api = await bed.start({ env });
    const user = await newUser(bed.db);
    for (let n = 0; n < 3; n++) {
      const response = await get(`${api.url}/v1/jobs`, bad);
      expect(response.status).toBe(401);
      expect(fields(response).policy).toContain('"misses";q=3');
    }
    await expectLimited(await get(`${api.url}/v1/jobs`, bad), 'misses');
    expect((await get(`${api.url}/v1/jobs`, user.headers)).status).toBe(200);
    await expectLimited(await get(`${api.url}/v1/jobs`, bad), 'misses');
    expect((await postRaw(api.url, 'without a token')).status).toBe(201);
    await revokeTokens(bed.db, user.id);
    await expectLimited(await get(`${api.url}/v1/jobs`, user.headers), 'misses');
  });

  it('alone keep a valid token from being looked up: requests without a token do not', async () => {
    const api = await bed.start({ env: limited({ requests: 2 }) });
    for (let n = 0; n < 2; n++) expect((await get(`${api.url}/none`)).status).toBe(404);
    await expectLimited(await get(`${api.url}/none`), 'requests');
    expect((await get(`${api.url}/v1/jobs`, (await newUser(bed.db)).headers)).status).toBe(200);
  });

  it('are not looked up when the address has sent as many as it may send requests; one that was valid just before is', async () => {
    const api = await bed.start({ env: limited({ requests: 3 }) });
    const [known, unknown] = [await newUser(bed.db), await newUser(bed.db)];
    expect((await get(`${api.url}/v1/jobs`, known.headers)).status).toBe(200);
    for (let n = 0; n < 4; n++) await get(`${api.url}/v1/jobs`, bad);
    const before = api.statements.length;
    await expectLimited(await get(`${api.url}/v1/jobs`, bad), 'requests');
    await expectLimited(await get(`${api.url}/v1/jobs`, unknown.headers), 'requests');
    expect(api.statements.length).toBe(before);
    expect((await get(`${api.url}/v1/jobs`, known.headers)).status).toBe(200);
  });

  it('also count as requests', async () => {
    const api = await bed.start({ env: limited({ requests: 2 }) });
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await get(`${api.url}/v1/jobs`, bad)).status);
    expect(statuses).toEqual([401, 401, 429]);
  });
});
