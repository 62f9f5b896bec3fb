import { beforeAll, expect, it } from '@jest/globals';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();

let user: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
});

type Json = Readonly<Record<string, unknown>>;

/** Of every JSON type. */
const VALUES = [[null], { a: 1 }, 0.5, '', true, null];

/** Each document that has another value somewhere. */
function* wrongVersionsOf(sent: Json): Generator<Json> {
  for (const [name, value] of Object.entries(sent)) {
    for (const other of VALUES) yield { ...sent, [name]: other };
    if (value === null || typeof value !== 'object') continue;
    for (const inner of wrongVersionsOf(value as Json))
      yield { ...sent, [name]: Array.isArray(value) ? Object.values(inner) : inner };
  }
}

const whole = { title: 'a', syntax: 'text', expires_in: 60, visibility: 'unlisted', encrypted: false };
const documents: Readonly<Record<string, Json>> = {
  'POST /v1/pastes': { ...whole, burn: false, files: [{ name: 'a', content: 'b', syntax: null }] },
};

/** The request that the table of rights has for an endpoint, if it sends JSON. */
async function requestOf(endpoint: string): Promise<{ path: string; sent: Json; headers: object } | null> {
  const { path, init } = await accessTable[endpoint]![0]!.prepare(bed, user);
  const headers = { ...(init?.headers as Record<string, string>), 'content-type': 'application/json' };
  const isJson = new Headers(init?.headers).get('content-type') === 'application/json';
  const sent = documents[endpoint] ?? (isJson ? (JSON.parse(init?.body as string) as Json) : null);
  return sent && { path, sent, headers: { ...user.headers, ...headers } };
}

it.each(Object.keys(accessTable).filter((endpoint) => /^P\w+ \/v1\//.test(endpoint)))(
  '%s refuses each wrong type in words that say what it must be',
  async (endpoint) => {
    const request = await requestOf(endpoint);
    if (request === null) return;
    const answerTo = (body: unknown) =>
      fetch(bed.api.url + request.path, {
        method: endpoint.split(' ')[0]!,
        headers: request.headers as Record<string, string>,
        body: JSON.stringify(body),
      });
    for (const body of [[], [request.sent], 'x', '', 3, true, null])
      expect(await problemOf(await answerTo(body))).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ path: '', message: 'must be a JSON object' }],
      });
    for (const body of wrongVersionsOf(request.sent)) {
      const answer = await answerTo(body);
      expect(answer.status).toBeLessThan(500);
      if (answer.status !== 422) continue;
      for (const { path, message } of (await problemOf(answer)).errors ?? [])
        expect([JSON.stringify(body), path, message]).toEqual([
          expect.anything(),
          expect.anything(),
          expect.stringMatching(/^(must|is|can|needs|has) /),
        ]);
    }
  },
);
