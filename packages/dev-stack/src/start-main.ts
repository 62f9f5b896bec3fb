import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { startEmbeddedStack } from './embedded-stack.ts';
import { type ServiceOfRole, urlOfService } from './postgres/service-roles.ts';
import { type Environment, readStartConfig, REPOSITORY, type StartConfig } from './stack-config.ts';
import { DevServer, followSources } from './start/follow-sources.ts';
import { chooseAddresses, createServices, keepUp, reachableUrl } from './start/services.ts';
import { sourceCommand } from './child-command.ts';
import { runMain, StackError } from './stack-error.ts';

/**
 * `npm start` runs the embedded stack, the migrations and the three services in the foreground until Ctrl-C.
 * `npm run dev` does the same, and follows changes of the sources.
 */
const isDevelopment = process.argv[2] === 'dev';
const report = (line: string) => process.stdout.write(`${line}\n`);

await runMain(async (stop) => {
  const config = readStartConfig(process.env);
  const addresses = await chooseAddresses(config, isDevelopment);
  const parts = { postgres: config.embeddedPostgres, aws: config.embeddedAws };
  const stack = await startEmbeddedStack(config, parts, report);
  try {
    const env = serviceEnvironment(config, stack.environment);
    await runMigrations(env);
    if (stop.aborted) return;
    const token = await keepDevToken(environmentOf('api', config, env), config.dataDir);
    if (stop.aborted) return;
    const services = createServices(config, addresses, (name) => environmentOf(name, config, env), {
      report,
      isDevelopment,
    });
    const server = new DevServer(addresses.api);
    try {
      if (isDevelopment) await server.start(addresses.public);
      for (const service of services) service.start();
      await Promise.all(services.map((service) => service.ready(stop)));
      if (stop.aborted) return;
      server.release();
      const url = reachableUrl(addresses.public);
      report(
        welcome(url, config) + aboutToken(url, token) + aboutOperations(reachableUrl(addresses.operations)),
      );
      if (isDevelopment) await followSources({ services, server, report }, stop);
      else await Promise.all(services.map((service) => keepUp(service, report, stop)));
    } finally {
      report('stopping …');
      await Promise.all(services.map((service) => service.stop()));
      server.stop();
    }
  } finally {
    await stack.stop();
  }
});

function serviceEnvironment(config: StartConfig, added: Record<string, string>): Environment {
  const env: Record<string, string | undefined> = { ...process.env, ...added };
  // The AWS SDK would prefer a profile or session of the developer to the keys of the emulator.
  if (config.embeddedAws) for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN']) delete env[name];
  return env;
}

/**
 * With an embedded Postgres, each service connects as its own role. The migration connects as the superuser.
 */
function environmentOf(
  service: ServiceOfRole,
  { embeddedPostgres }: StartConfig,
  env: Environment,
): Environment {
  return embeddedPostgres && env.DATABASE_URL
    ? { ...env, DATABASE_URL: urlOfService(env.DATABASE_URL, service) }
    : env;
}

function welcome(url: string, { dataDir }: StartConfig): string {
  return `
Pasteflow is running at ${url} (Ctrl-C stops it; the data is kept in ${dataDir})

  echo hello | curl --data-binary @- ${url}/

prints the URL of a new paste. To read the paste, and wait for its upload if necessary:

  curl --retry 5 URL
`;
}

function aboutToken(url: string, token: string | null): string {
  if (token === null) return '';
  return `
The API token of the user dev, for pastes with an owner and for jobs:

  ${token}

  curl -H 'Authorization: Bearer ${token}' ${url}/v1/pastes

lists the pastes of dev. To create a token for another user: npm run token -- NAME
`;
}

function aboutOperations(url: string): string {
  const { OPS_TOKEN: token, OPS_OIDC_ISSUER: issuer } = process.env;
  const withToken = token
    ? ': enter any name, and OPS_TOKEN as the password'
    : ', without a password on this machine';
  return `
Operators see figures, failures and timelines at ${url}${issuer ? `, signed in at ${issuer}` : withToken}
`;
}

/**
 * Runs an entry of a package or service as a process of its own, because dev-stack imports nothing of the
 * workspace. Detached, so that a Ctrl-C in the terminal does not end it halfway.
 */
function run(entry: string, args: readonly string[], env: Environment, stdio: StdioOptions): ChildProcess {
  const [command, ...rest] = sourceCommand(join(REPOSITORY, entry), args, 'TERM');
  return spawn(command, rest, { env, stdio, detached: true });
}

/** Runs the migrations. Their output goes to the terminal. */
async function runMigrations(env: Environment): Promise<void> {
  const child = run('packages/postgres/src/migrate-main.ts', [], env, 'inherit');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0)
    throw new StackError(
      'migrations-failed',
      `The migrations failed with ${signal ?? `code ${code}`}. Read their message above.`,
    );
}

/**
 * Reads or creates the API token of the user `dev`. The token is stored in the data folder, so it stays the
 * same while it is valid.
 * @returns null after printing the reason when no token could be created; Pasteflow runs without it
 */
async function keepDevToken(env: Environment, dataDir: string): Promise<string | null> {
  mkdirSync(dataDir, { recursive: true }); // Without an embedded stack the folder may be missing.
  const args = ['dev', '--token-name', 'npm start', '--keep-in', join(dataDir, 'dev-token')];
  const child = run('services/api/src/token-main.ts', args, env, ['ignore', 'pipe', 'pipe']);
  const [token, notice, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (code === 0) return token.trim();
  process.stderr.write(notice);
  return null;
}
