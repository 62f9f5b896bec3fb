import { isTerminal, pasteUpload } from '@pasteflow/domain';
import { lastEventId, streamAnswers, streamDescription } from '../live/live-documents.ts';
import type { Live } from '../live/live.ts';
import { openStream } from '../live/open-stream.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import {
  assertNotGone,
  findErrors,
  findNamedPaste,
  type FindDependencies,
  namedPaste,
  readerOf,
} from './find-named-paste.ts';

/** GET /v1/pastes/:short_code/events: the events of a paste until its upload has settled, as they happen. */
export function pasteEvents({ db, live }: FindDependencies & { live: Live }): Endpoint {
  return {
    operation: {
      operationId: 'streamPasteEvents',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Streams the events of a paste until its upload has settled.',
      description: streamDescription,
      params: { path: namedPaste, header: lastEventId },
      answers: streamAnswers,
      errors: [...findErrors, 'stream_unavailable'],
    },
    handle: (req, res) =>
      openStream(live, req, res, async () => {
        const paste = await findNamedPaste({ db }, req);
        assertNotGone(paste);
        const settled = isTerminal(pasteUpload, paste.status);
        return { kind: 'upload', id: paste.id, settled, audience: readerOf(paste, req) };
      }),
  };
}
