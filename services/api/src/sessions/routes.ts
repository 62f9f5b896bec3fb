import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { chooseLanguage } from './choose-language.ts';
import { finishOidcSignIn, beginOidcSignIn } from './oidc-sign-in.ts';
import { showInvitation, takeInvitation } from './invitation.ts';
import { endMySessions, mySessions } from './my-sessions.ts';
import { showSignIn, signInForm, signOut } from './sign-in.ts';

export const sessionRoutes = (api: ApiContext): Routes => ({
  '/session': { GET: showSignIn(api), POST: signInForm(api) },
  '/session/oidc': { GET: beginOidcSignIn(api) },
  '/session/oidc/callback': { GET: finishOidcSignIn(api) },
  '/session/end': { POST: signOut(api) },
  '/invitation/:secret': { GET: showInvitation(api), POST: takeInvitation(api) },
  '/language': { POST: chooseLanguage(api) },
  '/my/sessions': { GET: mySessions(api) },
  '/my/sessions/end': { POST: endMySessions(api) },
});
