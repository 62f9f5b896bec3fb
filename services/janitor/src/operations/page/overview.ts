import {
  listContentBlocks,
  listOperatorActions,
  listWorkKinds,
  readInventory,
  type ContentBlock,
  type OperatorAction,
  type WorkKind,
} from '@pasteflow/postgres';
import type { ShownOverview } from '@pasteflow/web';
import { glanceOf } from '../reports/glance.ts';
import { needsOf } from '../reports/needs.ts';
import type { Operations } from '../operations.ts';
import { countsOf, readStatus, type Status } from '../reports/read-status.ts';
import type { Minutes } from './minutes.ts';

export interface Reading {
  readonly status: Status;
  readonly actions: readonly OperatorAction[];
  readonly blocks: readonly ContentBlock[];
  readonly kinds: readonly WorkKind[];
  /** A later reading failed. */
  readonly isStale: boolean;
}

/** The page refreshes every 10 s, and somebody who acts wants to see the effect. */
const REUSED_FOR_MS = 3000;

/** The numbers of the navigation stand on every page. */
const COUNTS_REUSED_FOR_MS = 10_000;

type Counts = Status['counts'];

const MAX_ACTIONS = 20;
const MAX_BLOCKS = 50;

/** Reads the figures of the overview, at most once in three seconds, however many pages are open. */
export class OverviewReader {
  readonly #operations: Operations;
  readonly #nowMs: () => number;
  #latest: { readonly beganAtMs: number; readonly reading: Promise<Reading> } | null = null;
  #last: Reading | null = null;
  #counts: { readonly beganAtMs: number; readonly reading: Promise<Counts> } | null = null;

  constructor(operations: Operations, nowMs: () => number = () => performance.now()) {
    this.#operations = operations;
    this.#nowMs = nowMs;
  }

  /** @throws the error of the reading, when there is no earlier one to show */
  async read(): Promise<Reading> {
    const nowMs = this.#nowMs();
    if (this.#latest === null || nowMs - this.#latest.beganAtMs >= REUSED_FOR_MS)
      this.#latest = { beganAtMs: nowMs, reading: this.#readNow() };
    try {
      return await this.#latest.reading;
    } catch (error) {
      if (this.#last === null) throw error;
      return { ...this.#last, isStale: true };
    }
  }

  /** The numbers of the navigation, without SQS, for which a page of a list does not wait; null: they can't be read. */
  async counts(): Promise<Counts | null> {
    const nowMs = this.#nowMs();
    if (this.#counts === null || nowMs - this.#counts.beganAtMs >= COUNTS_REUSED_FOR_MS) {
      const { config, db } = this.#operations;
      const reading = readInventory(db, { hasQuotas: config.quotas !== null }).then(countsOf);
      this.#counts = { beganAtMs: nowMs, reading };
    }
    const { reading } = this.#counts;
    return await reading.catch(() => null);
  }

  async #readNow(): Promise<Reading> {
    const { config, sqs, db } = this.#operations;
    const beganAtMs = this.#nowMs();
    const status = await readStatus({ config, sqs, db, store: null });
    const actions = await listOperatorActions(db, MAX_ACTIONS);
    const blocks = await listContentBlocks(db, MAX_BLOCKS);
    const kinds = await listWorkKinds(db);
    this.#counts = { beganAtMs, reading: Promise.resolve(status.counts) };
    this.#last = { status, actions, blocks, kinds, isStale: false };
    return this.#last;
  }
}

/** The reading as the page shows it. */
export function showOverview(
  { status, actions, blocks, kinds, isStale }: Reading,
  minutes: Minutes,
): ShownOverview {
  const { at, states, stuck, lost, queues, sweeps } = status;
  return {
    at: at.toISOString(),
    isStale,
    glance: glanceOf(status),
    needs: needsOf(status),
    states,
    stuck,
    lost,
    queues,
    minutes,
    blocks,
    kinds: kinds.map(({ kind, paused_at, paused_by, pause_reason }) => ({
      kind,
      paused_at: paused_at?.toISOString() ?? null,
      paused_by,
      pause_reason,
    })),
    sweeps: sweeps.map(({ last_success_at: last, ...sweep }) => ({
      ...sweep,
      success_seconds_ago: last === null ? null : Math.max(0, (at.getTime() - last.getTime()) / 1000),
    })),
    actions: actions.map((action) => ({ ...action, at: action.at.toISOString() })),
  };
}
