import { jobTypes } from '@pasteflow/jobs';
import { assets } from '../../src/http/pages/page.ts';
import { endedJob, newJob } from './jobs.ts';
import { ownForm, ownPage } from './http.ts';
import { accessToRequests } from './access-requests.ts';
import { accessToSessions } from './access-sessions.ts';
import { accessToWebhooks } from './access-webhooks.ts';
import { newPaste } from './pastes.ts';
import { receipt } from './receipt-cases.ts';
import { ownToken } from './users.ts';
import {
  actOnJob,
  creation,
  deletion,
  deletionByForm,
  edited,
  madeFrom,
  missing,
  ofJob,
  ofUser,
  open,
  read,
  readFiles,
  report,
  reveal,
  slugMove,
  withDeleteToken,
  type AccessCase,
} from './access-cases.ts';

/** Every endpoint of the route table, by method and path. HEAD is sent wherever GET is. */
export const accessTable: Readonly<Record<string, readonly AccessCase[]>> = {
  'GET /': open('/'),
  'POST /': creation('/'),
  'GET /healthz': open('/healthz'),
  'GET /readyz': open('/readyz'),
  'GET /v1/instance': open('/v1/instance'),
  'GET /openapi.json': open('/openapi.json'),
  'GET /.well-known/security.txt': missing('/.well-known/security.txt'), // without links.abuse
  // Only a build has the package.
  'GET /cli.tgz': open('/cli.tgz'),
  'GET /docs': open('/docs'),
  'GET /docs/:file': open('/docs/start.js'),
  'GET /logo': missing('/logo'), // without a house
  'GET /assets/:file': open(`/assets/${assets.fileOf('icon.svg')}`),
  ...accessToSessions,
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
      prepare: async ({ db }, owner) => ({ path: `/my/jobs/${await newJob(db, owner, 'import')}` }),
      none: 401,
      other: 403,
      owner: 200,
    },
  ],
  'POST /my/jobs/:id/cancel': actOnJob(303, async ({ api, db }, owner) => ({
    path: `/my/jobs/${await newJob(db, owner, 'import')}/cancel`,
    init: ownForm(api.url, {}),
  })),
  'POST /my/jobs/:id/retry': actOnJob(303, async ({ api, db }, owner) => ({
    path: `/my/jobs/${await endedJob(db, owner, { status: 'failed' })}/retry`,
    init: ownForm(api.url, {}),
  })),
  'GET /my/tokens': ofUser('/my/tokens'),
  'POST /my/tokens': [
    {
      prepare: ({ api }) =>
        Promise.resolve({
          path: '/my/tokens',
          init: ownForm(api.url, { name: 'a', scope: 'read', expires_in: '60' }),
        }),
      none: 401,
      other: 200,
      owner: 200,
    },
  ],
  'POST /my/tokens/revoke': [
    {
      prepare: async ({ api, db }, owner) => ({
        path: '/my/tokens/revoke',
        init: ownForm(api.url, { id: (await ownToken(db, owner)).id }),
      }),
      none: 401,
      other: 404,
      owner: 303,
    },
  ],
  'GET /my/account': ofUser('/my/account'),
  // With a name that is not the caller's.
  'POST /my/account/erase': [
    {
      prepare: ({ api }) =>
        Promise.resolve({ path: '/my/account/erase', init: ownForm(api.url, { name: '-' }) }),
      none: 401,
      other: 422,
      owner: 422,
    },
  ],
  'POST /my/slugs/:slug': slugMove((slug, move, api) => ({
    path: `/my/slugs/${slug}`,
    init: ownForm(api.url, move),
    status: 303,
  })),
  'GET /v1/pastes': ofUser('/v1/pastes'),
  'POST /v1/pastes': creation('/v1/pastes'),
  'GET /v1/pastes/:short_code': read((code) => `/v1/pastes/${code}`),
  'PATCH /v1/pastes/:short_code': withDeleteToken(200, (code) => ({
    path: `/v1/pastes/${code}`,
    init: {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'delete-token': 'the token' },
      body: JSON.stringify({ title: 'x' }),
    },
  })),
  'DELETE /v1/pastes/:short_code': deletion(),
  'GET /v1/pastes/:short_code/content': read((code) => `/v1/pastes/${code}/content`),
  'GET /v1/pastes/:short_code/files/*name': readFiles((code) => `/v1/pastes/${code}/files/src/b`),
  'GET /v1/pastes/:short_code/archive': readFiles((code) => `/v1/pastes/${code}/archive`),
  'POST /v1/pastes/:short_code/reveal': reveal((code) => `/v1/pastes/${code}/reveal`),
  'POST /v1/pastes/:short_code/reports': report((code, api) => ({
    path: `/v1/pastes/${code}/reports`,
    init: {
      method: 'POST',
      headers: { ...ownPage(api.url), 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'spam' }),
    },
    status: 202,
  })),
  'GET /v1/pastes/:short_code/receipt': receipt(),
  'GET /v1/pastes/:short_code/timeline': read((code) => `/v1/pastes/${code}/timeline`),
  'GET /v1/pastes/:short_code/history': read((code) => `/v1/pastes/${code}/history`),
  'GET /v1/pastes/:short_code/events': read((code) => `/v1/pastes/${code}/events`),
  'PUT /v1/slugs/:slug': slugMove((slug, move, api) => ({
    path: `/v1/slugs/${slug}`,
    init: {
      method: 'PUT',
      headers: { ...ownPage(api.url), 'content-type': 'application/json' },
      body: JSON.stringify(move),
    },
    status: 200,
  })),
  ...accessToRequests,
  'GET /v1/usage': open('/v1/usage'),
  'GET /v1/jobs': ofUser('/v1/jobs'),
  'POST /v1/jobs': [
    {
      prepare: () =>
        Promise.resolve({
          path: '/v1/jobs',
          init: {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ job_type: 'import', parameters: jobTypes.get('import')!.example }),
          },
        }),
      none: 401,
      other: 202,
      owner: 202,
    },
  ],
  'GET /v1/jobs/:id': ofJob(''),
  'POST /v1/jobs/:id/cancel': actOnJob(200, async ({ db }, owner) => ({
    path: `/v1/jobs/${await newJob(db, owner, 'import')}/cancel`,
    init: { method: 'POST' },
  })),
  'POST /v1/jobs/:id/retry': actOnJob(202, async ({ db }, owner) => ({
    path: `/v1/jobs/${await endedJob(db, owner, { status: 'failed' })}/retry`,
    init: { method: 'POST' },
  })),
  'GET /v1/jobs/:id/assets': ofJob('/assets'),
  'GET /v1/jobs/:id/timeline': ofJob('/timeline'),
  'GET /v1/jobs/:id/events': ofJob('/events', (db, owner) => endedJob(db, owner)), // it ends
  'GET /v1/tokens': ofUser('/v1/tokens'),
  'POST /v1/tokens': [
    {
      prepare: () =>
        Promise.resolve({
          path: '/v1/tokens',
          init: {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ name: 'a', scope: 'read' }),
          },
        }),
      none: 401,
      other: 201,
      owner: 201,
    },
  ],
  'DELETE /v1/tokens/:id': [
    {
      prepare: async ({ db }, owner) => ({
        path: `/v1/tokens/${(await ownToken(db, owner)).id}`,
        init: { method: 'DELETE' },
      }),
      none: 401,
      other: 404,
      owner: 204,
    },
  ],
  ...accessToWebhooks,
  'GET /:short_code/timeline': read((code) => `/${code}/timeline`),
  'GET /:short_code/history': read((code) => `/${code}/history`),
  'GET /:short_code/diff': madeFrom((code) => `/${code}/diff`),
  'GET /:short_code/files/*name': readFiles((code) => `/${code}/files/src/b`),
  'GET /:short_code/archive': readFiles((code) => `/${code}/archive`),
  'GET /:short_code/image': read((code) => `/${code}/image`),
  'GET /:short_code/new': read((code) => `/${code}/new`),
  'GET /:short_code/edit': edited(),
  'GET /:short_code/report': read((code) => `/${code}/report`),
  'POST /:short_code/report': report((code, api) => ({
    path: `/${code}/report`,
    init: ownForm(api.url, { reason: 'spam' }),
    status: 200,
  })),
  'GET /:short_code/change': withDeleteToken(200, (code) => ({ path: `/${code}/change` })),
  'POST /:short_code/change': withDeleteToken(303, (code, api) => ({
    path: `/${code}/change`,
    init: ownForm(api.url, { title: 'x', delete_token: 'the token' }),
  })),
  'POST /:short_code/delete': deletionByForm(),
  'GET /:short_code': read((code) => `/${code}`),
  'POST /:short_code': reveal((code) => `/${code}`),
};
