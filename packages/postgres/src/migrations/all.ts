import type { Migration } from 'kysely/migration';
import * as users from './0001-users.ts';
import * as pastes from './0002-pastes.ts';
import * as jobs from './0003-jobs.ts';
import * as executions from './0004-executions.ts';
import * as auditTrail from './0005-audit-trail.ts';
import * as requests from './0006-requests.ts';
import * as operations from './0007-operations.ts';
import * as jobTitles from './0008-job-titles.ts';
import * as reports from './0009-reports.ts';
import * as quotas from './0010-quotas.ts';
import * as ownTokens from './0011-own-tokens.ts';
import * as workKinds from './0012-work-kinds.ts';
import * as slugVersions from './0013-slug-versions.ts';
import * as operatorsAndErasures from './0014-operators-and-erasures.ts';
import * as refusedRows from './0015-refused-rows.ts';
import * as archives from './0016-archives.ts';
import * as oneNextJob from './0017-one-next-job.ts';
import * as clearedTitles from './0018-cleared-titles.ts';
import * as keysInBytes from './0019-keys-in-bytes.ts';
import * as supersedes from './0020-supersedes.ts';
import * as pasteChanges from './0021-paste-changes.ts';
import * as files from './0022-files.ts';
import * as secretsBetweenPeople from './0023-secrets-between-people.ts';
import * as webhooks from './0024-webhooks.ts';
import * as invitations from './0025-invitations.ts';
import * as rulesOfImports from './0026-rules-of-imports.ts';
import * as untoldEvents from './0027-untold-events.ts';

/**
 * In order. 0001 to 0007 are release 0.1.0 and frozen: a change is a new migration. It runs beside services
 * of the release before, so that it takes away only what they don't use, and builds no index on a large table,
 * during which all writes would wait. 0019, 0020 and 0024 say what their indexes cost.
 */
export const migrations: Record<string, Migration> = {
  '0001-users': users,
  '0002-pastes': pastes,
  '0003-jobs': jobs,
  '0004-executions': executions,
  '0005-audit-trail': auditTrail,
  '0006-requests': requests,
  '0007-operations': operations,
  '0008-job-titles': jobTitles,
  '0009-reports': reports,
  '0010-quotas': quotas,
  '0011-own-tokens': ownTokens,
  '0012-work-kinds': workKinds,
  '0013-slug-versions': slugVersions,
  '0014-operators-and-erasures': operatorsAndErasures,
  '0015-refused-rows': refusedRows,
  '0016-archives': archives,
  '0017-one-next-job': oneNextJob,
  '0018-cleared-titles': clearedTitles,
  '0019-keys-in-bytes': keysInBytes,
  '0020-supersedes': supersedes,
  '0021-paste-changes': pasteChanges,
  '0022-files': files,
  '0023-secrets-between-people': secretsBetweenPeople,
  '0024-webhooks': webhooks,
  '0025-invitations': invitations,
  '0026-rules-of-imports': rulesOfImports,
  '0027-untold-events': untoldEvents,
};
