import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hintAfter, useRunningStack, type Part } from './commands/use-running-stack.ts';
import { urlOfService, type ServiceOfRole } from './postgres/service-roles.ts';
import { REPOSITORY } from './stack-config.ts';

interface Command {
  readonly entry: string;
  readonly parts: readonly Part[];
  /** Whose rights in the database the command needs. */
  readonly rightsOf: ServiceOfRole;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  token: { entry: 'services/api/src/token-main.ts', parts: ['postgres'], rightsOf: 'api' },
  ops: { entry: 'services/janitor/src/ops-main.ts', parts: ['postgres', 'aws'], rightsOf: 'janitor' },
  janitor: { entry: 'services/janitor/src/main.ts', parts: ['postgres', 'aws'], rightsOf: 'janitor' },
};

/**
 * `npm run token`, `ops` and `janitor`: finds the embedded stack, and then becomes the service's own entry,
 * in the same process, so that signals and the exit code are the entry's. The services themselves, which are
 * also run elsewhere, know nothing of the embedded stack.
 */
const [name = '', ...args] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined)
  throw new Error(`There is no command ${name}; give one of ${Object.keys(COMMANDS).join(', ')}.`);
const entry = join(REPOSITORY, command.entry);
process.argv.splice(1, 2, entry);

// Without arguments the janitor is a service, which runs only on what its environment names.
if (args.length > 0) {
  const given = process.env.DATABASE_URL;
  const use = await useRunningStack(process.env, command.parts);
  const { DATABASE_URL: url } = process.env;
  if (url && url !== given) process.env.DATABASE_URL = urlOfService(url, command.rightsOf);
  process.once('exit', (code) => process.stderr.write(hintAfter(code, use)));
}
await import(pathToFileURL(entry).href);
