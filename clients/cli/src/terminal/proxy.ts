import * as http from 'node:http';
import type { Terminal } from './terminal.ts';

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Sends requests through the proxy that the environment names, except to the hosts of NO_PROXY. */
export function useProxyOfEnvironment({ env, stderr }: Pick<Terminal, 'env' | 'stderr'>): void {
  const [variable] = VARIABLES.filter((name) => (env[name] ?? '') !== '');
  if (variable === undefined || env.NODE_USE_ENV_PROXY === '1') return;
  // Node has the function since 24.14, and the variable since 22.21.
  const { setGlobalProxyFromEnv } = http as { setGlobalProxyFromEnv?: (env: Terminal['env']) => unknown };
  if (setGlobalProxyFromEnv !== undefined) setGlobalProxyFromEnv(env);
  else
    stderr.write(
      `pasteflow: this Node ignores ${variable}. Use Node 24.14 or later, or set NODE_USE_ENV_PROXY=1 with Node 22.21 or later.\n`,
    );
}
