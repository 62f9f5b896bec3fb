// oxlint-disable-next-line typescript/triple-slash-reference -- the tests of other packages read this source without its project
/// <reference path="./oidc-provider.d.ts" />
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Provider } from 'oidc-provider';

const FORM = `<!doctype html><html lang="en"><title>Provider</title><form method="post">
<label>Name <input name="name" autofocus></label> <button>Continue</button> <button name="denied" value="yes">Cancel</button></form>`;

/** The page of the provider on which people type who they are. It asks for no password. */
export function answerSignInForm(provider: Provider, req: IncomingMessage, res: ServerResponse): void {
  if (req.method !== 'POST') {
    res.setHeader('Content-Type', 'text/html').end(FORM);
    return;
  }
  void finish(provider, req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
}

async function finish(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const fields = new URLSearchParams(await text(req));
  await provider.interactionFinished(
    req,
    res,
    fields.has('denied')
      ? { error: 'access_denied', error_description: '<b>No</b>' }
      : { login: { accountId: fields.get('name') ?? '' } },
  );
}
