import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { REPOSITORY } from '../src/stack-config.ts';
import { bundleOf, BUNDLED_ENTRIES } from '../src/testing/service-bundles.ts';

/**
 * The environment in which `npm start` starts the migration, the token and the services from their bundles. They then take 2 s
 * of CPU time instead of 5. Empty with TEST_SERVICES_FROM=sources.
 */
export function fromBundles(): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- as in spawn-service.ts
  if (process.env.TEST_SERVICES_FROM !== 'bundles') return {};
  const entries = Object.values(BUNDLED_ENTRIES).map((path) => join(REPOSITORY, path));
  const bundles = entries.map((entry) => [entry, existing(bundleOf(entry))] as const);
  const url = (file: string): string => pathToFileURL(file).href;
  const preload = new URL('fixtures/start-bundles.ts', import.meta.url).href;
  return {
    NODE_OPTIONS: `--import=${preload}`,
    BUNDLES_BY_ENTRY: JSON.stringify(
      Object.fromEntries(bundles.map(([entry, { file }]) => [url(entry), url(file)])),
    ),
  };
}

function existing<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('An entry of BUNDLED_ENTRIES has no bundle.');
  return value;
}
