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

/** Whose a paste is, and who reads it. */
const kinds = {
  'an anonymous paste': () => ({}),
  'an unlisted paste': ({ id }) => ({ userId: id }),
  'a paste for members': ({ id }) => ({ userId: id, visibility: 'members' }),
  'a private paste': ({ id }) => ({ userId: id, visibility: 'private' }),
} as const satisfies Readonly<Record<string, (owner: TestUser) => Ownership>>;

type Kind = keyof typeof kinds;
type Prepare = (bed: ApiBed, owner: TestUser, ownership: Ownership) => ReturnType<AccessCase['prepare']>;

/**
 * A request for a paste of each kind.
 * @param statuses without Authorization, with another user's token, and with the owner's
 */
const forKinds = (
  prepare: Prepare,
  statuses: Readonly<Partial<Record<Kind, readonly [none: number, other: number, owner: number]>>>,
): AccessCase[] =>
  Object.entries(statuses).map(([about, [none, other, owner]]) => ({
    about,
    prepare: (bed, user) => prepare(bed, user, kinds[about as Kind](user)),
    none,
    other,
    owner,
  }));

/**
 * What everybody who can read a paste may do: everybody an unlisted one, those with a token one for members, and only
 * the owner a private one; for all others it is not found.
 */
const byReaders = (status: number) =>
  ({
    'an anonymous paste': [status, status, status],
    'an unlisted paste': [status, status, status],
    'a paste for members': [404, status, status],
    'a private paste': [404, 404, status],
  }) as const;

/** What only the owner may do; and everybody to an anonymous paste, whose delete token the request has. */
const byOwner = (status: number) =>
  ({
    'an anonymous paste': [status, status, status],
    'an unlisted paste': [401, 401, status],
    'a paste for members': [404, 401, status],
    'a private paste': [404, 404, status],
  }) as const;

/** A read of a paste. */
export const read = (
  pathOf: (shortCode: string) => string,
  options: Pick<Ownership, 'files'> = {},
  statuses: ReturnType<typeof byReaders | typeof byOwner> = byReaders(200),
): AccessCase[] =>
  forKinds(
    async (bed, _owner, ownership) => ({
      path: pathOf(await processedPaste(bed, 'content', { ...options, ...ownership })),
    }),
    statuses,
  );

/** A read of a paste of two files. */
export const readFiles = (pathOf: (shortCode: string) => string): AccessCase[] =>
  read(pathOf, {
    files: [
      { name: 'a', offset: 0, size: 3, syntax: null },
      { name: 'src/b', offset: 3, size: 4, syntax: null },
    ],
  });

/** The form for a newer version: that of an anonymous paste asks for the delete token. */
export const edited = (): AccessCase[] => read((code) => `/${code}/edit`, {}, byOwner(200));

/** A read of what a paste and its parent have in common, which have the same owner and readers. */
export const madeFrom = (pathOf: (shortCode: string) => string): AccessCase[] =>
  forKinds(async (bed, _owner, ownership) => {
    const parent = await processedPaste(bed, 'before', ownership);
    return { path: pathOf(await processedPaste(bed, 'content', { ...ownership, parent })) };
  }, byReaders(200));

const DELETE_TOKEN = { 'delete-token': 'the token' };

export const deletion = (): AccessCase[] => {
  const made =
    (headers: Record<string, string>): Prepare =>
    async ({ db }, _owner, ownership) => ({
      path: `/v1/pastes/${await newPaste(db, 'content', ownership)}`,
      init: { method: 'DELETE', headers },
    });
  return [
    ...forKinds(made({}), { 'an anonymous paste': [401, 401, 401] }),
    ...forKinds(made(DELETE_TOKEN), byOwner(204)),
  ];
};

/** Only its owner deletes a paste that has one. */
export const deletionByForm = (): AccessCase[] =>
  forKinds(async ({ db }, _owner, ownership) => {
    const body = new FormData();
    body.set('delete_token', 'the token');
    return { path: `/${await newPaste(db, 'content', ownership)}/delete`, init: { method: 'POST', body } };
  }, byOwner(200));

/** Only its owner does it to a paste that has one; the request has the delete token of one that has none. */
export const withDeleteToken = (
  status: number,
  requestOf: (shortCode: string, api: ApiBed['api']) => { path: string; init?: RequestInit },
): AccessCase[] =>
  forKinds(
    async ({ api, db }, _owner, ownership) => requestOf(await newPaste(db, 'content', ownership), api),
    byOwner(status),
  );

/** As a read, once for each caller. */
export const reveal = (pathOf: (shortCode: string) => string): AccessCase[] =>
  forKinds(
    async (bed, _owner, ownership) => ({
      path: pathOf(await processedPaste(bed, 'secret', { ...ownership, burn: true })),
      init: { method: 'POST' },
    }),
    byReaders(200),
  );

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
  return forKinds(
    async (bed, owner, ownership) => {
      const slug = `slug-${randomBytes(6).toString('hex')}`;
      const from = await processedPaste(bed, 'content', { ...ownership, slug });
      const to = await processedPaste(bed, 'newer', { userId: owner.id, parent: from });
      return requestOf(slug, { short_code: to, from }, bed.api);
    },
    {
      'an unlisted paste': [401, 401, status],
      'a paste for members': [401, 401, status],
      'a private paste': [401, 404, status],
    },
  );
};

/** A report of a paste: by everybody who can read the paste. */
export const report = (
  requestOf: (shortCode: string, api: ApiBed['api']) => { path: string; init: RequestInit; status: number },
): AccessCase[] => {
  const { status } = requestOf('x', { url: 'http://127.0.0.1' } as ApiBed['api']);
  const prepare: Prepare = async ({ api, db }, _owner, ownership) =>
    requestOf(await newPaste(db, 'content', ownership), api);
  return forKinds(prepare, byReaders(status));
};
