import { readFileSync } from 'node:fs';
import { derivedSettings, type Configuration, type ServiceName } from './configuration.ts';

/** A variable of the OpenTelemetry specification. .env.example names only the usual ones. */
const OPEN_TELEMETRY = /^OTEL_[A-Z0-9_]+$/;

/**
 * The settings that `environment` of the configuration has for a service.
 * @throws Error that names a setting which no service reads, or which the stacks set
 */
export function settingsOf({ environment }: Configuration, service: ServiceName): Record<string, string> {
  const settings: Record<string, string> = { ...environment.all, ...environment[service] };
  const known = knownSettings();
  for (const name of Object.keys(settings)) {
    if ((derivedSettings as readonly string[]).includes(name))
      throw new Error(
        `environment: ${name} is set by the stacks; remove it from the configuration. docs/deploy.md says where secrets belong`,
      );
    if (!known.has(name) && !OPEN_TELEMETRY.test(name))
      throw new Error(`environment: no service reads ${name}; .env.example lists every setting`);
  }
  return settings;
}

/**
 * `OIDC_CLIENT_SECRET` is useless without the client that it belongs to, and the api would not start with it.
 * @throws Error that names the setting which is missing
 */
export function requireOidcClient(configuration: Configuration): void {
  if (configuration.oidcClientSecretArn === null) return;
  if (settingsOf(configuration, 'api')['OIDC_CLIENT_ID'] === undefined)
    throw new Error(
      'oidcClientSecretArn: the environment of the api has no OIDC_CLIENT_ID; set both or none of them',
    );
}

function knownSettings(): Set<string> {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  return new Set([...text.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name));
}
