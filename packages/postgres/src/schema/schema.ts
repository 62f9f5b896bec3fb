import type { ApiTokensTable, InvitationsTable, OperatorSessionsTable, UsersTable } from './users.ts';
import type { AssetsTable, JobsTable } from './jobs.ts';
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
  PasteChangesTable,
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
import type { DepositsTable, SecretRequestsTable } from './secret-requests.ts';
import type { WebhookDeliveriesTable, WebhookEndpointsTable } from './webhooks.ts';
import type { ClearedContentsTable, PasteReportsTable } from './reports.ts';
import type { TaskExecutionsTable, WorkKindsTable } from './executions.ts';
import type { Generated } from 'kysely';
import type { ErasureState } from '@pasteflow/domain';

export interface Schema {
  users: UsersTable;
  api_tokens: ApiTokensTable;
  invitations: InvitationsTable;
  pastes: PastesTable;
  paste_payloads: PastePayloadsTable;
  failed_payloads: FailedPayloadsTable;
  paste_retries: PasteRetriesTable;
  slug_versions: SlugVersionsTable;
  paste_changes: PasteChangesTable;
  takedowns: TakedownsTable;
  content_blocks: ContentBlocksTable;
  paste_reports: PasteReportsTable;
  cleared_contents: ClearedContentsTable;
  secret_requests: SecretRequestsTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  deposits: DepositsTable;
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

/** A part of what an owner has stored. */
interface StoredUsageTable {
  /** A user, or the nil UUID: all pastes. */
  owner: string;
  part: number;
  /** Bigints, which pg returns as text; negative in a part that counts deletions. */
  pastes: Generated<string>;
  bytes: Generated<string>;
}

interface IdempotencyKeysTable {
  /** `user:<uuid>` or `address:<ip>`. */
  caller: string;
  /** SHA-256 of the key. */
  key_hash: Buffer;
  /** SHA-256 of the content of the request. */
  fingerprint: Buffer;
  /** The fencing token of the request that runs. */
  claim_id: string;
  /** A request without an answer is considered dead after this time. */
  claimed_until: Date;
  /** Encrypted; NULL while the request runs. */
  answer: Buffer | null;
  created_at: Generated<Date>;
}

interface RateLimitsTable {
  key: string;
  /** A bigint, which pg returns as text. */
  points: string;
  /** Unix milliseconds, as text. */
  expire: string | null;
}

/** A user whose data are deleted. It refers to no other table, and has no name. */
interface ErasuresTable {
  id: Generated<string>;
  user_id: string;
  status: Generated<ErasureState>;
  /** What the user had when the erasure was requested. */
  pastes: number;
  jobs: number;
  created_at: Generated<Date>;
  done_at: Date | null;
}
