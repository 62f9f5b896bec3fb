import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Timeline } from '@pasteflow/client';
import { runOps, startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    env: { UPLOAD_RETRY_DELAYS_MS: '300,300,300,300,300', UPLOAD_RETRY_JITTER_MS: '0' },
  });
});
afterAll(() => cluster.stop());

describe('the timeline of a paste that failed twice, was taken over from a killed worker and then succeeded', () => {
  let code: string;
  let timeline: Timeline;
  let doomed: string;
  let rescuer: string;
  beforeAll(async () => {
    const put = { method: 'PUT', path: /\/pastes\// };
    const third = cluster.s3.hold(put);
    cluster.s3.rule(put, { kind: 'fail', status: 500 }, 2); // the newest rule goes first
    ({ short_code: code } = await cluster.client().pastes.create('some content'));
    const held = await third;
    const [worker] = cluster.workers;
    await cluster.add('upload-worker');
    await worker!.kill();
    held.drop();
    await cluster.untilStatus(code, 'PROCESSED', { within: 60_000 });
    timeline = await cluster.client().pastes.timeline(code);
    [doomed = '', rescuer = ''] = [2, 3].map((index) => timeline.executions[index]?.worker_id ?? '');
  });

  it('has every transition, in order, with who made it and why', () => {
    const attempts = new Map(timeline.executions.map(({ id, attempt }) => [id, `attempt ${attempt}`]));
    const [janitor] = new Set(
      timeline.transitions.map(({ actor }) => actor).filter((actor) => actor.startsWith('janitor')),
    );
    expect(
      timeline.transitions.map(({ machine, entity, from, to, actor, reason }) => [
        attempts.get(entity) ?? machine,
        `${from} → ${to}`,
        actor,
        reason,
      ]),
    ).toEqual([
      ['attempt 1', 'PENDING → RUNNING', doomed, 'claimed'],
      ['attempt 1', 'RUNNING → FAILED', doomed, 'S3 answered 500 InternalError'],
      ['attempt 2', 'PENDING → RUNNING', doomed, 'claimed'],
      ['attempt 2', 'RUNNING → FAILED', doomed, 'S3 answered 500 InternalError'],
      ['attempt 3', 'PENDING → RUNNING', doomed, 'claimed'],
      ['attempt 3', 'RUNNING → FAILED', janitor, `worker lost: ${doomed}`],
      ['attempt 3', 'PENDING → RUNNING', rescuer, 'claimed'],
      ['attempt 3', 'RUNNING → SUCCEEDED', rescuer, null],
      ['paste_upload', 'IN_PROGRESS → PROCESSED', rescuer, null],
    ]);
    expect(rescuer).not.toBe(doomed);
    const times = timeline.transitions.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  });

  it('has every attempt: who ran it, from when to when, and what it ended with', () => {
    expect(timeline.executions).toMatchObject([
      { attempt: 1, status: 'FAILED', worker_id: doomed, error: 'S3 answered 500 InternalError' },
      { attempt: 2, status: 'FAILED', worker_id: doomed, error: 'S3 answered 500 InternalError' },
      { attempt: 3, status: 'FAILED', worker_id: doomed, error: `worker lost: ${doomed}` },
      { attempt: 3, status: 'SUCCEEDED', worker_id: rescuer, error: null }, // a loss spends no attempt
    ]);
    let before = '';
    for (const { id, created_at, dispatched_at, started_at, finished_at, ...rest } of timeline.executions) {
      expect(dispatched_at).not.toBeNull();
      expect(rest.lease_expires_at).toBeNull();
      const times = [before, created_at, started_at ?? '', finished_at ?? ''];
      expect(times).toEqual(times.toSorted());
      const recorded = timeline.transitions.filter(({ entity }) => entity === id).map(({ at }) => at);
      // A transition is written when its statement ends, the row has the time of its beginning.
      expect([started_at! <= recorded[0]!, finished_at! <= recorded[1]!]).toEqual([true, true]);
      before = finished_at ?? '';
    }
  });

  it('is what `npm run ops -- timeline` shows, too', async () => {
    const { transitions, executions } = JSON.parse(
      await runOps(cluster, 'timeline', code, '--json'),
    ) as Timeline;
    expect({ transitions, executions }).toEqual(timeline);
    const lines = (await runOps(cluster, 'timeline', code)).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^paste ${code} .* PROCESSED, NOT_EXPIRED$`));
    expect(lines.filter((line) => line.includes(' → '))).toHaveLength(1 + timeline.transitions.length);
    expect(lines.find((line) => line.includes('worker lost'))).toMatch(
      / attempt 3 +RUNNING → FAILED +janitor\//,
    );
  });
});

describe('plain SQL', () => {
  it('is in the trail under its user and program, and what no table allows is refused and leaves nothing', async () => {
    const { short_code: code } = await cluster.client().pastes.create('more content');
    await cluster.untilStatus(code, 'PROCESSED');
    await psql(`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now()
      WHERE short_code = '${code}'`);
    await psql(`UPDATE pastes SET deletion_status = 'NOT_EXPIRED', deletion_initiated_at = NULL
      WHERE short_code = '${code}'`);
    await expect(
      psql(
        `UPDATE pastes SET status = 'IN_PROGRESS', s3_url = NULL, processed_at = NULL WHERE short_code = '${code}'`,
      ),
    ).rejects.toMatchObject({ code: 'PF001' });

    const { transitions } = await cluster.client().pastes.timeline(code);
    const [session] = await cluster.rows.query<{ user: string }>('SELECT session_user AS user');
    const byHand = { machine: 'paste_deletion', actor: `${session!.user} (psql)`, reason: null };
    expect(transitions.slice(2)).toMatchObject([
      { machine: 'paste_upload', from: 'IN_PROGRESS', to: 'PROCESSED' },
      { ...byHand, from: 'NOT_EXPIRED', to: 'DELETION_IN_PROGRESS' },
      { ...byHand, from: 'DELETION_IN_PROGRESS', to: 'NOT_EXPIRED' },
    ]);
  });
});

/** As psql sends it, under the name that psql gives itself. */
async function psql(statement: string): Promise<void> {
  await cluster.rows.query(`SET LOCAL application_name = 'psql'; ${statement}`);
}
