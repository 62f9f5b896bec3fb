import type { ApiTokensTable, OperatorSessionsTable, UsersTable } from './users.ts';
import type { AssetsTable, JobsTable } from './jobs.ts';
import type { IdempotencyKeysTable, RateLimitsTable } from './requests.ts';
import type {
  BucketAdoptionsTable,
  InstallationTable,
  OperatorActionsTable,
  OrphanObjectsTable,
  SweepRunsTable,
} from './operations.ts';
import type {
  ContentBlocksTable,
  FailedPayloadsTable,
  PastePayloadsTable,
  PasteRetriesTable,
  PastesTable,
  SlugVersionsTable,
  TakedownsTable,
} from './pastes.ts';
import type {
  StateTransitionsTable,
  TransitionStatisticsTable,
  UncountedTransitionsTable,
} from './audit-trail.ts';
import type { ErasuresTable } from './erasures.ts';
import type { ClearedContentsTable, PasteReportsTable } from './reports.ts';
import type { StoredUsageTable } from './usage.ts';
import type { TaskExecutionsTable, WorkKindsTable } from './executions.ts';

export interface Schema {
  users: UsersTable;
  api_tokens: ApiTokensTable;
  pastes: PastesTable;
  paste_payloads: PastePayloadsTable;
  failed_payloads: FailedPayloadsTable;
  paste_retries: PasteRetriesTable;
  slug_versions: SlugVersionsTable;
  takedowns: TakedownsTable;
  content_blocks: ContentBlocksTable;
  paste_reports: PasteReportsTable;
  cleared_contents: ClearedContentsTable;
  operator_actions: OperatorActionsTable;
  operator_sessions: OperatorSessionsTable;
  erasures: ErasuresTable;
  jobs: JobsTable;
  assets: AssetsTable;
  task_executions: TaskExecutionsTable;
  work_kinds: WorkKindsTable;
  state_transitions: StateTransitionsTable;
  uncounted_transitions: UncountedTransitionsTable;
  transition_statistics: TransitionStatisticsTable;
  sweep_runs: SweepRunsTable;
  installation: InstallationTable;
  bucket_adoptions: BucketAdoptionsTable;
  orphan_objects: OrphanObjectsTable;
  idempotency_keys: IdempotencyKeysTable;
  rate_limits: RateLimitsTable;
  stored_usage: StoredUsageTable;
}
