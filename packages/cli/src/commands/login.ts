import { createClient, PasteflowApiError, type Usage } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import { configPathOf, readConfigFile, writeConfigFile } from '../settings/config-file.ts';
import {
  checkedToken,
  isReadableByOthers,
  readSettings,
  serverOf,
  type CommonOptions,
} from '../settings/settings.ts';
import { noteRetries } from '../session.ts';
import { Output } from '../terminal/output.ts';
import { readSecret, type Terminal } from '../terminal/terminal.ts';

/** `pasteflow login`: asks for a token, tries it, and keeps it with the server. */
export async function login(
  terminal: Terminal,
  options: CommonOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const output = new Output(terminal, { json: options.json === true });
  const server = await serverFor(terminal, options);
  if (isReadableByOthers(server))
    output.note(`Warning: ${server} is not encrypted. Others on the network can read your token.`);
  const token =
    options.tokenFile === undefined
      ? checkedToken(await readSecret(terminal, `Token for ${server}: `, signal))
      : ((await readSettings(terminal.env, options)).token ?? '');
  await assertAccepted(server, token, output, signal);
  const config = await readConfigFile(terminal.env);
  await writeConfigFile(terminal.env, { server, tokens: { ...config.tokens, [server]: token } });
  output.note(`Logged in to ${server}. The token is in ${configPathOf(terminal.env)}.`);
  return EXIT_DONE;
}

/** `pasteflow logout`: forgets the token. The server still accepts it. */
export async function logout(terminal: Terminal, options: CommonOptions): Promise<ExitCode> {
  const output = new Output(terminal, { json: options.json === true });
  const server = await serverFor(terminal, options);
  const config = await readConfigFile(terminal.env);
  const others = Object.entries(config.tokens).filter(([of]) => of !== server);
  await writeConfigFile(terminal.env, { ...config, tokens: Object.fromEntries(others) });
  output.note(
    `Forgot the token for ${server}. To make it invalid, ask the operator of the server to revoke it.`,
  );
  return EXIT_DONE;
}

/** `pasteflow whoami`: the server, whether the server accepts the token, and what is used of its limits. */
export async function whoami(
  terminal: Terminal,
  options: CommonOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const output = new Output(terminal, { json: options.json === true });
  const { server, token } = await readSettings(terminal.env, options);
  if (token !== undefined) await assertAccepted(server, token, output, signal);
  const how = token === undefined ? 'anonymous, without a token' : 'signed in with a token';
  const usage = await limitedUsage(server, token, signal);
  output.result(
    {
      server,
      anonymous: token === undefined,
      ...(usage.length > 0 && { usage: Object.fromEntries(usage) }),
    },
    [`${server}  ${how}`, ...usage.map(([name, { used, allowed }]) => `${name}  ${used} of ${allowed}`)],
  );
  return EXIT_DONE;
}

/** A server that does not answer must not keep `whoami` from printing what it knows. */
const USAGE_TIMEOUT_MS = 5000;

/** What is used of each limit; empty: the server has none, or has no such route. */
async function limitedUsage(server: string, token: string | undefined, signal: AbortSignal) {
  const answer = await createClient({ baseUrl: server, token })
    .api.GET('/v1/usage', { signal: AbortSignal.any([signal, AbortSignal.timeout(USAGE_TIMEOUT_MS)]) })
    .catch(() => null); // the answer is of no consequence
  const { pastes = null, stored_bytes = null, bytes_today = null }: Partial<Usage> = answer?.data ?? {};
  return Object.entries({ pastes, stored_bytes, bytes_today }).flatMap(([name, of]) =>
    of === null ? [] : [[name, of] as const],
  );
}

async function serverFor({ env }: Terminal, options: CommonOptions): Promise<string> {
  const named = options.server ?? (env.PASTEFLOW_SERVER || (await readConfigFile(env)).server);
  if (named === undefined) throw new UsageError('Name the server: --server https://paste.example.org');
  return serverOf(named);
}

/** Any request that needs a token shows whether the server accepts it. */
async function assertAccepted(
  server: string,
  token: string,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  try {
    const client = createClient({ baseUrl: server, token, onRetry: noteRetries(server, output) });
    await client.jobs.list({ limit: 1, signal }).page();
  } catch (error) {
    if (error instanceof PasteflowApiError && error.status === 401)
      throw new Error(`${server} does not accept this token.`, { cause: error });
    throw error;
  }
}
