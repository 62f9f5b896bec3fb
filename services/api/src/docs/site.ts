import { hash } from 'node:crypto';
import type { Request } from 'express';
import { pagePolicyOf, type Asset, contactLink, styleguidePage } from '@pasteflow/web';
import { z } from 'zod';
import { RequestError } from '../http/answers/request-error.ts';
import { pathOf } from '../http/request/request-context.ts';
import { isKnownToClient } from '../http/request/conditional.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import type { ApiContext } from '../context.ts';

const workerPolicy = pagePolicyOf(null);

/**
 * GET /assets/:file: a file of the pages. Its name changes with its bytes, so that it is cached for a year.
 */
export function readAsset({ pages }: ApiContext): Endpoint {
  return {
    policy: { access: 'open' },
    handle: (req, res) => {
      const asset = pages.assets.find(String(req.params.file));
      if (asset === null)
        throw new RequestError('route_not_found', `There is no file ${pathOf(req)}. Reload the page.`);
      const { encoding, bytes } = encodedFor(req, asset);
      res.set({
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Security-Policy': workerPolicy, // a worker has the policy of its own file
        Vary: 'Accept-Encoding',
      });
      if (encoding !== null) res.set('Content-Encoding', encoding);
      res.type(asset.type).send(bytes);
    },
  };
}

/** An SVG may have its own colours for the dark, and nothing from elsewhere. */
const logoPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox; frame-ancestors 'none'";

/** GET /logo: that of the house. Its address stays when the operator has another one, so that it is cached for an hour. */
export function readLogo({ house }: ApiContext): Endpoint {
  return {
    policy: { access: 'open' },
    handle: (req, res) => {
      const { logo } = house;
      if (logo === null)
        throw new RequestError('route_not_found', 'The operator of this service has given it no logo.');
      const etag = `"${hash('sha256', logo.content)}"`;
      res.set({
        'Cache-Control': 'public, max-age=3600',
        'Content-Security-Policy': logoPolicy,
        ETag: etag,
      });
      if (isKnownToClient(req.headers['if-none-match'], etag)) res.status(304).end();
      else res.type(logo.type).send(logo.content);
    },
  };
}

function encodedFor(
  req: Request,
  { bytes, brotli, gzip }: Asset,
): { readonly encoding: string | null; readonly bytes: Buffer } {
  if (brotli !== null && req.acceptsEncodings('br') === 'br') return { encoding: 'br', bytes: brotli };
  if (gzip !== null && req.acceptsEncodings('gzip') === 'gzip') return { encoding: 'gzip', bytes: gzip };
  return { encoding: null, bytes };
}

/** RFC 9116, 2.5.5 recommends less than a year. */
const GOOD_FOR_MS = 30 * 86_400_000;

/** GET /.well-known/security.txt: whom to tell of a vulnerability (RFC 9116). */
export function securityTxt({ house }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readSecurityTxt',
      tag: 'operation',
      access: 'open',
      summary: 'Names whom to tell of a vulnerability.',
      description: 'RFC 9116. 404 where the house has no `links.abuse`.',
      answers: { 200: { description: 'The contact.', content: { 'text/plain': { schema: z.string() } } } },
      errors: ['route_not_found'],
    },
    handle: (_req, res) => {
      const { abuse } = house.links;
      if (abuse === null)
        throw new RequestError('route_not_found', 'The operator of this service has named no contact.');
      const expires = new Date(Date.now() + GOOD_FOR_MS).toISOString();
      res.type('text/plain').send(`Contact: ${contactLink(abuse)}\nExpires: ${expires}\n`);
    },
  };
}

/** GET /styleguide: every part of the pages in its states. Only in development. */
export function styleguide({ pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone' }, (req, res) => sendPage(res, styleguidePage(pages.site(req))));
}
