import type { Generated } from 'kysely';
import type { ErasureState, PasteReportState, TakedownClass, SecretRequestState } from '@pasteflow/domain';
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
import type { WebhookDeliveriesTable, WebhookEndpointsTable } from './webhooks.ts';
import type { TaskExecutionsTable, WorkKindsTable } from './executions.ts';

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

interface PasteReportsTable {
  id: Generated<string>;
  paste_id: string;
  content_hash: string;
  status: Generated<PasteReportState>;
  class: TakedownClass;
  /** In the words of the reporter; NULL: none. */
  text: string | null;
  /** Where the reporter can be reached; NULL: nowhere. */
  contact: string | null;
  /** A keyed hash of the address, to count reporters. Set exactly while the report is open. */
  reporter: Buffer | null;
  created_at: Generated<Date>;
  /** Set exactly once an operator has decided. */
  judged_at: Date | null;
}

/** Content of which no report is taken under the same title and slug, because an operator has rejected its reports. */
interface ClearedContentsTable {
  content_hash: string;
  /** SHA-256 of the title and the slug; empty: neither. */
  shown_as: Generated<string>;
  actor: string;
  /** In the words of the operator, for operators. */
  reason: string;
  cleared_at: Generated<Date>;
}

interface SecretRequestsTable {
  id: Generated<string>;
  /** 22 characters of base62: the id in the link. */
  code: string;
  /** Who asks. */
  user_id: string;
  /** NULL: none. */
  message: string | null;
  /** How many deposits the request takes. */
  places: number;
  taken: Generated<number>;
  status: Generated<SecretRequestState>;
  created_at: Generated<Date>;
  expires_at: Date;
  /** Set exactly once the request is USED_UP or CANCELLED. */
  ended_at: Date | null;
}

/** What a deposit is beside its paste. */
interface DepositsTable {
  request_id: string;
  /** From 1, in the order of the deposits. */
  number: number;
  short_code: string;
  /** The key of the paste, wrapped by HPKE for who asks. */
  wrapped_key: Buffer;
  created_at: Generated<Date>;
}
