import { exportFormats } from '@pasteflow/jobs';
import { eraseUser, isErased, readStoredUsage } from '@pasteflow/postgres';
import { accountErasedPage, myAccountPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { contextOf } from '../http/request/request-context.ts';
import { sessionEnded } from '../http/callers/authorization.ts';
import {
  hashOfCaller,
  isFull,
  requireFull,
  requireUser,
  namesOfUser,
  callerOf,
} from '../http/callers/caller-of.ts';
import { personOf, personSchema, subjectOf } from '../http/callers/person.ts';
import { type Endpoint, pageEndpoint, type Routes } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import { forgetUser } from '../http/pages/page-answers.ts';
import { callerKeyOf } from '../http/callers/caller.ts';
import { jsonResponse } from '../http/openapi/formats.ts';

/** GET /my/account: the name of the user, an export, and the erasure. */
function myAccount({ db, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const person = personOf(await namesOfUser(db, requireUser(req)));
    sendPage(res, myAccountPage(pages.site(req), { person, exportFormats, canErase: isFull(req) }));
  });
}

const form = z.strictObject({
  name: z.string(),
});

/** POST /my/account/erase: begins the erasure of the user. */
function eraseMyAccount({ db, pages, bodies, sessions }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    requireFull(req);
    const { name } = validate(form, await readUrlForm(req, res, bodies));
    const person = personOf(await namesOfUser(db, userId));
    if (name !== person.name) {
      const message = 'is not your name; type it exactly as the page shows it';
      contextOf(req).refusedForm = () =>
        myAccountPage(pages.site(req), { person, exportFormats, isRefused: true });
      throw new RequestError('validation_failed', `The name ${message}. Nothing was deleted.`, {
        errors: [{ path: 'name', message }],
      });
    }
    // While the form came, its token or session may have ended, or another request may have erased the user.
    if (!(await eraseUser(db, userId, hashOfCaller(req))) && !(await isErased(db, userId)))
      throw sessionEnded();
    const site = pages.site(req);
    forgetUser(res, sessions, site.base);
    sendPage(res, accountErasedPage({ ...site, viewer: null }));
  });
}

export const accountRoutes = (api: ApiContext): Routes => ({
  '/v1/usage': { GET: readUsage(api) },
  '/my/account': { GET: myAccount(api) },
  '/my/account/erase': { POST: eraseMyAccount(api) },
});

const figures = z.object({ used: z.int(), allowed: z.int() });

const usageSchema = z
  .object({
    user: z.string().nullable().meta({ description: 'The name of the caller. null: without a token.' }),
    person: personSchema
      .nullable()
      .meta({ description: 'What others are told of the caller. null: without a token.' }),
    pastes: figures.nullable().meta({ description: "Of the caller's pastes. null: no limit." }),
    stored_bytes: figures.nullable().meta({ description: 'Of their contents. null: no limit.' }),
    bytes_today: figures.nullable().meta({
      description:
        "Without a token: what the caller's address has sent since its day began. null: no limit, or a token.",
    }),
  })
  .meta({
    id: 'Usage',
    description: 'What the caller uses of each limit on what may be stored.',
    examples: [
      {
        user: 'alice',
        person: { name: 'alice', issuer: null },
        pastes: { used: 12, allowed: 1000 },
        stored_bytes: { used: 48_311, allowed: 100_000_000 },
        bytes_today: null,
      },
    ],
  });

type UsageView = z.output<typeof usageSchema>;

/** What a user has stored, as far as there are quotas. Costs no statement when there are none. */
export async function usageOfUser(
  { db, quotas }: ApiContext,
  userId: string,
): Promise<Pick<UsageView, 'pastes' | 'stored_bytes'>> {
  const { maxPastes = null, maxBytes = null } = quotas ?? {};
  if (maxPastes === null && maxBytes === null) return { pastes: null, stored_bytes: null };
  const { pastes, bytes } = await readStoredUsage(db, userId);
  return {
    pastes: maxPastes === null ? null : { used: pastes, allowed: maxPastes },
    stored_bytes: maxBytes === null ? null : { used: bytes, allowed: maxBytes },
  };
}

/** GET /v1/usage: who the caller is, what the caller uses, and what is allowed. */
function readUsage(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readMyUsage',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Returns who the caller is, what the caller has stored, and what is allowed.',
      description: 'A deleted paste counts until its content is removed, which takes a minute or two.',
      answers: { 200: jsonResponse('The figures.', usageSchema) },
      errors: ['dependency_unavailable'],
    },
    handle: async (req, res) => {
      const caller = callerOf(req);
      const names = caller.kind === 'user' ? await namesOfUser(api.db, caller.userId) : null;
      const usage: UsageView =
        caller.kind === 'user' && names !== null
          ? {
              user: subjectOf(names.userName),
              person: personOf(names),
              ...(await usageOfUser(api, caller.userId)),
              bytes_today: null,
            }
          : {
              user: null,
              person: null,
              pastes: null,
              stored_bytes: null,
              bytes_today: await api.limits.addressBytes(callerKeyOf(caller)),
            };
      res.json(usage);
    },
  };
}
