import { isTerminal, job } from '@pasteflow/domain';
import type { Database } from '@pasteflow/postgres';
import { lastEventId, streamAnswers, streamDescription } from '../live/live-documents.ts';
import type { Live } from '../live/live.ts';
import { openStream } from '../live/open-stream.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';

/** GET /v1/jobs/:id/events: the events of a job until its end, as they happen. */
export function jobEvents({ db, live }: { db: Database; live: Live }): Endpoint {
  return {
    operation: {
      operationId: 'streamJobEvents',
      tag: 'jobs',
      access: 'user',
      summary: 'Streams the events of a job until its end.',
      description: streamDescription,
      params: { path: namedJob, header: lastEventId },
      answers: streamAnswers,
      errors: [...findErrors, 'stream_unavailable'],
    },
    handle: (req, res) =>
      openStream(live, req, res, async () => {
        const { id, status } = await findNamedJobBrief(db, req);
        return { kind: 'job', id, settled: isTerminal(job, status), audience: 'owner' };
      }),
  };
}
