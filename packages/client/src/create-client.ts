import { Jobs } from './jobs.ts';
import { Pastes } from './pastes.ts';
import { Slugs } from './slugs.ts';
import { Transport, type BareApi, type ClientOptions } from './transport.ts';

export interface PasteflowClient {
  readonly pastes: Pastes;
  readonly slugs: Slugs;
  readonly jobs: Jobs;
  /** For routes that the others don't cover. */
  readonly api: BareApi;
}

/** Sends no request. @throws TypeError when `baseUrl` is not a URL */
export function createClient(options: ClientOptions): PasteflowClient {
  const transport = new Transport(options);
  return {
    pastes: new Pastes(transport),
    slugs: new Slugs(transport),
    jobs: new Jobs(transport),
    api: transport.api,
  };
}
