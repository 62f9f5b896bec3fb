import type { Migration } from 'kysely/migration';
import * as uuidV7 from './0001-uuid-v7.ts';
import * as users from './0002-users.ts';
import * as pastes from './0003-pastes.ts';
import * as pastePayloads from './0004-paste-payloads.ts';
import * as taskExecutions from './0005-task-executions.ts';
import * as jobs from './0006-jobs.ts';
import * as stateTransitions from './0007-state-transitions.ts';
import * as apiTokens from './0008-api-tokens.ts';
import * as pasteOwners from './0009-paste-owners.ts';
import * as assets from './0010-assets.ts';
import * as idempotencyKeys from './0011-idempotency-keys.ts';
import * as rateLimits from './0012-rate-limits.ts';
import * as measurements from './0013-measurements.ts';
import * as whatJobsMade from './0014-what-jobs-made.ts';
import * as installation from './0015-installation.ts';
import * as losses from './0016-losses.ts';
import * as fairJobs from './0018-fair-jobs.ts';
import * as retriedExecutions from './0019-retried-executions.ts';
import * as rescues from './0020-rescues.ts';
import * as inlinePayloads from './0021-inline-payloads.ts';
import * as takedowns from './0022-takedowns.ts';
import * as encryptedPastes from './0023-encrypted-pastes.ts';
import * as browserSessions from './0024-browser-sessions.ts';
import * as storedEncoding from './0025-stored-encoding.ts';
import * as burnAfterReading from './0026-burn-after-reading.ts';
import * as compressedPayloads from './0029-compressed-payloads.ts';
import * as slugs from './0030-slugs.ts';
import * as parents from './0031-parents.ts';
import * as oneIndexBySubject from './0032-one-index-by-subject.ts';
import * as cheapPatterns from './0033-cheap-patterns.ts';
import * as roomForSettlements from './0034-room-for-settlements.ts';
import * as uncountedTransitions from './0035-uncounted-transitions.ts';
import * as trailByEntity from './0036-trail-by-entity.ts';
import * as readersOfBurnedPastes from './0037-readers-of-burned-pastes.ts';
import * as copiesOfContent from './0038-copies-of-content.ts';
import * as deletionRequests from './0039-deletion-requests.ts';
import * as sessionsOfTokens from './0041-sessions-of-tokens.ts';
import * as bytesOfCallers from './0042-bytes-of-callers.ts';

interface PreparedMigration extends Migration {
  /** Runs before all pending migrations and outside of their transactions, for an index that must not hold up writes while it is built. */
  readonly before?: Migration['up'];
}

/** In order. A released migration is frozen: a change is a new migration. */
export const migrations: Record<string, PreparedMigration> = {
  '0001-uuid-v7': uuidV7,
  '0002-users': users,
  '0003-pastes': pastes,
  '0004-paste-payloads': pastePayloads,
  '0005-task-executions': taskExecutions,
  '0006-jobs': jobs,
  '0007-state-transitions': stateTransitions,
  '0008-api-tokens': apiTokens,
  '0009-paste-owners': pasteOwners,
  '0010-assets': assets,
  '0011-idempotency-keys': idempotencyKeys,
  '0012-rate-limits': rateLimits,
  '0013-measurements': measurements,
  '0014-what-jobs-made': whatJobsMade,
  '0015-installation': installation,
  '0016-losses': losses,
  '0018-fair-jobs': fairJobs,
  '0019-retried-executions': retriedExecutions,
  '0020-rescues': rescues,
  '0021-inline-payloads': inlinePayloads,
  '0022-takedowns': takedowns,
  '0023-encrypted-pastes': encryptedPastes,
  '0024-browser-sessions': browserSessions,
  '0025-stored-encoding': storedEncoding,
  '0026-burn-after-reading': burnAfterReading,
  '0029-compressed-payloads': compressedPayloads,
  '0030-slugs': slugs,
  '0031-parents': parents,
  '0032-one-index-by-subject': oneIndexBySubject,
  '0033-cheap-patterns': cheapPatterns,
  '0034-room-for-settlements': roomForSettlements,
  '0035-uncounted-transitions': uncountedTransitions,
  '0036-trail-by-entity': trailByEntity,
  '0037-readers-of-burned-pastes': readersOfBurnedPastes,
  '0038-copies-of-content': copiesOfContent,
  '0039-deletion-requests': deletionRequests,
  '0041-sessions-of-tokens': sessionsOfTokens,
  '0042-bytes-of-callers': bytesOfCallers,
};
