import { createClient, PasteflowApiError, type Usage } from '@pasteflow/client';
import { hostname } from 'node:os';
import { EXIT_DONE, EXIT_FAILED, type ExitCode, messageOf, UsageError } from '../errors.ts';
import { configPathOf, readConfigFile, writeConfigFile } from '../settings/config-file.ts';
import {
  checkedToken,
  isReadableByOthers,
  offeringServer,
  readSettings,
  serverOf,
  type CommonOptions,
} from '../settings/settings.ts';
import { noteRetries } from '../session.ts';
import { Output } from '../terminal/output.ts';
import { sizeText } from '../terminal/progress-bar.ts';
import { showInBrowser } from '../terminal/programs.ts';
import { readSecret, type Terminal } from '../terminal/terminal.ts';

/** The server takes names of at most 100 characters. */
const MAX_MACHINE_NAME = 90;

/**
 * `pasteflow login`: shows the page on which one makes a token, asks for the token, tries it, and keeps it with
 * the server.
 */
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
      ? checkedToken(await askForToken(terminal, server, output, signal))
      : ((await readSettings(terminal.env, options)).token ?? '');
  await assertAccepted(server, token, output, signal);
  const config = await readConfigFile(terminal.env);
  await writeConfigFile(terminal.env, { server, tokens: { ...config.tokens, [server]: token } });
  output.note(`Logged in to ${server}. The token is in ${configPathOf(terminal.env)}.`);
  return EXIT_DONE;
}

async function askForToken(
  terminal: Terminal,
  server: string,
  output: Output,
  signal: AbortSignal,
): Promise<string> {
  if (terminal.stdin.isTTY === true) {
    const name = `pasteflow on ${hostname()}`.slice(0, MAX_MACHINE_NAME);
    const page = `${server}/my/tokens?name=${encodeURIComponent(name)}`;
    output.note('Make a token on this page, and paste it here. A token from the operator will do, too.');
    output.note(page);
    showInBrowser(terminal, page);
  }
  return await readSecret(terminal, `Token for ${server}: `, signal);
}

/** `pasteflow logout`: revokes the token, unless an operator has made it, and forgets it in any case. */
export async function logout(
  terminal: Terminal,
  options: CommonOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const output = new Output(terminal, { json: options.json === true });
  const server = await serverFor(terminal, options);
  const config = await readConfigFile(terminal.env);
  const { [server]: token, ...tokens } = config.tokens;
  if (token === undefined) {
    output.note(`No token for ${server} is kept.`);
    return EXIT_DONE;
  }
  await writeConfigFile(terminal.env, { ...config, tokens });
  try {
    const outcome = await revokeOwn(server, checkedToken(token), signal);
    output.note(`Forgot the token for ${server}. ${OUTCOMES[outcome]}`);
    return EXIT_DONE;
  } catch (error) {
    output.note(`Forgot the token for ${server}, and could not revoke it: ${messageOf(error)}`);
    output.note(`Revoke it at ${server}/my/tokens.`);
    return EXIT_FAILED;
  }
}

const OUTCOMES = {
  revoked: 'It is revoked.',
  ended: 'It was no longer valid.',
  given: 'You did not make it yourself, and it stays valid. You can revoke it on the page /my/tokens.',
} as const;

const REVOKE_TIMEOUT_MS = 10_000;

/** A token that an operator has made stays: other machines may use it, and tokens that it has made end with it. */
async function revokeOwn(server: string, token: string, signal: AbortSignal): Promise<keyof typeof OUTCOMES> {
  const { api } = createClient({ baseUrl: server, token });
  const init = { signal: AbortSignal.any([signal, AbortSignal.timeout(REVOKE_TIMEOUT_MS)]) };
  const { data, response } = await api.GET('/v1/tokens', init);
  if (response.status === 401) return 'ended';
  if (data === undefined) throw new Error(`the server answers ${response.status}.`);
  const own = data.tokens.find((each) => each.is_this);
  if (own === undefined || own.scope === 'full') return 'given';
  const params = { path: { id: own.id } };
  const { response: revoked } = await api.DELETE('/v1/tokens/{id}', { ...init, params });
  if (revoked.ok) return 'revoked';
  if (revoked.status === 401 || revoked.status === 404) return 'ended'; // somebody else was first
  throw new Error(`the server answers ${revoked.status}.`);
}

/** `pasteflow whoami`: the server, the user of the token, which the server must accept, and what is used of limits. */
export async function whoami(
  terminal: Terminal,
  options: CommonOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const output = new Output(terminal, { json: options.json === true });
  const { server, token } = await readSettings(terminal.env, options);
  if (token !== undefined) await assertAccepted(server, token, output, signal);
  const { user, usage } = await usageOf(server, token, signal);
  const how =
    token === undefined
      ? 'anonymous, without a token'
      : `signed in with a token${user === null ? '' : ` of ${user}`}`;
  output.result(
    {
      server,
      anonymous: token === undefined,
      ...(user !== null && { user }),
      ...(usage.length > 0 && { usage: Object.fromEntries(usage) }),
    },
    [`${server}  ${how}`, ...usage.map(usageLine)],
  );
  return EXIT_DONE;
}

function usageLine([name, { used, allowed }]: readonly [string, NonNullable<Usage['pastes']>]): string {
  if (name === 'pastes') return `pastes  ${used} of ${allowed}`;
  return `${name === 'bytes_today' ? 'today' : 'stored'}  ${sizeText(used)} of ${sizeText(allowed)}`;
}

/** A server that does not answer must not keep `whoami` from printing what it knows. */
const USAGE_TIMEOUT_MS = 5000;

/**
 * The name of the user, and what is used of each limit. null and empty: the server has none, or an older one
 * doesn't say.
 */
async function usageOf(server: string, token: string | undefined, signal: AbortSignal) {
  const answer = await createClient({ baseUrl: server, token })
    .api.GET('/v1/usage', { signal: AbortSignal.any([signal, AbortSignal.timeout(USAGE_TIMEOUT_MS)]) })
    .catch(() => null); // the answer is of no consequence
  const limits: Partial<Usage> = answer?.data ?? {};
  const { user = null, pastes = null, stored_bytes = null, bytes_today = null } = limits;
  const usage = Object.entries({ pastes, stored_bytes, bytes_today }).flatMap(([name, of]) =>
    of === null ? [] : [[name, of] as const],
  );
  return { user, usage };
}

async function serverFor({ env }: Terminal, options: CommonOptions): Promise<string> {
  const named =
    options.server ??
    (env.PASTEFLOW_SERVER || (await readConfigFile(env)).server) ??
    (await offeringServer());
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
