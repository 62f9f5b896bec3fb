import { jobTypes } from '@pasteflow/jobs';
import { assets } from '../../src/site/assets.ts';
import type { ApiBed } from './api.ts';
import { endedJob, newJob } from './jobs.ts';
import { ownForm } from './forms.ts';
import { newPaste, processedPaste, type Ownership } from './pastes.ts';
import type { TestUser } from './users.ts';

/** The expected answers to each kind of caller, when everything else in the request is valid. */
export interface AccessCase {
  /** The case, where a route has several. */
  readonly about?: string;
  /** Creates what the request is for, owned by the owner, and returns the rest of the URL. */
  readonly prepare: (bed: ApiBed, owner: TestUser) => Promise<{ path: string; init?: RequestInit }>;
  /** The status without Authorization, with another user's token, and with the owner's token. */
  readonly none: number;
  readonly other: number;
  readonly owner: number;
}

/** An open route: callers are not identified, and an invalid token is ignored. */
const open = (path: string): AccessCase[] => [
  { prepare: () => Promise.resolve({ path }), none: 200, other: 200, owner: 200 },
];

const missing = (path: string): AccessCase[] => [
  { prepare: () => Promise.resolve({ path }), none: 404, other: 404, owner: 404 },
];

/** A POST of content, for everybody or only for users. */
const creation = (path: string): AccessCase[] => [
  {
    prepare: () => Promise.resolve({ path, init: { method: 'POST', body: Buffer.from('x') } }),
    none: 201,
    other: 201,
    owner: 201,
  },
];

/**
 * A read of a paste: everybody reads an unlisted one, only the owner a private one; for all others it is not
 * found.
 */
const read = (pathOf: (shortCode: string) => string): AccessCase[] => {
  const stored = (ownershipOf: (owner: TestUser) => Ownership) => async (bed: ApiBed, owner: TestUser) => ({
    path: pathOf(await processedPaste(bed, 'content', ownershipOf(owner))),
  });
  return [
    { about: 'an anonymous paste', prepare: stored(() => ({})), none: 200, other: 200, owner: 200 },
    {
      about: 'an unlisted paste',
      prepare: stored(({ id }) => ({ userId: id })),
      none: 200,
      other: 200,
      owner: 200,
    },
    {
      about: 'a private paste',
      prepare: stored(({ id }) => ({ userId: id, visibility: 'private' })),
      none: 404,
      other: 404,
      owner: 200,
    },
  ];
};

const deletion = (): AccessCase[] => {
  const made =
    (ownershipOf: (owner: TestUser) => Ownership, headers: Record<string, string> = {}) =>
    async ({ db }: ApiBed, owner: TestUser) => ({
      path: `/v1/pastes/${await newPaste(db, 'content', ownershipOf(owner))}`,
      init: { method: 'DELETE', headers },
    });
  const withToken = { 'delete-token': 'the token' };
  return [
    { about: 'an anonymous paste', prepare: made(() => ({})), none: 401, other: 401, owner: 401 },
    {
      about: 'an anonymous paste, with its delete token',
      prepare: made(() => ({}), withToken),
      none: 204,
      other: 204,
      owner: 204,
    },
    {
      about: 'an unlisted paste',
      prepare: made(({ id }) => ({ userId: id }), withToken),
      none: 401,
      other: 401,
      owner: 204,
    },
    {
      about: 'a private paste',
      prepare: made(({ id }) => ({ userId: id, visibility: 'private' }), withToken),
      none: 404,
      other: 404,
      owner: 204,
    },
  ];
};

/** Only its owner deletes a paste that has one. */
const deletionByForm = (): AccessCase[] => {
  const made =
    (ownershipOf: (owner: TestUser) => Ownership) =>
    async ({ db }: ApiBed, owner: TestUser) => {
      const body = new FormData();
      body.set('delete_token', 'the token');
      return {
        path: `/${await newPaste(db, 'content', ownershipOf(owner))}/delete`,
        init: { method: 'POST', body },
      };
    };
  return [
    { about: 'an anonymous paste', prepare: made(() => ({})), none: 200, other: 200, owner: 200 },
    {
      about: 'an unlisted paste',
      prepare: made(({ id }) => ({ userId: id })),
      none: 401,
      other: 401,
      owner: 200,
    },
    {
      about: 'a private paste',
      prepare: made(({ id }) => ({ userId: id, visibility: 'private' })),
      none: 404,
      other: 404,
      owner: 200,
    },
  ];
};

const ofUser = (path: string): AccessCase[] => [
  { prepare: () => Promise.resolve({ path }), none: 401, other: 200, owner: 200 },
];

/** J8. */
const ofJob = (rest: string, make: typeof newJob = newJob): AccessCase[] => [
  {
    prepare: async ({ db }, owner) => ({ path: `/v1/jobs/${await make(db, owner)}${rest}` }),
    none: 401,
    other: 403,
    owner: 200,
  },
];

/**
 * By method and path: every endpoint of the route table is here, which a test checks. HEAD is sent wherever
 * GET is.
 */
export const accessTable: Readonly<Record<string, readonly AccessCase[]>> = {
  'GET /': open('/'),
  'POST /': creation('/'),
  'GET /healthz': open('/healthz'),
  'GET /readyz': open('/readyz'),
  'GET /openapi.json': open('/openapi.json'),
  'GET /docs': open('/docs'),
  'GET /docs/:file': open('/docs/start.js'),
  'GET /assets/:file': open(`/assets/${assets.fileOf('icon.svg')}`),
  'GET /session': [
    { prepare: () => Promise.resolve({ path: '/session' }), none: 200, other: 200, owner: 200 },
  ],
  'POST /session': [
    {
      prepare: ({ api }, owner) =>
        Promise.resolve({ path: '/session', init: ownForm(api.url, { token: owner.token, next: '/' }) }),
      none: 303,
      other: 303,
      owner: 303,
    },
  ],
  // Without an identity provider.
  'GET /session/oidc': missing('/session/oidc'),
  'GET /session/oidc/callback': missing('/session/oidc/callback?state=x'),
  'POST /session/end': [
    {
      prepare: ({ api }) => Promise.resolve({ path: '/session/end', init: ownForm(api.url, {}) }),
      none: 303,
      other: 303,
      owner: 303,
    },
  ],
  'GET /my/pastes': ofUser('/my/pastes'),
  'POST /my/pastes/delete': [
    {
      about: 'the question',
      prepare: async ({ api, db }, { id }) => ({
        path: '/my/pastes/delete',
        init: ownForm(api.url, { short_code: await newPaste(db, 'x', { userId: id }) }),
      }),
      none: 401,
      other: 200,
      owner: 200,
    },
    {
      about: 'the deletion',
      prepare: async ({ api, db }, { id }) => ({
        path: '/my/pastes/delete',
        init: ownForm(api.url, {
          short_code: await newPaste(db, 'x', { userId: id }),
          confirmed: 'yes',
        }),
      }),
      none: 401,
      other: 303, // and nothing of the owner's is deleted
      owner: 303,
    },
  ],
  'GET /my/jobs': ofUser('/my/jobs'),
  'POST /my/jobs/import': [
    {
      prepare: ({ api }) => {
        const body = new FormData();
        body.set('file', new Blob(['{"content": "x"}']), 'pastes.ndjson');
        return Promise.resolve({ path: '/my/jobs/import', init: { ...ownForm(api.url, {}), body } });
      },
      none: 401,
      other: 303,
      owner: 303,
    },
  ],
  'POST /my/jobs/export': [
    {
      prepare: ({ api }) =>
        Promise.resolve({ path: '/my/jobs/export', init: ownForm(api.url, { format: 'zip' }) }),
      none: 401,
      other: 303,
      owner: 303,
    },
  ],
  'GET /my/jobs/:id': [
    {
      prepare: async ({ db }, owner) => ({ path: `/my/jobs/${await newJob(db, owner)}` }),
      none: 401,
      other: 403,
      owner: 200,
    },
  ],
  'POST /my/jobs/:id/cancel': [
    {
      prepare: async ({ api, db }, owner) => ({
        path: `/my/jobs/${await newJob(db, owner)}/cancel`,
        init: ownForm(api.url, {}),
      }),
      none: 401,
      other: 403,
      owner: 303,
    },
  ],
  'GET /v1/pastes': ofUser('/v1/pastes'),
  'POST /v1/pastes': creation('/v1/pastes'),
  'GET /v1/pastes/:short_code': read((code) => `/v1/pastes/${code}`),
  'DELETE /v1/pastes/:short_code': deletion(),
  'GET /v1/pastes/:short_code/content': read((code) => `/v1/pastes/${code}/content`),
  'GET /v1/pastes/:short_code/timeline': read((code) => `/v1/pastes/${code}/timeline`),
  'GET /v1/pastes/:short_code/events': read((code) => `/v1/pastes/${code}/events`),
  'GET /v1/jobs': ofUser('/v1/jobs'),
  'POST /v1/jobs': [
    {
      prepare: () =>
        Promise.resolve({
          path: '/v1/jobs',
          init: {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ job_type: 'export', parameters: jobTypes.get('export')!.example }),
          },
        }),
      none: 401,
      other: 202,
      owner: 202,
    },
  ],
  'GET /v1/jobs/:id': ofJob(''),
  'POST /v1/jobs/:id/cancel': [
    {
      prepare: async ({ db }, owner) => ({
        path: `/v1/jobs/${await newJob(db, owner)}/cancel`,
        init: { method: 'POST' },
      }),
      none: 401,
      other: 403,
      owner: 200,
    },
  ],
  'GET /v1/jobs/:id/assets': ofJob('/assets'),
  'GET /v1/jobs/:id/timeline': ofJob('/timeline'),
  'GET /v1/jobs/:id/events': ofJob('/events', (db, owner) => endedJob(db, owner)), // it ends
  'GET /:short_code/timeline': read((code) => `/${code}/timeline`),
  'POST /:short_code/delete': deletionByForm(),
  'GET /:short_code': read((code) => `/${code}`),
};
