import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Timeline } from '@pasteflow/client';
import { findWrongTrails } from '../src/campaign/verify.ts';
import { runOps, startCluster, type Cluster } from '../src/index.ts';

type OperatorsTimeline = {
  readonly [Part in keyof Timeline]: readonly (Omit<Timeline[Part][number], 'actor'> & {
    readonly actor: string;
    readonly worker_id: string | null;
    readonly rescued_by: string | null;
    readonly rescue_reason: string | null;
    readonly error: string | null;
    readonly reason: string | null;
  })[];
};

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      UPLOAD_RETRY_DELAYS_MS: '300,300,300,300,300',
      S3_PUT_TIMEOUT_MS: '60000', // a held put waits while a busy machine starts a worker
    },
  });
});
afterAll(() => cluster.stop());

describe('the timeline of a paste with two failed attempts, one of a killed worker, and a successful one', () => {
  let code: string;
  let timeline: Timeline;
  /** The output of `npm run ops -- timeline`, with the names of hosts and processes. */
  let ofOperators: OperatorsTimeline;
  let killed: string;
  let successor: string;
  beforeAll(async () => {
    const put = { method: 'PUT', path: /\/pastes\// };
    const third = cluster.s3.hold(put);
    cluster.s3.rule(put, { kind: 'fail', status: 500 }, 2); // the newest rule applies first
    ({ short_code: code } = await cluster.client().pastes.create('some content'));
    const held = await third;
    const [worker] = cluster.workers;
    await cluster.add('upload-worker');
    await worker!.kill();
    held.drop();
    await cluster.untilStatus(code, 'PROCESSED', { within: 60_000 });
    timeline = await cluster.client().pastes.timeline(code);
    ofOperators = JSON.parse(await runOps(cluster, 'timeline', code, '--json')) as OperatorsTimeline;
    [killed = '', successor = ''] = [2, 3].map((index) => ofOperators.executions[index]?.worker_id ?? '');
  });

  it('has every transition in order, with actor and reason', () => {
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
      ['attempt 1', 'PENDING → RUNNING', killed, 'claimed'],
      ['attempt 1', 'RUNNING → FAILED', killed, 'storage unavailable: S3 answered 500 InternalError'],
      ['attempt 2', 'PENDING → RUNNING', killed, 'claimed'],
      ['attempt 2', 'RUNNING → FAILED', killed, 'storage unavailable: S3 answered 500 InternalError'],
      ['attempt 3', 'PENDING → RUNNING', killed, 'claimed'],
      ['attempt 3', 'RUNNING → FAILED', janitor, `worker lost: ${killed}`],
      ['attempt 3', 'PENDING → RUNNING', successor, 'claimed'],
      ['attempt 3', 'RUNNING → SUCCEEDED', successor, null],
      ['paste_upload', 'IN_PROGRESS → PROCESSED', successor, null],
    ]);
    expect(successor).not.toBe(killed);
    const times = ofOperators.transitions.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  });

  it('has every attempt, with worker, times and error', () => {
    const error = 'storage unavailable: S3 answered 500 InternalError';
    expect(ofOperators.executions).toMatchObject([
      { attempt: 1, status: 'FAILED', worker_id: killed, error },
      { attempt: 2, status: 'FAILED', worker_id: killed, error },
      { attempt: 3, status: 'FAILED', worker_id: killed, error: `worker lost: ${killed}` },
      { attempt: 3, status: 'SUCCEEDED', worker_id: successor, error: null }, // a loss spends no attempt
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
      // The row has the time at which the statement began, and the transition the time at which it was
      // written.
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
      [`worker lost: ${killed}`, 'worker_lost'],
    ]);
    expect(timeline).toEqual({
      retries: [],
      transitions: transitions.map(({ actor, reason, ...transition }) => ({
        ...transition,
        actor: actor.startsWith('janitor/') ? 'janitor' : 'worker',
        reason_class: classes.get(reason),
        reason: null,
      })),
      executions: executions.map(
        ({ worker_id: _w, rescued_by: _b, rescue_reason: _r, error, ...execution }) => ({
          ...execution,
          error_class: classes.get(error),
          error: null,
        }),
      ),
    });
  });

  it('is the same as text from `npm run ops -- timeline`', async () => {
    const lines = (await runOps(cluster, 'timeline', code)).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^paste ${code} .* PROCESSED, NOT_EXPIRED$`));
    expect(lines.filter((line) => line.includes(' → '))).toHaveLength(1 + ofOperators.transitions.length);
    expect(lines.find((line) => line.includes('worker lost'))).toMatch(
      / attempt 3 +RUNNING → FAILED +janitor\//,
    );
  });

  it('is a trace of the model, and is none when a failure of S3 spent no attempt', async () => {
    expect(await findWrongTrails(cluster.rows)).toEqual([]);
    const { id } = ofOperators.executions[1]!;
    await cluster.rows.query('UPDATE task_executions SET attempt = 1 WHERE id = $1', [id]);
    expect(await findWrongTrails(cluster.rows)).toEqual([
      expect.stringContaining(
        `the trail of paste ${code} is no trace of the model: execution 2 (attempt 1, `,
      ),
    ]);
    await cluster.rows.query('UPDATE task_executions SET attempt = 2 WHERE id = $1', [id]);
  });
});

describe('plain SQL', () => {
  it('is recorded with its user and program; an invalid transition is refused and not recorded', async () => {
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

/** Runs a statement under the application_name of psql. */
async function psql(statement: string): Promise<void> {
  await cluster.rows.query(`SET LOCAL application_name = 'psql'; ${statement}`);
}
