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
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { DEFAULT_TOKEN_SECONDS, makeToken, newTokenSchema, tokenName, tokenSeconds } from './make-token.ts';
import { revokeNamed } from './own-tokens.ts';
import { goTo } from '../http/pages/page-answers.ts';

async function sendTokens(
  { db, pages, house }: ApiContext,
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
    canMake: canRevoke && house.maxTokenSeconds > 0,
    maxSeconds: house.maxTokenSeconds,
    usualSeconds: DEFAULT_TOKEN_SECONDS,
  };
  sendPage(
    res,
    myTokensPage(pages.site(req), shown),
    { 'Cache-Control': 'private, no-store, no-transform' }, // a token, or the key of the form, which a token follows from
  );
}

const query = z.strictObject({
  name: tokenName.optional(),
});

/** GET /my/tokens: the tokens of the user, and the form that makes one. */
export function myTokens(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, (req, res) => sendTokens(api, req, res, readQuery(req, query)));
}

const formKey = z.uuid('must be a UUID').optional();

/** The fields of a form are texts. */
const newForm = newTokenSchema.extend({
  expires_in: z.coerce.number().pipe(tokenSeconds),
  form_key: formKey,
});

/** POST /my/tokens: makes a token from the form of the page, and shows its secret; when it is reloaded, again. */
export function makeMyToken(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { form_key: key = null, ...wanted } = validate(newForm, await readUrlForm(req, res, api.bodies));
    const { token } = await makeToken(api, req, wanted, key);
    await sendTokens(api, req, res, { made: { token, name: wanted.name } });
  });
}

const revokeForm = z.strictObject({ id: z.string() });

/** POST /my/tokens/revoke */
export function revokeMyToken({ db, pages, bodies }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { id } = validate(revokeForm, await readUrlForm(req, res, bodies));
    await revokeNamed(db, req, id);
    goTo(res, `${pages.site(req).base}/my/tokens`);
  });
}
