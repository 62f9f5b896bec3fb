import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';

const seconds = z.int();
const link = z.string().nullable();

const instanceSchema = z
  .object({
    name: z.string(),
    logo_url: link.meta({ description: 'An SVG or PNG image.' }),
    links: z
      .object({ imprint: link, privacy: link, terms: link, abuse: link })
      .meta({ description: '`abuse` is a URL or an email address, the others are URLs.' }),
    expiry: z
      .object({ default: seconds.nullable(), max: seconds, never: z.boolean() })
      .meta({ description: 'In seconds. `default` null: pastes are kept for ever unless a time is chosen.' }),
    anonymous: z
      .object({
        allowed: z.boolean(),
        max_expiry: seconds.nullable(),
        max_bytes: z.int().nullable(),
        burn_only: z.boolean(),
      })
      .meta({
        description:
          'Of pastes without a token. null: as of all pastes. With `max_expiry`, none is kept for ever, or for longer by default.',
      }),
    max_paste_bytes: z.int(),
    sign_in: z
      .array(z.enum(['token', 'oidc', 'invitation']))
      .meta({ description: 'How people sign in; programs send a token.' }),
  })
  .meta({ id: 'Instance', description: 'Who runs this service, and what new pastes may be.' });

type Instance = z.output<typeof instanceSchema>;

/** GET /v1/instance: the rules of the house, for programs. */
export function readInstance(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readInstance',
      isShared: true,
      tag: 'operation',
      access: 'open',
      summary: 'Says who runs this service, and what new pastes may be.',
      answers: {
        200: jsonResponse('What holds now; a cache may keep it for a minute.', instanceSchema),
      },
      errors: [],
    },
    handle: (_req, res) => {
      res.set('Cache-Control', 'public, max-age=60').json(instanceOf(api));
    },
  };
}

function instanceOf({ house, publicUrl, anonymousPastes, maxPasteBytes, provider }: ApiContext): Instance {
  const { name, logo, links, expiry, anonymous } = house;
  return {
    name,
    logo_url: logo && `${publicUrl()}/logo`,
    links,
    expiry,
    anonymous: {
      allowed: anonymousPastes === 'allow',
      max_expiry: anonymous.maxExpiry,
      max_bytes: anonymous.maxBytes,
      burn_only: anonymous.burnOnly,
    },
    max_paste_bytes: maxPasteBytes,
    sign_in: ['token', provider === null ? 'invitation' : 'oidc'],
  };
}
