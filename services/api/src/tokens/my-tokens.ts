import { listOwnTokens } from '@pasteflow/postgres';
import { myTokensPage } from '@pasteflow/web';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { sendPage } from '../http/pages/page.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { readQuery } from '../http/request/query.ts';
import { isFull, requireUser } from '../http/callers/caller-of.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { DEFAULT_TOKEN_SECONDS, makeToken, newTokenSchema, tokenName, tokenSeconds } from './make-token.ts';
import { exampleTokenId, revokeNamed } from './own-tokens.ts';
import { formErrors, goTo, pageOf, redirectOf } from '../http/pages/page-answers.ts';

async function sendTokens(
  { db, pages, maxTokenSeconds }: ApiContext,
  req: Request,
  res: Response,
  { name = '', made = null }: { name?: string | undefined; made?: { token: string; name: string } | null },
): Promise<void> {
  const tokens = await listOwnTokens(db, { userId: requireUser(req), tokenHash: null });
  const canRevoke = isFull(req);
  const shown = {
    tokens: tokens.map(({ createdAt, lastUsedAt, expiresAt, ...token }) => ({
      ...token,
      created: createdAt.toISOString(),
      lastUsed: lastUsedAt?.toISOString() ?? null,
      expires: expiresAt?.toISOString() ?? null,
    })),
    name,
    made,
    canRevoke,
    canMake: canRevoke && maxTokenSeconds > 0,
    maxSeconds: maxTokenSeconds,
    usualSeconds: DEFAULT_TOKEN_SECONDS,
  };
  sendPage(
    res,
    myTokensPage(pages.site(req), shown),
    { 'Cache-Control': 'private, no-store, no-transform' }, // a token, or the key of the form, which a token follows from
  );
}

const query = z.strictObject({
  name: tokenName.optional().meta({
    description: 'The name that the form proposes: a command line client names its machine.',
    param: { example: 'laptop' },
  }),
});

/** GET /my/tokens: the tokens of the user, and the form that makes one. */
export function myTokens(api: ApiContext): Endpoint {
  const show: Handler = (req, res) => sendTokens(api, req, res, readQuery(req, query));
  return {
    operation: {
      operationId: 'showMyTokens',
      tag: 'pages',
      access: 'user',
      summary: 'Shows the tokens of the user.',
      params: { query },
      answers: { 200: pageOf('The page.') },
      errors: ['validation_failed', 'dependency_unavailable'],
    },
    handle: show,
    page: show,
  };
}

const formKey = z
  .uuid('must be a UUID')
  .optional()
  .meta({ description: 'The form that is sent again with its key and its fields makes no other token.' });

/** The fields of a form are texts. */
const newForm = newTokenSchema.extend({
  expires_in: z.coerce.number().pipe(tokenSeconds),
  form_key: formKey,
});

/** POST /my/tokens: makes a token from the form of the page, and shows its secret; when it is reloaded, again. */
export function makeMyToken(api: ApiContext): Endpoint {
  const make: Handler = async (req, res) => {
    const { form_key: key = null, ...wanted } = validate(newForm, await readUrlForm(req, res, api.bodies));
    const { token } = await makeToken(api, req, wanted, key);
    await sendTokens(api, req, res, { made: { token, name: wanted.name } });
  };
  return {
    operation: {
      operationId: 'makeMyToken',
      tag: 'pages',
      access: 'user',
      summary: 'Makes a token of the user, from the form of the page.',
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: newTokenSchema.extend({ expires_in: z.string(), form_key: formKey }),
            example: { name: 'laptop', scope: 'write', expires_in: String(DEFAULT_TOKEN_SECONDS) },
          },
        },
      },
      answers: {
        200: pageOf(
          'The token is made. The page shows its secret. Only the same form with its key shows it again.',
        ),
      },
      errors: [...formErrors, 'token_limit_reached', 'token_not_found', 'dependency_unavailable'],
    },
    handle: make,
    page: make,
  };
}

const revokeForm = z.strictObject({ id: z.string().meta({ description: 'The id of the token.' }) });

/** POST /my/tokens/revoke */
export function revokeMyToken({ db, pages, bodies }: ApiContext): Endpoint {
  const revoke: Handler = async (req, res) => {
    const { id } = validate(revokeForm, await readUrlForm(req, res, bodies));
    await revokeNamed(db, req, id);
    goTo(res, `${pages.site(req).base}/my/tokens`);
  };
  return {
    operation: {
      operationId: 'revokeMyToken',
      tag: 'pages',
      access: 'user',
      summary: 'Revokes a token of the user, from the form of the page.',
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': { schema: revokeForm, example: { id: exampleTokenId } },
        },
      },
      answers: { 303: redirectOf('The token is revoked.') },
      errors: [...formErrors, 'token_not_found', 'dependency_unavailable'],
    },
    handle: revoke,
    page: revoke,
  };
}
