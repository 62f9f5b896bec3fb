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
      throw new Error(`environment: ${name} is set by the stacks; remove it from the configuration`);
    if (!known.has(name) && !OPEN_TELEMETRY.test(name))
      throw new Error(`environment: no service reads ${name}; .env.example lists every setting`);
  }
  return settings;
}

function knownSettings(): Set<string> {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  return new Set([...text.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name));
}
