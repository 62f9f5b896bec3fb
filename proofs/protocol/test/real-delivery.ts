import { decideNextStep, type AttemptCount } from '@pasteflow/domain';
import {
  cancelJob,
  claimDeliveries,
  createWebhook,
  deliverySubject,
  findStranded,
  findZombies,
  removeDeliveriesOfRemoved,
  removeWebhook,
  renewLeases,
  rescueStranded,
  sendAgain,
  settleExecutions,
  switchOffWebhook,
  switchOnWebhook,
  type ClaimedDelivery,
  type Database,
  type DeliverySettlement,
} from '@pasteflow/postgres';
import { makeJobs, makeUsers } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { outcomeOf, type DeliveryRules, type DeliveryState, type Sender } from '../src/index.ts';

const ONE = 1;
/** No lease ends by itself. */
const LEASE_SECONDS = 3600;
const actor = 'replay';

/** The rows, as the model sees them. */
export type DeliveryRows = Pick<DeliveryState, 'endpoint' | 'delivery'> & {
  readonly open: readonly object[];
};

type Settling = Extract<Sender, { step: 'settle' }>;

/** What the end of an attempt says of the endpoint. */
const SAYS: Readonly<Record<Settling['outcome'], DeliverySettlement['endpoint']>> = {
  accepted: 'works',
  refused: 'fails',
  gone: 'gone',
  off: null,
  interrupted: null,
};

type Statement = (by: number, before: DeliveryState) => Promise<unknown>;

/** An endpoint in a real Postgres, a job whose end it is told, and what workers have in memory. */
export class RealDelivery {
  readonly #db: Database;
  readonly #rules: DeliveryRules;
  readonly #userId: string;
  readonly #endpointId: string;
  readonly #jobId: string;
  readonly #claimed: ClaimedDelivery[] = [];

  private constructor(
    db: Database,
    rules: DeliveryRules,
    ids: { readonly userId: string; readonly endpointId: string; readonly jobId: string },
  ) {
    this.#db = db;
    this.#rules = rules;
    this.#userId = ids.userId;
    this.#endpointId = ids.endpointId;
    this.#jobId = ids.jobId;
  }

  /** Instead of the one before. */
  static async create(db: Database, rules: DeliveryRules): Promise<RealDelivery> {
    await sql`DELETE FROM webhook_deliveries`.execute(db);
    await sql`DELETE FROM webhook_endpoints`.execute(db);
    const [user] = await makeUsers(db, 1);
    const userId = user!.id;
    const [job] = await makeJobs(db, 1, { status: 'queued', userId });
    const url = 'https://hooks.example.com/';
    const endpoint = await createWebhook(db, { userId, url, events: ['job.ended'] });
    return new RealDelivery(db, rules, { userId, endpointId: endpoint!.id, jobId: job!.id });
  }

  /** Does by real statements what an action of the model does. `before`: the state of the model */
  async perform(name: string, by: number, before: DeliveryState): Promise<void> {
    await this.#statements[name]?.(by, before);
  }

  async read(): Promise<DeliveryRows> {
    const { rows } = await sql<DeliveryRows>`
      SELECT
        (SELECT CASE WHEN removed_at IS NOT NULL THEN 'removed' WHEN switched_off_at IS NOT NULL THEN 'off' ELSE 'on' END
          FROM webhook_endpoints) AS endpoint,
        (SELECT status FROM webhook_deliveries ORDER BY created_at DESC, id DESC LIMIT 1) AS delivery,
        (SELECT coalesce(json_agg(json_build_object('status', status, 'attempt', attempt, 'losses', losses,
            'hasLease', coalesce(lease_expires_at > now(), false))), '[]')
          FROM task_executions WHERE kind = 'webhook' AND finished_at IS NULL) AS open`.execute(this.#db);
    return rows[0]!;
  }

  /** All others happen in the memory of a worker, or at the endpoint. */
  readonly #statements: Readonly<Record<string, Statement>> = {
    'a worker settles': (by, before) => this.#settle(by, before),
    'the answer of a settlement is lost': (by, before) => this.#settle(by, before),
    'a worker renews its lease': (by) =>
      renewLeases(this.#db, [this.#claimed[by]!.executionId], LEASE_SECONDS),
    'a dead worker loses its lease': () => this.#endLeases(),
    'a frozen worker loses its lease': () => this.#endLeases(),
    'a zombie is reaped': async () => {
      const { items } = await findZombies(this.#db, deliverySubject, ONE);
      const options = { actor, onlyPastLease: true, dispatched: false };
      const endings = items.map((zombie) => this.#lose(zombie));
      await settleExecutions(this.#db, deliverySubject, endings, options);
    },
    'stranded work is rescued': async () => {
      const found = await findStranded(this.#db, deliverySubject, 'oldest', ONE);
      const rescues = found.map((stranded) => ({
        stranded,
        ending: this.#lose({ ...stranded, executionId: stranded.subjectId }),
      }));
      await rescueStranded(this.#db, deliverySubject, rescues, actor);
    },
    'a delivery is claimed': (by, before) => this.#claim(by, before),
    'what a removed endpoint left is removed': () => removeDeliveriesOfRemoved(this.#db, { limit: 10 }),
    'the event happens': () => cancelJob(this.#db, { jobId: this.#jobId, actor, by: 'its owner' }),
    'the endpoint is switched off': () => switchOffWebhook(this.#db, this.#endpointId),
    'the endpoint is switched on': async () => {
      // What an operator has switched off, its user can't switch on.
      await sql`UPDATE webhook_endpoints SET switched_off_for = 'failing'`.execute(this.#db);
      await switchOnWebhook(this.#db, this.#endpointId, this.#userId);
    },
    'the endpoint is removed': () => removeWebhook(this.#db, this.#endpointId, this.#userId),
    'the event is sent again': async () => {
      const { rows } = await sql<{ deliveryId: string }>`
        SELECT id AS "deliveryId" FROM webhook_deliveries ORDER BY created_at DESC, id DESC LIMIT 1`.execute(
        this.#db,
      );
      await sendAgain(this.#db, { endpointId: this.#endpointId, ...rows[0]! });
    },
    'plain SQL ends the execution': () =>
      sql`UPDATE task_executions SET status = 'FAILED', error = 'by hand', finished_at = now(), lease_expires_at = NULL
        WHERE status = 'RUNNING'`.execute(this.#db),
  };

  async #endLeases(): Promise<void> {
    await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 second'
      WHERE status = 'RUNNING'`.execute(this.#db);
  }

  async #claim(by: number, before: DeliveryState): Promise<void> {
    await sql`UPDATE task_executions SET run_at = now() - interval '1 second' WHERE status = 'PENDING'`.execute(
      this.#db,
    );
    const all = { after: null, running: [], limit: ONE, perUser: ONE, perEndpoint: ONE };
    const { deliveries } = await claimDeliveries(this.#db, { actor, leaseSeconds: LEASE_SECONDS, ...all });
    const [claimed] = deliveries;
    if (claimed === undefined) throw new Error('the claim finds no delivery');
    if ((claimed.endpoint !== null) !== this.#rules.sends(before.endpoint))
      throw new Error(`the claim has ${claimed.endpoint === null ? 'no' : 'an'} endpoint`);
    this.#claimed[by] = claimed;
  }

  /** The loser of a race learns that it lost. */
  async #settle(by: number, before: DeliveryState): Promise<void> {
    const claimed = this.#claimed[by]!;
    const sender = before.workers[by] as Settling;
    const outcome = outcomeOf(sender.outcome);
    const nextStep = decideNextStep(outcome, claimed, this.#rules.policy, 0.5);
    const endpoint = SAYS[sender.outcome];
    const { executionId } = claimed;
    const settled = await settleExecutions(
      this.#db,
      deliverySubject,
      [{ executionId, outcome, nextStep, answered: null, endpoint }],
      { actor, dispatched: false },
    );
    const counted = settled.has(executionId);
    if (counted !== this.#rules.settles(before, sender))
      throw new Error(`a settlement learns that it ${counted ? 'counted' : 'did not count'}`);
  }

  /** As the janitor does: a loss spends no attempt. */
  #lose(attempt: AttemptCount & { readonly executionId: string }): DeliverySettlement {
    const outcome = outcomeOf('lost');
    const nextStep = decideNextStep(outcome, attempt, this.#rules.policy, 0.5);
    return { executionId: attempt.executionId, outcome, nextStep, answered: null, endpoint: null };
  }
}
