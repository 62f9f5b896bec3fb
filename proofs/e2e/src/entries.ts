import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type ServiceName = 'api' | 'upload-worker' | 'janitor';

/** The paths of the entries that the tests run as processes. The tests import no service. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const path = (fromRoot: string): string => `${ROOT}${fromRoot}`;

export const MIGRATE_ENTRY = path('packages/postgres/src/migrate-main.ts');
export const OPS_ENTRY = path('services/janitor/src/ops-main.ts');
export const TOKEN_ENTRY = path('services/api/src/token-main.ts');
export const SETTINGS_EXAMPLE = path('.env.example');
export const STACK_ENTRY = path('packages/dev-stack/src/stack-main.ts');

/** Prometheus' configuration and rules, and Grafana's dashboard. */
export const OBSERVABILITY_FOLDER = path('infra/observability');
export const RUNBOOK = path('docs/runbook.md');

/** @param checkout the folder of another version, whose sources the service then runs */
export function entryOf(service: ServiceName, checkout: string = ROOT): string {
  return join(checkout, `services/${service}/src/main.ts`);
}
