import { parseReason, webhookEventsFor, webhookRetryPolicy, maxAttempts } from '@pasteflow/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import { PATHS, Receivers } from './receivers.ts';

interface DeliveryRow {
  readonly id: string;
  readonly endpoint: string;
  readonly event: string;
  readonly type: string;
  readonly status: string;
  readonly reason: string | null;
  /** How often a worker has claimed it, by the audit trail. */
  readonly claims: number;
  readonly attempts: number;
  /** Attempts that ended without the answer of the endpoint: their worker was lost or stopped. */
  readonly unanswered: number;
}

/**
 * What must have been told by the audit trail and the tables. A paste that was claimed for deletion several times is
 * told of once for each of the reasons that it had.
 */
const NOT_TOLD = `
  WITH happened AS (
    SELECT p.id::text AS occurrence, CASE "to" WHEN 'PROCESSED' THEN ARRAY['paste.stored'] ELSE ARRAY['paste.failed'] END AS types
    FROM state_transitions t JOIN pastes p ON p.id = entity WHERE user_id = $2 AND machine = 'paste_upload'
    UNION ALL
    SELECT p.id::text, ARRAY['paste.read', 'paste.deleted', 'paste.expired']
    FROM state_transitions t JOIN pastes p ON p.id = entity WHERE user_id = $2 AND machine = 'paste_deletion' AND "to" = 'DELETION_IN_PROGRESS'
    UNION ALL
    SELECT id::text, ARRAY['job.ended'] FROM jobs WHERE user_id = $2 AND completed_at IS NOT NULL
    UNION ALL
    SELECT short_code, ARRAY['deposit.arrived'] FROM deposits JOIN secret_requests r ON r.id = request_id WHERE user_id = $2
  )
  SELECT DISTINCT format('%s of %s was not told', array_to_string(types, ' or '), occurrence) AS problem FROM happened h
  WHERE NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.endpoint_id = $1 AND d.occurrence = h.occurrence AND d.type = ANY (h.types))`;

/** As if the waits before further attempts, which add up to a day, were over. */
const PASS_TIME = `
  UPDATE task_executions SET run_at = now() WHERE kind = 'webhook' AND status = 'PENDING' AND run_at > now() + interval '1 second'`;

/** An endpoint that never answers keeps an attempt for 15 s, so that only rare events are refused always. */
const EVENTS: Readonly<Record<(typeof PATHS)[number], readonly string[]>> = {
  '/mixed': webhookEventsFor('owner'),
  '/refuses': ['job.ended', 'paste.read'],
  '/gone': ['paste.expired'],
};

const ENDED_BY = ['endpoint_failed', 'endpoint_off', 'lost_too_often'];

/** Endpoints of the user of the campaign, which are told of everything that happens in it. */
export class Webhooks {
  readonly #receivers: Receivers;
  /** The ids of the endpoints, by their paths. */
  readonly #ids = new Map<string, string>();
  #cluster: Cluster | undefined;
  #userId = '';
  #isOver = false;
  #passing: Promise<void> = Promise.resolve();
  #summary = '';

  private constructor(receivers: Receivers) {
    this.#receivers = receivers;
  }

  static async start(seed: number): Promise<Webhooks> {
    return new Webhooks(await Receivers.start(seed));
  }

  /** For the services. */
  get env(): Readonly<Record<string, string>> {
    return { WEBHOOK_KEY: 'the key of the campaign, 32 characters', WEBHOOK_ORIGINS: this.#receivers.origin };
  }

  /** A sentence for the report, once `findProblems` has looked. */
  get summary(): string {
    return this.#summary;
  }

  async listen(cluster: Cluster, { userId, token }: { userId: string; token: string }): Promise<void> {
    this.#cluster = cluster;
    this.#userId = userId;
    for (const path of PATHS) {
      const answer = await cluster.http().request('/v1/webhooks', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: this.#receivers.origin + path, events: EVENTS[path] }),
      });
      const made = (await answer.json()) as { readonly id: string; readonly secret: string };
      if (answer.status !== 201) throw new Error(`an endpoint was answered ${answer.status}`);
      this.#receivers.secrets.set(path, made.secret);
      this.#ids.set(path, made.id);
    }
    this.#passing = this.#passTime(cluster);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#passing;
    await this.#receivers.stop();
  }

  /**
   * When no work is open: each event was delivered, or its delivery has failed for a reason; and nobody was sent more
   * than the claims of workers explain.
   * @returns one sentence for each violation
   */
  async findProblems(): Promise<readonly string[]> {
    const rows = this.#cluster?.rows;
    if (rows === undefined) return ['nobody has listened'];
    const missing = await rows.query<{ problem: string }>(NOT_TOLD, [this.#ids.get('/mixed'), this.#userId]);
    const deliveries = await rows.query<DeliveryRow>(
      `SELECT d.id, d.endpoint_id AS endpoint, d.event_id AS event, d.type, d.status, d.failure_reason AS reason,
         (SELECT count(*)::int FROM task_executions e JOIN state_transitions t ON t.entity = e.id AND t."to" = 'RUNNING'
          WHERE e.subject_id = d.id AND e.kind = 'webhook') AS claims,
         (SELECT max(attempt) FROM task_executions e WHERE e.subject_id = d.id AND e.kind = 'webhook') AS attempts,
         (SELECT count(*)::int FROM task_executions e
          WHERE e.subject_id = d.id AND e.kind = 'webhook' AND e.error NOT LIKE 'endpoint failed: %') AS unanswered
       FROM webhook_deliveries d WHERE d.endpoint_id = ANY ($1)`,
      [[...this.#ids.values()]],
    );
    const known = new Set(deliveries.map(({ endpoint, event }) => `${endpoint} ${event}`));
    const invented = [...this.#receivers.received.values()]
      .filter(({ path, eventId }) => !known.has(`${this.#ids.get(path)} ${eventId}`))
      .map(({ path, eventId }) => `the endpoint ${path} was sent ${eventId}, which is no event`);
    this.#summary = this.#count(deliveries);
    return [
      ...missing.map(({ problem }) => problem),
      ...invented,
      ...this.#receivers.problems,
      ...deliveries.flatMap((delivery) => this.#problemsOf(delivery)),
    ];
  }

  #problemsOf(delivery: DeliveryRow): string[] {
    const { id, type, status, reason, claims, attempts, unanswered } = delivery;
    const { requests, accepted } = this.#received(delivery);
    const problem = (what: string): string => `the delivery ${id} of ${type} ${what}`;
    const found: string[] = [];
    if (status === 'DELIVERED' && accepted === 0)
      found.push(problem('is DELIVERED, and its endpoint has not accepted it'));
    if (status === 'FAILED') {
      const ended = parseReason(reason ?? '').class;
      if (!ENDED_BY.includes(ended)) found.push(problem(`has FAILED: ${reason}`));
      const isGone = /answered 410/.test(reason ?? '');
      if (ended === 'endpoint_failed' && !isGone && attempts < maxAttempts(webhookRetryPolicy))
        found.push(problem(`has FAILED after ${attempts} attempts`));
    }
    if (requests > claims) found.push(problem(`was sent ${requests} times by ${claims} claims`));
    if (accepted > 1 + unanswered)
      found.push(problem(`was accepted ${accepted} times, and ${unanswered} attempts had no answer`));
    return found;
  }

  #received({ endpoint, event }: DeliveryRow): { readonly requests: number; readonly accepted: number } {
    const path = PATHS.find((each) => this.#ids.get(each) === endpoint) ?? '';
    return this.#receivers.of(path, event);
  }

  #count(deliveries: readonly DeliveryRow[]): string {
    const received = deliveries.map((delivery) => ({ ...delivery, ...this.#received(delivery) }));
    const count = (is: (each: (typeof received)[number]) => boolean): number => received.filter(is).length;
    const sum = (of: (each: (typeof received)[number]) => number): number =>
      received.reduce((total, each) => total + of(each), 0);
    const events = new Set(received.map(({ event }) => event)).size;
    const failed = ENDED_BY.map(
      (by) => `${count(({ reason }) => reason !== null && parseReason(reason).class === by)} ${by}`,
    );
    const twice = sum(({ accepted }) => Math.max(0, accepted - 1));
    return (
      `${events} events in ${received.length} deliveries: ${count(({ status }) => status === 'DELIVERED')} delivered, ` +
      `failed: ${failed.join(', ')}; ${sum(({ requests }) => requests)} requests by ${sum(({ claims }) => claims)} claims, ` +
      `${twice} accepted more than once (1 in ${twice === 0 ? 'none' : Math.round(received.length / twice)})`
    );
  }

  async #passTime({ rows }: Cluster): Promise<void> {
    while (!this.#isOver) {
      await rows.query(PASS_TIME).catch(() => {}); // Postgres is down by intention
      await sleep(1000);
    }
  }
}
