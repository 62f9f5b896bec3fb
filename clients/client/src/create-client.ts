import { Jobs } from './jobs.ts';
import { Pastes } from './pastes.ts';
import { SecretRequests } from './requests.ts';
import { Slugs } from './slugs.ts';
import { Transport, type BareApi, type ClientOptions } from './transport.ts';
import { Webhooks } from './webhooks.ts';

export interface PasteflowClient {
  readonly pastes: Pastes;
  readonly slugs: Slugs;
  readonly jobs: Jobs;
  readonly requests: SecretRequests;
  readonly webhooks: Webhooks;
  /** For routes that the others don't cover. */
  readonly api: BareApi;
}

/** Sends no request. @throws TypeError when `baseUrl` is no URL of http or https */
export function createClient(options: ClientOptions): PasteflowClient {
  assertBaseUrl(options.baseUrl);
  const transport = new Transport(options);
  return {
    pastes: new Pastes(transport),
    slugs: new Slugs(transport),
    jobs: new Jobs(transport),
    requests: new SecretRequests(transport),
    webhooks: new Webhooks(transport),
    api: transport.api,
  };
}

/** `localhost:3000` is a URL with the protocol `localhost:`, and every request would fail and be retried. */
function assertBaseUrl(baseUrl: string): void {
  const protocol = URL.canParse(baseUrl) ? new URL(baseUrl).protocol : '';
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(
      `baseUrl is ${JSON.stringify(baseUrl)}, and must be a URL such as https://paste.example.org.`,
    );
}
