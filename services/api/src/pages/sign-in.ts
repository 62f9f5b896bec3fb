import type { Request, Response } from 'express';
import { z } from 'zod';
import type { TokenGuesses } from '../admission/token-guesses.ts';
import type { BodyBudget } from '../budget/body-budget.ts';
import { validate, validationFailed } from '../http/errors/request-error.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { contextOf } from '../http/request/request-context.ts';
import { refusedAtSignIn } from '../identity/authorization.ts';
import type { TokenUser } from '../identity/identify.ts';
import { MAX_SESSION_TOKEN_LENGTH, type Sessions } from '../identity/sessions.ts';
import { setCookie } from '../openapi/answer-headers.ts';
import type { Endpoint, Handler } from '../openapi/endpoint.ts';
import type { Pages } from '../site/compose-site.ts';
import { ownPath } from '../site/own-path.ts';
import { exampleToken } from './example.ts';
import { formErrors, goTo, redirectOf } from './page-answers.ts';

export interface SignInDependencies {
  readonly sessions: Sessions;
  readonly guesses: TokenGuesses;
  readonly findUser: (token: string) => Promise<TokenUser | null>;
  readonly bodies: BodyBudget;
  readonly pages: Pages;
}

const form = z.strictObject({
  token: z.string().meta({ description: 'A token, as in the Authorization header.' }),
  next: z.string().optional().meta({ description: 'The path of the page to show afterwards.' }),
});

/** POST /session: signs a browser in with a token. It works without JavaScript. */
export function signInForm(deps: SignInDependencies): Endpoint {
  const signIn: Handler = async (req, res) => {
    deps.sessions.requireOwn(req);
    const fields = await readUrlForm(req, res, deps.bodies);
    const sent = validate(form, { token: '', ...fields });
    const token = sent.token.trim();
    const next = ownPath(sent.next ?? null, deps.pages.site(req).base);
    Object.assign(contextOf(req), { mustSignIn: true, afterSignIn: next });
    await requireGoodToken(deps, req, res, token);
    res.set('Set-Cookie', deps.sessions.begin(token));
    goTo(res, next);
  };
  return {
    operation: {
      operationId: 'signIn',
      tag: 'pages',
      access: 'anyone',
      ignoresSession: true,
      summary: 'Signs a browser in with a token, from the form of the page.',
      description:
        'Accepted only when the headers Sec-Fetch-Site and Origin of the browser name a page of the service.',
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: form,
            example: { token: exampleToken, next: '/my/pastes' },
          },
        },
      },
      answers: { 303: redirectOf('The browser is signed in.', { 'Set-Cookie': setCookie }) },
      errors: [...formErrors, 'unauthorized', 'cross_site_request'],
    },
    handle: signIn,
    page: signIn,
  };
}

/** @throws RequestError unauthorized, which counts as a guess; validation_failed for a token that no cookie can hold */
async function requireGoodToken(
  { guesses, findUser }: SignInDependencies,
  req: Request,
  res: Response,
  token: string,
): Promise<void> {
  if (token.length > MAX_SESSION_TOKEN_LENGTH) {
    const message = `must have at most ${MAX_SESSION_TOKEN_LENGTH} characters`;
    throw validationFailed([{ path: 'token', message }]);
  }
  if (!/^[\w.~+/-]+=*$/.test(token)) throw refusedAtSignIn();
  await guesses.counted(req, res, `Bearer ${token}`, async () => {
    if ((await findUser(token)) === null) throw refusedAtSignIn();
  });
}
