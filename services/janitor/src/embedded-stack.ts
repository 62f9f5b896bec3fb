import { readStackFile, type Environment } from '@pasteflow/runtime';

const WHERE = [
  'DATABASE_URL',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_S3',
  'AWS_ENDPOINT_URL_SQS',
  'PASTEFLOW_STACK',
];

/**
 * For a command that is run by hand: puts into the environment where the embedded stack is that runs in another terminal, with its credentials,
 * when nothing is said of where things are. What is said goes before all of it: the queues of one system and the database of another must
 * never meet.
 * @param env the process's own: the AWS SDK reads its credentials there by itself
 */
export function findEmbeddedStack(env: Record<string, string | undefined>): void {
  const said = WHERE.filter((name) => (env[name] ?? '').trim() !== '');
  if (said.length > 1 || (said.length === 1 && said[0] !== 'DATABASE_URL')) return;
  const written = read(env);
  // With a Postgres of the operator's own, `npm start` has written down only what is embedded.
  if (written === null || (said.length === 1 && written.DATABASE_URL !== undefined)) return;
  Object.assign(env, written);
  // Of the developer's own, they would go before the emulator's keys.
  delete env.AWS_PROFILE;
  delete env.AWS_SESSION_TOKEN;
}

/** A file that can't be read is as good as none: the message about what is missing then says what to set. */
function read(env: Environment): Environment | null {
  try {
    return readStackFile(env).environment;
  } catch {
    return null;
  }
}
