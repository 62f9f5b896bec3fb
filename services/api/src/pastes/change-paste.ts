import type { Request } from 'express';
import { type House, longestExpiry, mayStayForEver, MIN_EXPIRY_SECONDS } from '@pasteflow/domain';
import {
  changePaste as changeInPostgres,
  type ChangeOutcome,
  type PasteChanges,
  type PasteRow,
} from '@pasteflow/postgres';
import { changeFields } from '@pasteflow/service-kit';
import { changePage, SHOWN_BEFORE } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonBodyErrors, readJson } from '../http/body/json-body.ts';
import { readUrlForm, type UrlForm } from '../http/body/url-form.ts';
import { RequestError, validate, validationFailed } from '../http/answers/request-error.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import { hashOfSecret } from '../http/callers/secret.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { goTo } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';
import { contextOf } from '../http/request/request-context.ts';
import { assertMayDelete, assertMayDeleteByForm, withDeleteToken } from './delete-paste.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  findNamedPaste,
  namedPaste,
  pasteGone,
  pasteNotFound,
  readerOf,
} from './find-named-paste.ts';
import { newestVersionOf } from './paste-versions.ts';
import { pasteSchema, viewOf } from './paste-view.ts';

const TIME_RULE = 'must be a time such as "2026-12-31T23:59:59Z", or null for a paste that never expires';

/** RFC 3339. */
const expiresAt = z
  .string(TIME_RULE)
  .refine((text) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)), TIME_RULE)
  .meta({ format: 'date-time' })
  .nullable();
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

const exampleChange = { title: 'Greeting for all', expires_in: '7d' };

const changesSchema = z
  .strictObject({
    title: changeFields.title.meta({ description: 'One line of text. null or empty: none.' }),
    syntax: changeFields.syntax.meta({
      description:
        'The language of the content. null or empty: none. A paste with several files has none: each file has its own.',
    }),
    visibility: changeFields.visibility.meta({
      description: 'Who can read the paste. A paste without an owner cannot be private.',
    }),
    expires_in: changeFields.expires_in.meta({
      description: 'From now: whole seconds, a time such as 10m, 12h, 7d or 4w, or never.',
    }),
    expires_at: expiresAt.optional().meta({
      description: 'In place of expires_in: when the paste expires; null: never.',
    }),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    message: 'must name a field to change: title, syntax, visibility, expires_in or expires_at',
    when: ({ issues }) => issues.length === 0,
  })
  .refine((changes) => changes.expires_in === undefined || changes.expires_at === undefined, {
    path: ['expires_at'],
    message: 'must not be sent together with expires_in',
  })
  .meta({
    id: 'PasteChanges',
    description: 'What is changed of a paste; a field that is left out stays.',
    examples: [exampleChange],
  });

type Changes = z.output<typeof changesSchema>;

/** A title of 200 characters, with escapes, and the other fields. */
const MAX_CHANGE_BYTES = 4096;

/** PATCH /v1/pastes/:short_code: changes what a paste has beside its content. */
export function changePaste(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'changePaste',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Changes the title, the language, the readers or the expiry of a paste.',
      description:
        'Needs a token of the owner or, for an anonymous paste, its delete_token. The content never changes. Of two changes of one field the ' +
        'later one stays. A paste that has expired or was deleted does not come back, and one that reports hold is not changed.',
      params: { path: namedPaste, header: withDeleteToken },
      body: {
        required: true,
        content: { 'application/json': { schema: changesSchema, example: exampleChange } },
      },
      answers: { 200: jsonResponse('The paste as it is now.', pasteSchema) },
      errors: [...findErrors, ...jsonBodyErrors],
    },
    handle: async (req, res) => {
      const limit = { what: 'the changes', maxBytes: MAX_CHANGE_BYTES, budget: api.bodies, weight: 1 };
      const changes = await readJson(req, res, changesSchema, limit);
      const paste = await findChangeable(api, req);
      assertMayDelete(paste, req, req.get('Delete-Token'));
      await change(api, req, paste, changes, req.get('Delete-Token'));
      // Its slug may name another one since. Also a paste that is gone since was changed: 410 would deny it.
      const changed = await findEvenHeld(api, req, paste.short_code);
      if (changed === null) throw pasteGone();
      const newest = await newestVersionOf(api.db, req, changed);
      res.json(viewOf(changed, api.publicUrl(), readerOf(changed, req), newest));
    },
  };
}

/** @throws RequestError for a paste that is not there, or has no content */
async function findChangeable(api: ApiContext, req: Request, name?: string): Promise<PasteRow> {
  const paste = await findEvenHeld(api, req, name);
  if (paste?.status === 'FAILED') throw pasteNotFound();
  assertNotGone(paste);
  return paste;
}

/** The statement decides, also who may change the paste. @throws RequestError for each reason not to change it */
async function change(
  api: ApiContext,
  req: Request,
  paste: PasteRow,
  { expires_in: expiresIn, expires_at: at, ...fields }: Changes,
  deleteToken: string | undefined,
): Promise<void> {
  if (paste.files !== null && (fields.syntax ?? null) !== null)
    throw validationFailed([{ path: 'syntax', message: 'must be empty: each file has a syntax of its own' }]);
  const isForEver = expiresIn === 'never' || at === null;
  const expires = {
    ...(isForEver && { expires: null }),
    ...(typeof expiresIn === 'number' && { expires: { inSeconds: expiresIn } }),
    ...(typeof at === 'string' && { expires: { at: new Date(at) } }),
  };
  if (breaksRule(api.house, paste, expires.expires))
    throw wrongExpiry(api.house, paste, at === undefined ? 'expires_in' : 'expires_at');
  const outcome = await changeInPostgres(
    api.db,
    paste.id,
    { ...fields, ...expires },
    {
      userId: userIdOf(req),
      deleteTokenHash: deleteToken === undefined ? null : hashOfSecret(deleteToken),
      actor: api.actor,
    },
  );
  if (outcome !== 'changed') throw await refusalOf(api, req, paste, outcome, fields);
}

/** Whether a change breaks the rules of the house. A paste may keep the time that it has. */
function breaksRule(house: House, paste: PasteRow, expires: PasteChanges['expires']): boolean {
  const isAnonymous = paste.user_id === null;
  if (expires === undefined) return false;
  if (expires === null) return paste.expires_at !== null && !mayStayForEver(house, isAnonymous);
  const seconds = 'at' in expires ? (expires.at.getTime() - Date.now()) / 1000 : expires.inSeconds;
  const stays = 'at' in expires && expires.at.getTime() === paste.expires_at?.getTime();
  return !stays && seconds > longestExpiry(house, isAnonymous);
}

function wrongExpiry(house: House, { user_id }: PasteRow, path: 'expires_in' | 'expires_at'): RequestError {
  const isAnonymous = user_id === null;
  const never = mayStayForEver(house, isAnonymous)
    ? `, or ${path === 'expires_in' ? '"never"' : 'null'}`
    : '';
  const longest = longestExpiry(house, isAnonymous);
  return validationFailed([
    { path, message: `must be from ${MIN_EXPIRY_SECONDS} to ${longest} seconds from now${never}` },
  ]);
}

async function refusalOf(
  api: ApiContext,
  req: Request,
  paste: PasteRow,
  outcome: Exclude<ChangeOutcome, 'changed'>,
  fields: Pick<Changes, 'title' | 'syntax'>,
): Promise<RequestError> {
  switch (outcome) {
    case 'held':
      return new RequestError(
        'paste_held',
        'Reports hold this paste. It can be changed once an operator of this service has judged them.',
      );
    case 'encrypted':
      return validationFailed(
        (['title', 'syntax'] as const)
          .filter((path) => (fields[path] ?? null) !== null)
          .map((path) => ({
            path,
            message: 'must be empty for an encrypted paste, because the server could read it',
          })),
      );
    case 'ownerless':
      return validationFailed([
        { path: 'visibility', message: 'must be unlisted: the paste has no owner who could read it' },
      ]);
    case 'expiry':
      return wrongExpiry(api.house, paste, 'expires_at');
    case 'forbidden': // its owner was erased meanwhile
    case 'failed':
    case 'gone':
      await findChangeable(api, req, paste.short_code);
      return pasteGone(); // it was replaced, or its owner was erased, meanwhile
    default:
      return outcome satisfies never;
  }
}

/** GET /:short_code/change: the form for the owner, or for who has the delete token. It works without JavaScript. */
export function showChangeForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const paste = await findNamedPaste(api, req);
    if (paste?.status === 'FAILED') throw pasteNotFound();
    assertNotGone(paste);
    if (paste.user_id !== null) assertMayDelete(paste, req, undefined);
    sendPage(res, changePage(api.pages.site(req), shownOf(paste)));
  });
}

/** POST /:short_code/change: changes the paste by the form, and goes to it. A refused form keeps what was entered. */
export function changeFromForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const form = await readUrlForm(req, res, api.bodies);
    const paste = await findChangeable(api, req);
    if (paste.user_id === null || paste.user_id === userIdOf(req))
      contextOf(req).refusedForm = (problem) =>
        GONE.has(problem.code)
          ? null
          : changePage(api.pages.site(req), shownOf(paste), {
              fields: new Map(Object.entries(form)),
              problem,
            });
    const deleteToken = validate(z.string('must be a text').optional(), form['delete_token']);
    assertMayDeleteByForm(paste, req, deleteToken);
    await change(api, req, paste, validate(changesSchema, changedOf(form)), deleteToken);
    goTo(res, `${api.pages.site(req).base}/${paste.short_code}`);
  });
}

const GONE: ReadonlySet<string> = new Set(['paste_not_found', 'paste_gone']);

function shownOf(paste: PasteRow): Parameters<typeof changePage>[1] {
  const { short_code, title, syntax, visibility, encrypted, expires_at } = paste;
  const isAnonymous = paste.user_id === null;
  const expires = expires_at?.toISOString() ?? null;
  const hasFiles = paste.files !== null;
  return { short_code, title, syntax, visibility, encrypted, hasFiles, isAnonymous, expires_at: expires };
}

/** The fields that differ from what the form has shown: another one may have changed the rest meanwhile. */
function changedOf(form: UrlForm): UrlForm {
  const changed = Object.entries(form).filter(
    ([name, value]) =>
      name !== 'delete_token' &&
      !name.startsWith(SHOWN_BEFORE) &&
      value !== (name === 'expires_in' ? '' : form[SHOWN_BEFORE + name]),
  );
  return Object.fromEntries(changed);
}
