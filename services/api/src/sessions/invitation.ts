import { acceptInvitation, findInvitation } from '@pasteflow/postgres';
import type { IdentityProvider } from '@pasteflow/http-kit/sign-in';
import { invitationAcceptedPage, invitationPage } from '@pasteflow/web';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { namesOfUser } from '../http/callers/caller-of.ts';
import { viewerOf } from '../http/callers/person.ts';
import { hashOfSecret, isSessionSecret, sessionSecretOf } from '../http/callers/secret.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';
import { isArrival } from '../http/request/arrival.ts';
import { contextOf } from '../http/request/request-context.ts';
import { endSession } from './browser-sessions.ts';
import { findSession } from './identify.ts';

/** Who has no other way to sign in would have to ask the operator every day. */
const SESSION_SECONDS = 30 * 24 * 3600;

/**
 * The address has the secret, which no Referer may repeat. Not `no-referrer`: the form would come with `Origin: null`,
 * which says nothing about its sender.
 */
const HEADERS = { 'Referrer-Policy': 'strict-origin' };

/** GET /invitation/SECRET: asks whether to sign in. It changes nothing, because previews of messages open links. */
export function showInvitation(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    const { userId, isOpen } = await find(api, req, res);
    if (!isOpen) {
      if (await isSignedInAs(api, req, userId)) return goTo(res, `${api.pages.site(req).base}/`);
      // The link stays in a message, from where browsers say only then who they are.
      if (isArrival(req, api.sessions.isOwn(req))) contextOf(req).goesOn = true;
      throw ended();
    }
    const { person } = viewerOf(await namesOfUser(api.db, userId));
    sendPage(res, invitationPage(api.pages.site(req), person), HEADERS);
  });
}

const form = z.strictObject({ form_key: z.uuid('must be a UUID') });

/**
 * POST /invitation/SECRET: signs the browser in, once, and ends its earlier session. The same form gets the same session
 * again, while it lasts, because its first answer may have been lost.
 */
export function takeInvitation(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    const { db, sessions, pages, useToken, bodies } = api;
    sessions.requireOwn(req);
    const { secretHash, ...found } = await find(api, req, res);
    const { form_key: key } = validate(form, await readUrlForm(req, res, bodies));
    if (!found.isOpen && (await isSignedInAs(api, req, found.userId)))
      return goTo(res, `${pages.site(req).base}/`); // another tab of this browser was first
    const secret = sessionSecretOf(key, String(req.params['secret']));
    const session = { sessionHash: hashOfSecret(secret), lastsSeconds: SESSION_SECONDS };
    const userId =
      (await acceptInvitation(db, { secretHash, ...session })) ??
      (await findSession(useToken, secret))?.userId;
    if (userId === undefined) throw ended();
    await endSession(db, sessions.heldBy(req));
    res.set('Set-Cookie', sessions.begin(secret, SESSION_SECONDS));
    const viewer = { id: userId, ...viewerOf(await namesOfUser(db, userId)), onlyReads: false };
    contextOf(req).viewer = viewer;
    sendPage(res.status(201), invitationAcceptedPage(pages.site(req), viewer.person), HEADERS);
  });
}

/** @throws RequestError invitation_not_found, which counts as a guess */
async function find(
  { db, guesses, provider }: ApiContext,
  req: Request,
  res: Response,
): Promise<{ readonly userId: string; readonly isOpen: boolean; readonly secretHash: Buffer }> {
  refuseBesideProvider(provider);
  const secret = String(req.params['secret']);
  if (!isSessionSecret(secret)) throw notFound();
  const secretHash = hashOfSecret(secret);
  const found = await guesses.counted(req, res, `Invitation ${secret}`, async () => {
    const invitation = await findInvitation(db, secretHash);
    if (invitation === null) throw notFound();
    return invitation;
  });
  return { userId: found.userId, isOpen: found.isOpen, secretHash };
}

/** Whether this browser is signed in as the one who was invited: then the invitation has done what it is for. */
async function isSignedInAs(
  { sessions, useToken }: ApiContext,
  req: Request,
  userId: string,
): Promise<boolean> {
  const secret = sessions.isOwn(req) ? sessions.heldBy(req) : null;
  return secret !== null && (await findSession(useToken, secret))?.userId === userId;
}

/** Who has left would stay signed in, although the provider knows the person no longer. */
function refuseBesideProvider(provider: IdentityProvider | null): void {
  if (provider === null) return;
  throw new RequestError(
    'invitation_not_found',
    'This service takes no invitations, because an identity provider signs people in. Open /session to sign in.',
  );
}

function notFound(): RequestError {
  return new RequestError(
    'invitation_not_found',
    'There is no invitation with this link. Check that you have all of it, or ask the operator of this service for another one.',
  );
}

function ended(): RequestError {
  return new RequestError(
    'invitation_ended',
    'This invitation is used, has expired, or another one has taken its place. Ask the operator of this service for another one.',
  );
}
