import type { Instance } from './api-types.ts';
import { Jobs } from './jobs.ts';
import { Pastes } from './pastes.ts';
import { SecretRequests } from './requests.ts';
import { Slugs } from './slugs.ts';
import { Transport, type BareApi, type ClientOptions } from './transport.ts';
import type { CallOptions } from './waiting.ts';
import { Webhooks } from './webhooks.ts';

export interface PasteflowClient {
  readonly pastes: Pastes;
  readonly slugs: Slugs;
  readonly jobs: Jobs;
  readonly requests: SecretRequests;
  readonly webhooks: Webhooks;
  /** Who runs the service, and what new pastes may be. */
  readonly instance: (options?: CallOptions) => Promise<Instance>;
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
    instance: async ({ signal } = {}) => {
      const { data } = await transport.call((api, init) => api.GET('/v1/instance', { ...init }), { signal });
      return data;
    },
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
