import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Timeline } from '@pasteflow/client';
import { runOps, startCluster, type Cluster } from '../src/index.ts';

type OperatorsTimeline = {
  readonly [Part in keyof Timeline]: readonly (Omit<Timeline[Part][number], 'actor'> & {
    readonly actor: string;
    readonly worker_id: string | null;
    readonly error: string | null;
    readonly reason: string | null;
  })[];
};

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
  /** What \`npm run ops -- timeline\` shows: everything, also names of hosts and processes. */
  let ofOperators: OperatorsTimeline;
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
    ofOperators = JSON.parse(await runOps(cluster, 'timeline', code, '--json')) as OperatorsTimeline;
    [doomed = '', rescuer = ''] = [2, 3].map((index) => ofOperators.executions[index]?.worker_id ?? '');
  });

  it('has every transition, in order, with who made it and why', () => {
    const attempts = new Map(ofOperators.executions.map(({ id, attempt }) => [id, `attempt ${attempt}`]));
    const [janitor] = new Set(
      ofOperators.transitions.map(({ actor }) => actor).filter((actor) => actor.startsWith('janitor')),
    );
    expect(
      ofOperators.transitions.map(({ machine, entity, from, to, actor, reason }) => [
        attempts.get(entity) ?? machine,
        `${from} → ${to}`,
        actor,
        reason,
      ]),
    ).toEqual([
      ['attempt 1', 'PENDING → RUNNING', doomed, 'claimed'],
      ['attempt 1', 'RUNNING → FAILED', doomed, 'storage unavailable: S3 answered 500 InternalError'],
      ['attempt 2', 'PENDING → RUNNING', doomed, 'claimed'],
      ['attempt 2', 'RUNNING → FAILED', doomed, 'storage unavailable: S3 answered 500 InternalError'],
      ['attempt 3', 'PENDING → RUNNING', doomed, 'claimed'],
      ['attempt 3', 'RUNNING → FAILED', janitor, `worker lost: ${doomed}`],
      ['attempt 3', 'PENDING → RUNNING', rescuer, 'claimed'],
      ['attempt 3', 'RUNNING → SUCCEEDED', rescuer, null],
      ['paste_upload', 'IN_PROGRESS → PROCESSED', rescuer, null],
    ]);
    expect(rescuer).not.toBe(doomed);
    const times = ofOperators.transitions.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  });

  it('has every attempt: who ran it, from when to when, and what it ended with', () => {
    const error = 'storage unavailable: S3 answered 500 InternalError';
    expect(ofOperators.executions).toMatchObject([
      { attempt: 1, status: 'FAILED', worker_id: doomed, error },
      { attempt: 2, status: 'FAILED', worker_id: doomed, error },
      { attempt: 3, status: 'FAILED', worker_id: doomed, error: `worker lost: ${doomed}` },
      { attempt: 3, status: 'SUCCEEDED', worker_id: rescuer, error: null }, // a loss spends no attempt
    ]);
    let before = '';
    for (const {
      id,
      created_at,
      dispatched_at,
      started_at,
      finished_at,
      ...rest
    } of ofOperators.executions) {
      expect(dispatched_at).not.toBeNull();
      expect(rest.lease_expires_at).toBeNull();
      const times = [before, created_at, started_at ?? '', finished_at ?? ''];
      expect(times).toEqual(times.toSorted());
      const recorded = ofOperators.transitions.filter(({ entity }) => entity === id).map(({ at }) => at);
      // A transition is written when its statement ends, the row has the time of its beginning.
      expect([started_at! <= recorded[0]!, finished_at! <= recorded[1]!]).toEqual([true, true]);
      before = finished_at ?? '';
    }
  });

  it('is the same over HTTP, with classes instead of the actors and the reasons', async () => {
    const { transitions, executions } = ofOperators;
    const classes = new Map<string | null, string | null>([
      [null, null],
      ['claimed', 'claimed'],
      ['storage unavailable: S3 answered 500 InternalError', 'storage_unavailable'],
      [`worker lost: ${doomed}`, 'worker_lost'],
    ]);
    expect(timeline).toEqual({
      transitions: transitions.map(({ actor, reason, ...transition }) => ({
        ...transition,
        actor: actor.startsWith('janitor/') ? 'janitor' : 'worker',
        reason_class: classes.get(reason),
        reason: null,
      })),
      executions: executions.map(({ worker_id: _, error, ...execution }) => ({
        ...execution,
        error_class: classes.get(error),
        error: null,
      })),
    });
  });

  it('is what `npm run ops -- timeline` shows as text, too', async () => {
    const lines = (await runOps(cluster, 'timeline', code)).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^paste ${code} .* PROCESSED, NOT_EXPIRED$`));
    expect(lines.filter((line) => line.includes(' → '))).toHaveLength(1 + ofOperators.transitions.length);
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

    const { transitions } = JSON.parse(
      await runOps(cluster, 'timeline', code, '--json'),
    ) as OperatorsTimeline;
    const [session] = await cluster.rows.query<{ user: string }>('SELECT session_user AS user');
    const byHand = { machine: 'paste_deletion', actor: `${session!.user} (psql)`, reason: null };
    expect(transitions.slice(2)).toMatchObject([
      { machine: 'paste_upload', from: 'IN_PROGRESS', to: 'PROCESSED' },
      { ...byHand, from: 'NOT_EXPIRED', to: 'DELETION_IN_PROGRESS' },
      { ...byHand, from: 'DELETION_IN_PROGRESS', to: 'NOT_EXPIRED' },
    ]);
    const shown = await cluster.client().pastes.timeline(code);
    expect(shown.transitions.slice(3)).toMatchObject([{ actor: 'operator' }, { actor: 'operator' }]);
  });
});

/** As psql sends it, under the name that psql gives itself. */
async function psql(statement: string): Promise<void> {
  await cluster.rows.query(`SET LOCAL application_name = 'psql'; ${statement}`);
}
