import { isUuid } from '@pasteflow/domain';
import { endOtherBrowserSessions, endOwnBrowserSession, listBrowserSessions } from '@pasteflow/postgres';
import { mySessionsPage } from '@pasteflow/web';
import type { Request } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { hashOfCaller, isFull, requireFull, requireUser } from '../http/callers/caller-of.ts';
import { hashOfSecret } from '../http/callers/secret.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import { goTo } from '../http/pages/page-answers.ts';

/** GET /my/sessions: the browsers in which the user is signed in. */
export function mySessions({ db, sessions, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const found = await listBrowserSessions(db, {
      userId: requireUser(req),
      secretHash: hashOfThis(sessions, req),
    });
    const shown = found.map(({ id, createdAt, lastUsedAt, expiresAt, tokenName, byInvitation, isThis }) => ({
      id,
      tokenName,
      byInvitation,
      isThis,
      begun: createdAt.toISOString(),
      lastUsed: (lastUsedAt ?? createdAt).toISOString(),
      ends: expiresAt.toISOString(),
    }));
    sendPage(res, mySessionsPage(pages.site(req), shown));
  });
}

const form = z.strictObject({
  session: z
    .string()
    .refine((text) => text === 'others' || isUuid(text), 'must be the id of a session, or others'),
});

/** POST /my/sessions/end: ends one session of the user, or all others. */
export function endMySessions({ db, sessions, pages, bodies }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    const { session } = validate(form, await readUrlForm(req, res, bodies));
    const whose = { userId, onlyOf: isFull(req) ? null : hashOfCaller(req) };
    if (session === 'others')
      await endOtherBrowserSessions(db, { ...whose, secretHash: hashOfThis(sessions, req) });
    else if (!(await endOwnBrowserSession(db, { ...whose, id: session }))) requireFull(req);
    goTo(res, `${pages.site(req).base}/my/sessions`);
  });
}

function hashOfThis(sessions: ApiContext['sessions'], req: Request): Buffer | null {
  const secret = sessions.secretOf(req);
  return secret === null ? null : hashOfSecret(secret);
}
