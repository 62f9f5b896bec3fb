import { randomBytes } from 'node:crypto';
import type { Database } from '@pasteflow/postgres';
import type { ApiBed } from './api.ts';
import { ownForm } from './http.ts';
import { newJob } from './jobs.ts';
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
export const open = (path: string): AccessCase[] => [
  { prepare: () => Promise.resolve({ path }), none: 200, other: 200, owner: 200 },
];

/** A form that everybody may send. */
export const openForm = (path: string, fields: Readonly<Record<string, string>>): AccessCase[] => [
  {
    prepare: ({ api }) => Promise.resolve({ path, init: ownForm(api.url, fields) }),
    none: 303,
    other: 303,
    owner: 303,
  },
];

export const missing = (path: string): AccessCase[] => [
  { prepare: () => Promise.resolve({ path }), none: 404, other: 404, owner: 404 },
];

/** A POST of content, for everybody or only for users. */
export const creation = (path: string): AccessCase[] => [
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
export const read = (
  pathOf: (shortCode: string) => string,
  options: Pick<Ownership, 'files'> = {},
): AccessCase[] => {
  const stored = (ownershipOf: (owner: TestUser) => Ownership) => async (bed: ApiBed, owner: TestUser) => ({
    path: pathOf(await processedPaste(bed, 'content', { ...options, ...ownershipOf(owner) })),
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

/** A read of a paste of two files. */
export const readFiles = (pathOf: (shortCode: string) => string): AccessCase[] =>
  read(pathOf, {
    files: [
      { name: 'a', offset: 0, size: 3, syntax: null },
      { name: 'src/b', offset: 3, size: 4, syntax: null },
    ],
  });

/** The form for a newer version: that of an anonymous paste asks for the delete token. */
export const edited = (): AccessCase[] =>
  read((code) => `/${code}/edit`).map((each) =>
    each.about === 'an unlisted paste' ? { ...each, none: 401, other: 401 } : each,
  );

/**
 * A read of what a paste and its parent have in common, which have the same owner and readers: everybody
 * reads an unlisted one, only the owner a private one; for all others it is not found.
 */
export const madeFrom = (pathOf: (shortCode: string) => string): AccessCase[] => {
  const stored = (ownershipOf: (owner: TestUser) => Ownership) => async (bed: ApiBed, owner: TestUser) => ({
    path: pathOf(
      await processedPaste(bed, 'content', {
        ...ownershipOf(owner),
        parent: await processedPaste(bed, 'before', ownershipOf(owner)),
      }),
    ),
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

export const deletion = (): AccessCase[] => {
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
export const deletionByForm = (): AccessCase[] => {
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

/** Only its owner does it to a paste that has one; the request has the delete token of one that has none. */
export const withDeleteToken = (
  status: number,
  requestOf: (shortCode: string, api: ApiBed['api']) => { path: string; init?: RequestInit },
): AccessCase[] => {
  const made = (ownershipOf: (owner: TestUser) => Ownership) => async (bed: ApiBed, owner: TestUser) =>
    requestOf(await newPaste(bed.db, 'content', ownershipOf(owner)), bed.api);
  return [
    { about: 'an anonymous paste', prepare: made(() => ({})), none: status, other: status, owner: status },
    {
      about: 'an unlisted paste',
      prepare: made(({ id }) => ({ userId: id })),
      none: 401,
      other: 401,
      owner: status,
    },
    {
      about: 'a private paste',
      prepare: made(({ id }) => ({ userId: id, visibility: 'private' })),
      none: 404,
      other: 404,
      owner: status,
    },
  ];
};

/** As a read, once for each caller. */
export const reveal = (pathOf: (shortCode: string) => string): AccessCase[] => {
  const made = (ownershipOf: (owner: TestUser) => Ownership) => async (bed: ApiBed, owner: TestUser) => ({
    path: pathOf(await processedPaste(bed, 'secret', { ...ownershipOf(owner), burn: true })),
    init: { method: 'POST' },
  });
  return [
    { about: 'an anonymous paste', prepare: made(() => ({})), none: 200, other: 200, owner: 200 },
    {
      about: 'an unlisted paste',
      prepare: made(({ id }) => ({ userId: id })),
      none: 200,
      other: 200,
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

export const ofUser = (path: string): AccessCase[] => [
  { prepare: () => Promise.resolve({ path }), none: 401, other: 200, owner: 200 },
];

/** A user may have three open exports, and any number of imports. */
const newImport = (db: Database, owner: TestUser) => newJob(db, owner, 'import');

/** Of a job: only its owner sees it. */
export const ofJob = (rest: string, make: typeof newJob = newImport): AccessCase[] => [
  {
    prepare: async ({ db }, owner) => ({ path: `/v1/jobs/${await make(db, owner)}${rest}` }),
    none: 401,
    other: 403,
    owner: 200,
  },
];

/** Of a job: only its owner may do it. @param owner the status that the owner gets */
export const actOnJob = (owner: number, prepare: AccessCase['prepare']): AccessCase[] => [
  { prepare, none: 401, other: 403, owner },
];

/** A move of a slug: by its owner, and a private paste has none for others. */
export const slugMove = (
  requestOf: (
    slug: string,
    move: { short_code: string; from: string },
    api: ApiBed['api'],
  ) => { path: string; init: RequestInit; status: number },
): AccessCase[] => {
  const { status } = requestOf('', { short_code: '', from: '' }, {
    url: 'http://127.0.0.1',
  } as ApiBed['api']);
  const prepare = (visibility: 'unlisted' | 'private') => async (bed: ApiBed, owner: TestUser) => {
    const slug = `slug-${randomBytes(6).toString('hex')}`;
    const from = await processedPaste(bed, 'content', { userId: owner.id, visibility, slug });
    const to = await processedPaste(bed, 'newer', { userId: owner.id, parent: from });
    return requestOf(slug, { short_code: to, from }, bed.api);
  };
  return [
    { about: 'an unlisted paste', prepare: prepare('unlisted'), none: 401, other: 401, owner: status },
    { about: 'a private paste', prepare: prepare('private'), none: 401, other: 404, owner: status },
  ];
};

/** A report of a paste: by everybody who can read the paste. */
export const report = (
  requestOf: (shortCode: string, api: ApiBed['api']) => { path: string; init: RequestInit; status: number },
): AccessCase[] => {
  const { status } = requestOf('x', { url: 'http://127.0.0.1' } as ApiBed['api']);
  const prepare = (visibility: 'unlisted' | 'private') => async (bed: ApiBed, owner: TestUser) =>
    requestOf(await newPaste(bed.db, 'content', { userId: owner.id, visibility }), bed.api);
  return [
    { about: 'an unlisted paste', prepare: prepare('unlisted'), none: status, other: status, owner: status },
    { about: 'a private paste', prepare: prepare('private'), none: 404, other: 404, owner: status },
  ];
};
