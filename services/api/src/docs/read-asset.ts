import type { Request } from 'express';
import { pagePolicyOf, type Asset } from '@pasteflow/web';
import { RequestError } from '../http/answers/request-error.ts';
import { pathOf } from '../http/request/request-context.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { assets } from '../http/pages/page.ts';

const workerPolicy = pagePolicyOf(null);

/**
 * GET /assets/:file: a file of the pages. Its name changes with its bytes, so that it is cached for a year.
 */
export const readAsset: Endpoint = {
  policy: { access: 'open' },
  handle: (req, res) => {
    const asset = assets.find(String(req.params.file));
    if (asset === null) {
      throw new RequestError('route_not_found', `There is no file ${pathOf(req)}. Reload the page.`);
    }
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

function encodedFor(
  req: Request,
  { bytes, brotli, gzip }: Asset,
): { readonly encoding: string | null; readonly bytes: Buffer } {
  if (brotli !== null && req.acceptsEncodings('br') === 'br') return { encoding: 'br', bytes: brotli };
  if (gzip !== null && req.acceptsEncodings('gzip') === 'gzip') return { encoding: 'gzip', bytes: gzip };
  return { encoding: null, bytes };
}
