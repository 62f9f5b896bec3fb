import { randomUUID } from 'node:crypto';
import { missing, ofUser, openForm, type AccessCase } from './access-cases.ts';
import { ownForm } from './http.ts';
import { newInvitation } from './users.ts';

/** The endpoints with which people sign in, and those of their sessions. */
export const accessToSessions: Readonly<Record<string, readonly AccessCase[]>> = {
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
  'POST /session/end': openForm('/session/end', {}),
  'GET /invitation/:secret': [
    {
      prepare: async ({ db }, { id }) => ({ path: `/invitation/${await newInvitation(db, id)}` }),
      none: 200,
      other: 200,
      owner: 200,
    },
  ],
  'POST /invitation/:secret': [
    {
      prepare: async ({ api, db }, { id }) => ({
        path: `/invitation/${await newInvitation(db, id)}`,
        init: ownForm(api.url, { form_key: randomUUID() }),
      }),
      none: 201,
      other: 201,
      owner: 201,
    },
  ],
  'POST /language': openForm('/language', { language: 'de', next: '/' }),
  'GET /my/sessions': ofUser('/my/sessions'),
  'POST /my/sessions/end': [
    {
      prepare: ({ api }) =>
        Promise.resolve({ path: '/my/sessions/end', init: ownForm(api.url, { session: 'others' }) }),
      none: 401,
      other: 303,
      owner: 303,
    },
  ],
};
