import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readQuery } from '../http/request/query.ts';
import { endSession } from './browser-sessions.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { ownPath } from '../http/pages/own-path.ts';
import { forgetUser, goTo } from '../http/pages/page-answers.ts';

const query = z.strictObject({
  next: z.string().optional(),
});

/**
 * POST /session/end: signs a browser out, and ends its session. The token with which it signed in stays good,
 * because programs may use it.
 */
export function signOut({ db, sessions, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    sessions.requireOwn(req);
    const { next } = readQuery(req, query);
    const { base } = pages.site(req);
    // Before the statement: the browser forgets the session even when Postgres does not answer.
    forgetUser(res, sessions, base);
    await endSession(db, sessions.heldBy(req));
    goTo(res, ownPath(next ?? `${base}/`, base));
  });
}
