import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AUDIENCE, OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { routesOf } from '../src/app.ts';
import type { ApiContext } from '../src/context.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { ownPage } from './support/http.ts';
import { kinds, SECRET } from './support/paste-kinds.ts';
import { type Ownership, processedPaste } from './support/pastes.ts';
import { rawRequest } from './support/raw-get.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, ownToken, revokeTokens, signedInWith, spentToken, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

const NO_LIMITS = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
  RATE_LIMIT_REPORTS_PER_HOUR: '0',
};
const bed = useApi({ env: NO_LIMITS, contentWaitMs: 1 });

/** 204 pastes, one of each kind for a route and a stranger, each in its turn. */
const OF_EACH_KIND = 17;
const [UNKNOWN, UNKNOWN_SLUG] = ['deadbeef00', '~sluggish-none'] as const;
const TITLE = 'the title for members';

interface Made {
  readonly kind: string;
  /** The short code and, where it has one, the slug with its mark. */
  readonly names: readonly string[];
}

async function make(kind: string, of: Ownership): Promise<Made> {
  const code = await kinds[kind]!(bed, of);
  const row = await bed.db
    .selectFrom('pastes')
    .select('slug')
    .where('short_code', '=', code)
    .executeTakeFirstOrThrow();
  return { kind, names: row.slug === null ? [code] : [code, `~${row.slug}`] };
}

let owner: TestUser;
let member: TestUser;
const hidden: Made[] = [];
const callers: Record<string, Readonly<Record<string, string>>> = {};
beforeAll(async () => {
  owner = await newUser(bed.db);
  member = await newUser(bed.db);
  const cookie = await signedInWith(bed.db, member.token);
  const former = await newUser(bed.db);
  const ended = await signedInWith(bed.db, former.token);
  await revokeTokens(bed.db, former.id);
  Object.assign(callers, {
    nobody: {},
    'the browser of nobody': { ...BROWSER, ...ownPage(bed.api.url) },
    'a browser whose session has ended': { ...BROWSER, ...ownPage(bed.api.url), cookie: ended },
    'a revoked token': { authorization: `Bearer ${await spentToken(bed.db, member.id, 'revoked')}` },
    'an expired token': { authorization: `Bearer ${await spentToken(bed.db, member.id, 'expired')}` },
    'a page of another site, in the name of a member': {
      accept: '*/*',
      cookie,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'cors',
      origin: 'https://evil.example',
    },
    'another host of the domain, in the name of a member': {
      ...BROWSER,
      cookie,
      'sec-fetch-site': 'same-site',
    },
    'a browser that tells no site, in the name of a member': { ...BROWSER, cookie },
    'a click in a chat': { ...BROWSER, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    'a preview of a chat': { 'user-agent': 'Slackbot-LinkExpanding 1.0', accept: 'text/html,*/*' },
  });
  const of = { userId: owner.id, visibility: 'members', title: TITLE } as const;
  for (const kind of Object.keys(kinds))
    for (let n = 0; n < OF_EACH_KIND; n += 1) hidden.push(await make(kind, of));
}, 300_000);

interface Asked {
  readonly route: string;
  readonly method: string;
  /** @param name a short code, or `~` and a slug */
  readonly pathOf: (name: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bodyOf?: (name: string) => string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const withDeleteToken = { 'delete-token': 'the token' };

/** The bodies of the writes whose paths name a paste. A form for a token that does not exist has none of its fields. */
const writes: Readonly<Record<string, Pick<Asked, 'headers' | 'bodyOf'>>> = {
  'PATCH /v1/pastes/:short_code': {
    headers: { ...JSON_TYPE, ...withDeleteToken },
    bodyOf: () => '{"title":"x"}',
  },
  'DELETE /v1/pastes/:short_code': { headers: withDeleteToken },
  'POST /v1/pastes/:short_code/reveal': {},
  'POST /v1/pastes/:short_code/reports': { headers: JSON_TYPE, bodyOf: () => '{"reason":"spam"}' },
  'PUT /v1/slugs/:slug': {
    headers: JSON_TYPE,
    bodyOf: (name) => JSON.stringify({ short_code: name, from: name }),
  },
  'POST /my/slugs/:slug': { headers: FORM_TYPE, bodyOf: (name) => `short_code=${name}&from=${name}` },
  'POST /:short_code/report': { headers: FORM_TYPE, bodyOf: () => 'reason=spam' },
  'POST /:short_code/change': { headers: FORM_TYPE, bodyOf: () => 'title=x&delete_token=the+token' },
  'POST /:short_code/delete': { headers: FORM_TYPE, bodyOf: () => 'delete_token=the+token' },
  'POST /:short_code': {},
};

/** Where a code is in the query or in the body. */
const elsewhere: readonly Asked[] = [
  { route: 'diff from', method: 'GET', pathOf: (name) => `/${openCode}/diff?from=${name}` },
  {
    route: 'parent',
    method: 'POST',
    pathOf: () => '/v1/pastes',
    headers: JSON_TYPE,
    bodyOf: (parent) => JSON.stringify({ content: 'x', parent }),
  },
  {
    route: 'supersedes',
    method: 'POST',
    pathOf: () => '/v1/pastes',
    headers: { ...JSON_TYPE, ...withDeleteToken },
    bodyOf: (supersedes) => JSON.stringify({ content: 'x', supersedes }),
  },
  {
    route: 'source of an import',
    method: 'POST',
    pathOf: () => '/v1/jobs',
    headers: JSON_TYPE,
    bodyOf: (code) => JSON.stringify({ job_type: 'import', parameters: { source_short_code: code } }),
  },
  {
    route: 'PrivateBin',
    method: 'GET',
    pathOf: (name) => `/?${name}`,
    headers: { 'x-requested-with': 'JSONHttpRequest' },
  },
];

let openCode = '';
beforeAll(async () => {
  openCode = await processedPaste(bed, 'for everybody');
});

const inPaths: readonly Asked[] = Object.entries(routesOf({ isDevelopment: true, jobTypes } as ApiContext))
  .filter(([path]) => /:(?:short_code|slug)/.test(path))
  .flatMap(([path, methods]) =>
    Object.keys(methods)
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .map((method) => ({
        route: `${method} ${path}`,
        method,
        pathOf: (name: string) =>
          path.replace(':short_code', name).replace(':slug', name.replace('~', '')).replace('*name', 'src/b'),
        ...writes[`${method} ${path}`],
      })),
  );
const everyRoute = [...inPaths, ...elsewhere];

async function ask(
  { method, pathOf, headers, bodyOf }: Asked,
  name: string,
  as: Readonly<Record<string, string>>,
  api: RunningApi = bed.api,
) {
  const sent = { accept: '*/*', ...headers, ...as };
  return await rawRequest(api.url + pathOf(name), { method, headers: sent, body: bodyOf?.(name) });
}

/** All that an answer reveals. The names are of one length. */
async function told(asked: Asked, name: string, as: Readonly<Record<string, string>>) {
  const { status, headers, body } = await ask(asked, name, as);
  const { 'x-request-id': _, date: __, ratelimit: ___, ...rest } = headers; // the bytes that are left
  const slug = name.replace('~', '');
  return { status, headers: rest, body: body.toString().replaceAll(name, 'NAME').replaceAll(slug, 'SLUG') };
}

it('has the request of each route that writes', () => {
  const without = inPaths.filter(
    ({ method, route }) => !['GET', 'HEAD'].includes(method) && !(route in writes),
  );
  expect(without.map(({ route }) => route)).toEqual([]);
  expect(hidden.length).toBeGreaterThanOrEqual(200);
});

describe('pastes for members are answered as if they did not exist, in every route', () => {
  const strangers = [
    'nobody',
    'a click in a chat',
    'the browser of nobody',
    'a browser whose session has ended',
    'a revoked token',
    'an expired token',
    'a page of another site, in the name of a member',
    'another host of the domain, in the name of a member',
    'a browser that tells no site, in the name of a member',
    'a preview of a chat',
  ];
  it.each(strangers)(
    'to %s',
    async (stranger) => {
      const as = callers[stranger]!;
      for (const [place, request] of everyRoute.entries()) {
        const unknown = await told(request, UNKNOWN, as);
        const unknownSlug = await told(request, UNKNOWN_SLUG, as);
        const turn = (place + strangers.indexOf(stranger)) % OF_EACH_KIND;
        const asked = hidden.filter((_, index) => index % OF_EACH_KIND === turn);
        await inLanes(asked, async ({ kind, names }) => {
          for (const name of names) {
            const answer = await told(request, name, as);
            const expected = name.startsWith('~') ? unknownSlug : unknown;
            expect({ route: request.route, kind, ...answer }).toEqual({
              route: request.route,
              kind,
              ...expected,
            });
            if (request.route === 'PrivateBin' && name.startsWith('~')) continue; // there it is no name
            expect([request.route, kind, answer.status]).not.toEqual([request.route, kind, 200]);
            expect(answer.body).not.toContain(SECRET);
            expect(answer.body).not.toContain(TITLE);
          }
        });
      }
    },
    900_000,
  );
});

async function inLanes<T>(all: readonly T[], act: (each: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  const lane = async (): Promise<void> => {
    for (const each of rest) await act(each);
  };
  await Promise.all(Array.from({ length: 4 }, lane));
}

describe('those who are signed in read a paste for members as one that is unlisted', () => {
  let issuer: OidcIssuer;
  let api: RunningApi;
  beforeAll(async () => {
    for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
    issuer = await OidcIssuer.start(['alice']);
  });
  afterAll(() => issuer.down());

  const readers: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
    'with an API token': async () => ({ ...member.headers }),
    'with a token that they have made, and that only reads': async () =>
      (await ownToken(bed.db, member, 'read')).headers,
    'in a browser': async () => ({
      ...BROWSER,
      ...ownPage(api.url),
      cookie: await signedInWith(bed.db, member.token),
    }),
    'with an access token of the identity provider': async () => ({
      authorization: `Bearer ${await issuer.signed({}, { typ: 'at+jwt' })}`,
    }),
  };

  it('with a token, in a browser and by an identity provider', async () => {
    api = await bed.start({
      env: { ...NO_LIMITS, OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE },
      contentWaitMs: 1,
    });
    const reads = everyRoute.filter(({ method }) => method === 'GET' || method === 'HEAD');
    const twinsOf: Record<string, readonly Made[]> = {};
    for (const kind of Object.keys(kinds))
      twinsOf[kind] = await Promise.all(
        (['members', 'unlisted'] as const).map((visibility) =>
          make(kind, { userId: owner.id, visibility, title: TITLE }),
        ),
      );
    const readAll = async (reader: string) => {
      const as = await readers[reader]!();
      const shown = new Set<string>();
      const questions = Object.entries(twinsOf).flatMap(([kind, twins]) =>
        reads.map((request) => ({ kind, twins, request })),
      );
      await inLanes(questions, async ({ kind, twins, request }) => {
        if (kind === 'one whose upload runs' && request.route.endsWith('/events')) return; // it does not end
        const [one, other] = await Promise.all(
          twins.map(async ({ names }) => await ask(request, names.at(-1)!, as, api)),
        );
        const about = [reader, request.route, kind];
        expect([...about, one!.status]).toEqual([...about, other!.status]);
        if (one!.status !== 200) return;
        shown.add(kind);
        expect([...about, /no-store/.test(String(one!.headers['cache-control']))]).toEqual([...about, true]);
      });
      expect([reader, shown.size >= 10]).toEqual([reader, true]);
    };
    await Promise.all(Object.keys(readers).map(readAll)); // PrivateBin waits ten seconds for the upload that runs
  });
});
