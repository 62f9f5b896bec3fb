import { readFileSync } from 'node:fs';
import { derivedSettings, type Configuration, type ServiceName } from './configuration.ts';

/** A variable of OpenTelemetry's specification: .env.example names the usual ones alone. */
const OPEN_TELEMETRY = /^OTEL_[A-Z0-9_]+$/;

/** What `environment` of the configuration has for a service. @throws Error that names a setting which no service reads, or which isn't the configuration's to set */
export function settingsOf({ environment }: Configuration, service: ServiceName): Record<string, string> {
  const settings: Record<string, string> = { ...environment.all, ...environment[service] };
  const known = knownSettings();
  for (const name of Object.keys(settings)) {
    if ((derivedSettings as readonly string[]).includes(name))
      throw new Error(`environment: ${name} follows from what the stacks make`);
    if (!known.has(name) && !OPEN_TELEMETRY.test(name))
      throw new Error(`environment: .env.example has no ${name}`);
  }
  return settings;
}

function knownSettings(): Set<string> {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  return new Set([...text.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name));
}
