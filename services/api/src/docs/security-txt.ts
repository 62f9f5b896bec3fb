import { contactLink } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';

/** RFC 9116, 2.5.5 recommends less than a year. */
const GOOD_FOR_MS = 30 * 86_400_000;

/** GET /.well-known/security.txt: whom to tell of a vulnerability (RFC 9116). */
export function securityTxt({ pages }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readSecurityTxt',
      tag: 'operation',
      access: 'open',
      summary: 'Names whom to tell of a vulnerability.',
      description: 'RFC 9116. 404 without ABUSE_CONTACT.',
      answers: { 200: { description: 'The contact.', content: { 'text/plain': { schema: z.string() } } } },
      errors: ['route_not_found'],
    },
    handle: (req, res) => {
      const { abuseContact } = pages.site(req);
      if (abuseContact === null)
        throw new RequestError('route_not_found', 'The operator of this service has named no contact.');
      const expires = new Date(Date.now() + GOOD_FOR_MS).toISOString();
      res.type('text/plain').send(`Contact: ${contactLink(abuseContact)}\nExpires: ${expires}\n`);
    },
  };
}
