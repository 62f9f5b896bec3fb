import type { ApiTokensTable } from './api-tokens.ts';
import type { AssetsTable } from './assets.ts';
import type { IdempotencyKeysTable } from './idempotency-keys.ts';
import type { BucketAdoptionsTable, InstallationTable } from './installation.ts';
import type { JobsTable } from './jobs.ts';
import type { OperatorActionsTable } from './operator-actions.ts';
import type { OrphanObjectsTable } from './orphan-objects.ts';
import type { ContentBlocksTable } from './content-blocks.ts';
import type { FailedPayloadsTable, PastePayloadsTable } from './paste-payloads.ts';
import type { PasteRetriesTable } from './paste-retries.ts';
import type { PastesTable } from './pastes.ts';
import type { RateLimitsTable } from './rate-limits.ts';
import type { StateTransitionsTable } from './state-transitions.ts';
import type { SweepRunsTable } from './sweep-runs.ts';
import type { TakedownsTable } from './takedowns.ts';
import type { TaskExecutionsTable } from './task-executions.ts';
import type {
  TransitionCursorTable,
  TransitionStatisticsTable,
  UncountedTransitionsTable,
} from './transition-statistics.ts';
import type { UsersTable } from './users.ts';

export interface Schema {
  users: UsersTable;
  api_tokens: ApiTokensTable;
  pastes: PastesTable;
  paste_payloads: PastePayloadsTable;
  failed_payloads: FailedPayloadsTable;
  paste_retries: PasteRetriesTable;
  takedowns: TakedownsTable;
  content_blocks: ContentBlocksTable;
  operator_actions: OperatorActionsTable;
  jobs: JobsTable;
  assets: AssetsTable;
  task_executions: TaskExecutionsTable;
  state_transitions: StateTransitionsTable;
  uncounted_transitions: UncountedTransitionsTable;
  transition_cursor: TransitionCursorTable;
  transition_statistics: TransitionStatisticsTable;
  sweep_runs: SweepRunsTable;
  installation: InstallationTable;
  bucket_adoptions: BucketAdoptionsTable;
  orphan_objects: OrphanObjectsTable;
  idempotency_keys: IdempotencyKeysTable;
  rate_limits: RateLimitsTable;
}
