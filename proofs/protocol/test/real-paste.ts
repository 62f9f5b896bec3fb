import { decideNextStep, type AttemptCount } from '@pasteflow/domain';
import type { Action, ActionName, Rules, State } from '../src/index.ts';
import { sql } from 'kysely';
import {
  claimExecutions,
  claimExpired,
  claimOldFailed,
  createPaste,
  findOverdue,
  findStranded,
  findUndispatched,
  findZombies,
  releaseClaims,
  removeFailed,
  removeTombstones,
  renewLeases,
  requestDeletion,
  rescueStranded,
  resetStuckDeletions,
  retryFailed,
  settleDeleted,
  settleExecutions,
  stampDispatched,
  uploadSubject,
  type ClaimedDeletion,
  type Database,
  type UploadSettlement,
} from '@pasteflow/postgres';
import { findLive } from '@pasteflow/postgres/interleavings';
import { pasteToCreate } from '@pasteflow/postgres/testing';

const ONE = 1;
/** No lease ends by itself. */
const LEASE_SECONDS = 3600;
const actor = 'replay';

interface Attempt extends AttemptCount {
  readonly executionId: string;
}

/** The rows, as the model sees them. */
export interface Rows {
  readonly paste: object | null;
  readonly open: readonly object[];
  readonly isLive: boolean;
}

type Statement = (by: number, before: State) => Promise<unknown>;
const nothing: Statement = () => Promise.resolve();

/** A paste in a real Postgres, and what the processes that work on it have in memory. */
export class RealPaste {
  readonly #db: Database;
  readonly #rules: Rules;
  readonly #shortCode: string;
  #id: string;
  readonly #attempts: Attempt[] = [];
  readonly #claims: ClaimedDeletion[] = [];
  #sent: readonly string[] = [];
  #oldFailed: readonly string[] = [];

  private constructor(db: Database, rules: Rules, { id, shortCode }: { id: string; shortCode: string }) {
    this.#db = db;
    this.#rules = rules;
    this.#id = id;
    this.#shortCode = shortCode;
  }

  /** Instead of the one before. */
  static async create(db: Database, rules: Rules): Promise<RealPaste> {
    await sql`DELETE FROM pastes`.execute(db);
    const created = await createPaste(db, pasteToCreate({ expiresInSeconds: null }));
    if (created === null) throw new Error('the paste was not created');
    return new RealPaste(db, rules, created);
  }

  /** Does by real statements what an action of the model does. `before`: the state of the model */
  async perform({ name, by }: Action, before: State): Promise<void> {
    await this.#statements[name](by, before);
  }

  async read(): Promise<Rows> {
    const { rows } = await sql<Omit<Rows, 'isLive'>>`
      SELECT
        (SELECT json_build_object('status', status, 'deletion', deletion_status,
            'hasPayload', EXISTS (SELECT FROM paste_payloads WHERE paste_id = p.id),
            'hasFailedPayload', EXISTS (SELECT FROM failed_payloads WHERE paste_id = p.id),
            'deletionRequested', deletion_requested_at IS NOT NULL)
          FROM pastes p WHERE short_code = ${this.#shortCode}) AS paste,
        (SELECT coalesce(json_agg(json_build_object('status', status, 'attempt', attempt, 'losses', losses,
            'dispatched', dispatched_at IS NOT NULL,
            'hasLease', coalesce(lease_expires_at > now(), false))), '[]')
          FROM task_executions WHERE finished_at IS NULL) AS open`.execute(this.#db);
    const live = await findLive(this.#db, [this.#shortCode]);
    return { ...rows[0]!, isLive: live.has(this.#shortCode) };
  }

  readonly #statements: Readonly<Record<ActionName, Statement>> = {
    'a late put is executed': nothing,
    'a worker ends with its message': nothing,
    'a worker settles': (by, before) => this.#settle(by, before),
    'a put succeeds': nothing,
    'a worker renews its lease': (by) =>
      renewLeases(this.#db, [this.#attempts[by]!.executionId], LEASE_SECONDS),
    'a message is stamped': () => stampDispatched(this.#db, this.#sent),
    'a dead worker loses its lease': () => this.#endLeases(),
    'a zombie is reaped': async () => {
      const { items } = await findZombies(this.#db, uploadSubject, ONE);
      const options = { actor, onlyPastLease: true, dispatched: false };
      await settleExecutions(
        this.#db,
        uploadSubject,
        items.map((zombie) => this.#lose(zombie)),
        options,
      );
    },
    'stranded work is rescued': async () => {
      const found = await findStranded(this.#db, uploadSubject, { ids: [this.#id] }, ONE);
      const rescues = found.map((stranded) => ({
        stranded,
        ending: this.#lose({ ...stranded, executionId: stranded.subjectId }),
      }));
      await rescueStranded(this.#db, uploadSubject, rescues, actor);
    },
    'a message is sent': async () => {
      await this.#passTime();
      await this.#send(await findUndispatched(this.#db, uploadSubject, { graceSeconds: 0, limit: ONE }));
    },
    'a message is received': (by) => this.#claim(by),
    'a dead letter is received': (by) => this.#claim(by),
    'a message is sent again': async () => {
      await this.#passTime();
      await this.#send(await findOverdue(this.#db, uploadSubject, { olderThanSeconds: 60, limit: ONE }));
    },
    'a deletion is settled': (by) => settleDeleted(this.#db, [this.#claims[by]!], actor),
    'a cleanup deletes the object': nothing,
    'a cleanup claims the paste': async (by) => {
      const [claim] = await claimExpired(this.#db, { actor, limit: ONE });
      if (claim !== undefined) this.#claims[by] = claim;
    },
    'the claim of a dead cleanup is released': () => this.#watch(),
    'the row of a failed paste is removed': () => removeFailed(this.#db, this.#oldFailed),
    'the object of a failed paste is deleted': nothing,
    'a failed paste without a payload is claimed': () => this.#claimFailed(),
    'reconcile deletes an object': nothing,
    'reconcile finds an object without a live row': nothing,
    'the deletion is requested': () => requestDeletion(this.#db, this.#id),
    'a failed paste is retried': async () => {
      const [retried] = await retryFailed(this.#db, [this.#shortCode], { actor, reason: null });
      this.#id = retried?.id ?? this.#id;
    },
    'an old failed paste is claimed': () => this.#claimFailed(),
    'a tombstone is removed': () => removeTombstones(this.#db, { retentionSeconds: 0, limit: ONE }),
    'a put fails': nothing,
    'the answer of a put is lost': nothing,
    'a put hangs': nothing,
    'a worker is stopped': nothing,
    'a worker crashes': nothing,
    'the answer of a settlement is lost': (by, before) => this.#settle(by, before),
    'a frozen worker loses its lease': () => this.#endLeases(),
    'a message is delivered twice': nothing,
    'a message is lost': nothing,
    'a message is received too often': nothing,
    'a sender crashes': nothing,
    'plain SQL ends the execution': () =>
      sql`UPDATE task_executions SET status = 'FAILED', error = 'by hand',
        finished_at = now(), lease_expires_at = NULL
        WHERE status = 'RUNNING'`.execute(this.#db),
    'S3 refuses a deletion': (by) =>
      releaseClaims(this.#db, [this.#claims[by]!], { actor, reason: 'refused' }),
    'a cleanup crashes': nothing,
    'the claim of a frozen cleanup is released': () => this.#watch(),
    'the sweep of failed pastes crashes': nothing,
  };

  /** The wait of a retry is over, and a message was sent long ago. */
  async #passTime(): Promise<void> {
    await sql`UPDATE task_executions SET run_at = now() - interval '1 hour',
      dispatched_at = CASE WHEN dispatched_at IS NOT NULL THEN now() - interval '1 hour' END
      WHERE status = 'PENDING'`.execute(this.#db);
  }

  async #endLeases(): Promise<void> {
    await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 second'
      WHERE status = 'RUNNING'`.execute(this.#db);
  }

  async #send({ items }: { readonly items: readonly { readonly executionId: string }[] }): Promise<void> {
    if (items.length === 0) throw new Error('the relay finds no execution that needs a message');
    this.#sent = items.map(({ executionId }) => executionId);
  }

  async #claim(by: number): Promise<void> {
    await this.#passTime();
    const options = { keys: [this.#shortCode], actor, leaseSeconds: LEASE_SECONDS };
    const claim = (await claimExecutions(this.#db, uploadSubject, options)).get(this.#shortCode);
    if (claim?.kind === 'claimed') this.#attempts[by] = claim.execution;
  }

  /** The loser of a race learns that it lost. */
  async #settle(by: number, before: State): Promise<void> {
    const attempt = this.#attempts[by]!;
    const worker = before.workers[by]!;
    if (worker.step !== 'settle') throw new Error('the worker of the model does not settle');
    const outcome =
      worker.outcome === 'succeeded'
        ? ({ kind: 'succeeded', s3Url: `s3://pasteflow/pastes/${this.#shortCode}` } as const)
        : ({ kind: worker.outcome, error: 'S3 answered 500' } as const);
    const nextStep = decideNextStep(outcome, attempt, this.#rules.policy, 0.5);
    const settled = await settleExecutions(
      this.#db,
      uploadSubject,
      [{ executionId: attempt.executionId, outcome, nextStep }],
      { actor, dispatched: worker.message === 'message' },
    );
    const counted = settled.has(attempt.executionId);
    if (counted !== this.#rules.settles(before, worker))
      throw new Error(`a settlement learns that it ${counted ? 'counted' : 'did not count'}`);
  }

  /** As the janitor does: a loss spends no attempt. */
  #lose(attempt: Attempt): UploadSettlement {
    const outcome = { kind: 'lost', error: 'worker lost' } as const;
    const nextStep = decideNextStep(outcome, attempt, this.#rules.policy, 0.5);
    return { executionId: attempt.executionId, outcome, nextStep };
  }

  async #watch(): Promise<void> {
    await resetStuckDeletions(this.#db, { actor, stuckAfterSeconds: 0, limit: ONE });
  }

  async #claimFailed(): Promise<void> {
    const claimed = await claimOldFailed(this.#db, { retentionSeconds: 0, after: null, limit: ONE });
    this.#oldFailed = claimed.map(({ id }) => id);
  }
}
