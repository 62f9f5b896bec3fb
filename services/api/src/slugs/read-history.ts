import { visibilities } from '@pasteflow/domain';
import { historyPage } from '@pasteflow/web';
import { z } from 'zod';
import { sendPage } from '../http/pages/page.ts';
import type { ApiContext } from '../context.ts';
import type { ApiEndpoint, Endpoint } from '../http/openapi/endpoint.ts';
import { instant, jsonResponse } from '../http/openapi/formats.ts';
import { example } from '../pastes/example.ts';
import { assertNotGone, findErrors, findNamedPaste, namedPaste } from '../pastes/find-named-paste.ts';
import { deletionBy } from '../pastes/paste-page.ts';
import { MAX_LISTED_VERSIONS, versionsOf } from '../pastes/paste-versions.ts';

const versionSchema = z
  .object({
    version: z
      .int()
      .positive()
      .meta({ description: 'From 1, the oldest. Versions that have ended leave gaps.' }),
    short_code: z.string(),
    title: z.string().nullable(),
    size_bytes: z.int().positive(),
    visibility: z.enum(visibilities),
    parent: z.string().nullable(),
    named_at: instant.meta({
      description: 'Since when the slug named this version; without a slug, when it was created.',
    }),
  })
  .meta({
    id: 'SlugVersion',
    description: 'A version of a paste.',
    examples: [
      {
        version: 2,
        short_code: example.childCode,
        title: example.title,
        size_bytes: Buffer.byteLength(example.content),
        visibility: 'unlisted',
        parent: example.shortCode,
        named_at: '2026-11-21T12:00:00.000Z',
      },
    ],
  });

const historySchema = z.object({ versions: z.array(versionSchema) }).meta({
  id: 'SlugHistory',
  description: `The newest ${MAX_LISTED_VERSIONS} versions that you can read, newest first.`,
});

/**
 * GET /v1/pastes/:short_code/history: the versions of a paste, by a slug or the code of any version. Only those
 * that the caller can read; of 1,000, the newest.
 */
export function readHistory(api: ApiContext): ApiEndpoint {
  return {
    operation: {
      operationId: 'readHistory',
      isShared: true,
      tag: 'pastes',
      access: 'anyone',
      summary: 'Lists the versions of a paste, newest first.',
      description:
        'They are the pastes that a slug has named or, without one, those that have superseded one another. Only versions that you can read are listed. A paste that is no version is its only one.',
      params: { path: namedPaste },
      answers: { 200: jsonResponse('The versions.', historySchema) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await findNamedPaste(api, req);
      assertNotGone(paste);
      const versions = await versionsOf(api.db, req, paste);
      const history: z.output<typeof historySchema> = {
        versions: versions.map(({ number: version, namedAt, ...of }) => ({
          version,
          ...of,
          named_at: namedAt.toISOString(),
        })),
      };
      res.json(history);
    },
  };
}

/** GET /:short_code/history: the versions of a paste; in a browser, as a page. */
export function historyAtShortUrl(api: ApiContext): Endpoint {
  const { operation, handle } = readHistory(api);
  return {
    operation: {
      ...operation,
      operationId: 'readHistoryByShortUrl',
      summary: 'Lists the versions of a paste, newest first; in a browser, as a page.',
    },
    handle,
    page: async (req, res) => {
      const paste = await findNamedPaste(api, req);
      assertNotGone(paste);
      const versions = await versionsOf(api.db, req, paste);
      const shown = versions.map(({ namedAt, ...of }) => ({ ...of, named_at: namedAt.toISOString() }));
      sendPage(
        res,
        historyPage(api.pages.site(req), { ...paste, mayEdit: deletionBy(paste, req) !== null }, shown),
      );
    },
  };
}
