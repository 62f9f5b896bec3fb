import type { House } from '@pasteflow/domain';
import type { Actor, ApiTokenUse, Database, PasteRow, Quotas } from '@pasteflow/postgres';
import type { Logger, Readiness } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { IdentityProvider } from '@pasteflow/http-kit/sign-in';
import type { WebhookSettings } from '@pasteflow/service-kit';
import type { MessageDispatcher, OutgoingJob, OutgoingUpload } from '@pasteflow/sqs';
import type { Request } from 'express';
import type { CorsOrigins } from './http/answers/response-headers.ts';
import type { SendOptions } from './http/answers/send-paced.ts';
import type { FindUser } from './http/callers/caller.ts';
import type { SessionCookie } from './http/callers/session-cookie.ts';
import type { TokenGuesses } from './http/callers/token-guesses.ts';
import type { Idempotency } from './http/idempotency/idempotency.ts';
import type { ArrivalMisses } from './http/limits/arrival-misses.ts';
import type { BodyBudget } from './http/limits/body-budget.ts';
import type { DownloadBudget } from './http/limits/download-budget.ts';
import type { Limits } from './http/limits/limits.ts';
import type { JobTypes } from './job-types.ts';
import type { Pages } from './http/pages/page.ts';
import type { TrustedProxies } from './http/request/client-address.ts';
import type { RequestEvents } from './http/server/request-events.ts';
import type { Live } from './live/live.ts';
import type { ContentCache } from './storage/content-cache.ts';
import type { FirstWords } from './storage/first-words.ts';
import type { PasteInserts } from './storage/paste-inserts.ts';

/** What the endpoints stand on: one for the whole process, made by compose.ts. */
export interface ApiContext {
  readonly logger: Logger;
  readonly events: RequestEvents;
  readonly readiness: Readiness;
  /** There is a style guide. */
  readonly isDevelopment: boolean;

  readonly db: Database;
  /** From createFindPaste. */
  readonly findPaste: (shortCode: string) => Promise<PasteRow | null>;
  /** Who has made the transitions of this process. */
  readonly actor: Actor;
  readonly inserts: PasteInserts;
  readonly idempotency: Idempotency;
  readonly store: Pick<ObjectStore, 'get' | 'presign'>;
  readonly cache: ContentCache;
  readonly firstWords: FirstWords;
  readonly dispatcher: MessageDispatcher<OutgoingUpload>;
  readonly jobDispatcher: MessageDispatcher<OutgoingJob>;
  readonly live: Live;
  /** How long a read of content waits for the upload in progress; 0: not at all. */
  readonly contentWaitMs: number;

  /** Where clients reach the service, without a slash at the end. */
  readonly publicUrl: () => string;
  /** From createRequireHost. */
  readonly requireHost: (req: Request) => void;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The proxies whose X-Forwarded-For is trusted, in Express's form; undefined: none. */
  readonly trustProxy: TrustedProxies | undefined;
  readonly corsOrigins: CorsOrigins;
  readonly pages: Pages;
  readonly arrivals: ArrivalMisses;

  /** From createUseToken. */
  readonly useToken: (tokenHash: string) => Promise<ApiTokenUse | null>;
  readonly findUser: FindUser;
  readonly guesses: TokenGuesses;
  readonly sessions: SessionCookie;
  /** Null: the operator has set up no sign-in by an identity provider. */
  readonly provider: IdentityProvider | null;

  readonly limits: Limits;
  readonly bodies: BodyBudget;
  readonly downloads: DownloadBudget;
  readonly sending: SendOptions;
  readonly maxPasteBytes: number;
  /** null: there are none. */
  readonly quotas: Quotas | null;
  /** Which this process takes. */
  readonly jobTypes: JobTypes;
  readonly jobLimits: JobLimits;
  /** Whether a paste can be created without a token. */
  readonly anonymousPastes: 'allow' | 'deny';
  /** Who runs the service, and what new pastes may be. */
  readonly house: House;
  /** null: there is no key, and nothing is sent. */
  readonly webhooks: WebhookSettings | null;
  /** How long a presigned URL is valid. */
  readonly assetUrlSeconds: number;
  /** So many reporters hold a paste; null: none do. */
  readonly reportsHoldAfter: number | null;
}

export interface JobLimits {
  /** Jobs of one user that wait or run; null: no limit. */
  readonly maxOpen: number | null;
  /** Bytes of the pastes of one user in an hour, imported or not; null: no limit. */
  readonly maxBytesPerHour: number | null;
}
