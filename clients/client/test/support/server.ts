import { afterAll, beforeAll } from '@jest/globals';
import { createClient, type ClientOptions, type PasteflowClient } from '../../src/index.ts';
import { ScriptedServer } from './scripted-server.ts';

export interface Bed {
  readonly server: ScriptedServer;
  /** Default: waits of a millisecond between tries. */
  client(options?: Partial<ClientOptions>): PasteflowClient;
}

/** A scripted server for this file's tests. */
export function useServer(): Bed {
  const server = new ScriptedServer();
  beforeAll(() => server.start());
  afterAll(() => server.stop());
  return {
    server,
    client: (options) => createClient({ baseUrl: server.url, retry: { firstDelayMs: 1 }, ...options }),
  };
}
