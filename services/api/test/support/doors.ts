import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { spawnService } from '@pasteflow/dev-stack/testing';
import type { ApiBed } from './api.ts';
import { ownPage, postJson, problemOf } from './http.ts';
import { recordedBody } from './recorded-pastes.ts';
import { BROWSER } from './sign-in.ts';

export interface Sent {
  /** One of PrivateBin's: 1d, 7d, 30d or never. Default: nothing is said. */
  readonly expires?: string;
  readonly burn?: boolean;
  readonly bytes?: number;
}

export interface Answered {
  readonly status: number;
  /** The fields that break a rule; null: the door does not tell. */
  readonly fields: readonly string[] | null;
}

export type Headers = Readonly<Record<string, string>>;
type Door = (sent: Sent, headers: Headers) => Promise<Answered>;

const textOf = ({ bytes = 10 }: Sent): string => 'x'.repeat(bytes);
const optionsOf = ({ expires, burn }: Sent) => ({
  ...(expires !== undefined && { expires_in: expires }),
  ...(burn === true && { burn: 'true' }),
});
const queryOf = (sent: Sent): string => String(new URLSearchParams(optionsOf(sent)));

export async function answered(response: Response): Promise<Answered> {
  if (response.ok) return { status: response.status, fields: [] };
  const { code, errors = [] } = await problemOf(response);
  expect(code).toBe('validation_failed');
  return { status: response.status, fields: errors.map(({ path }) => path) };
}

function formOf(sent: Sent, files: readonly string[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(optionsOf(sent))) form.append(name, value);
  for (const name of files) form.append('content', new Blob([textOf(sent)]), name);
  return form;
}

const LIFETIMES: Readonly<Record<string, string>> = { '1d': '1day', '7d': '1week', '30d': '1month' };

const PRIVATE_BIN_FIELDS: Readonly<Record<string, string>> = {
  'meta.expire': 'expires_in',
  'adata.3': 'burn',
  ct: 'content',
};

/** Every way in which a paste is created at once. @param folder for files of the command line */
export const doorsOf = (bed: ApiBed, folder: () => string): Readonly<Record<string, Door>> => ({
  JSON: async (sent, headers) => {
    const burn = sent.burn === undefined ? {} : { burn: sent.burn };
    return answered(
      await postJson(bed.api.url, { ...optionsOf(sent), ...burn, content: textOf(sent) }, headers),
    );
  },
  'several files as JSON': async (sent, headers) => {
    const burn = sent.burn === undefined ? {} : { burn: sent.burn };
    const files = ['a.txt', 'b.txt'].map((name) => ({ name, content: textOf(sent) }));
    return answered(await postJson(bed.api.url, { ...optionsOf(sent), ...burn, files }, headers));
  },
  'a raw body': async (sent, headers) =>
    answered(
      await fetch(`${bed.api.url}/v1/pastes?${queryOf(sent)}`, {
        method: 'POST',
        body: textOf(sent),
        headers,
      }),
    ),
  'a shell': async (sent, headers) =>
    answered(
      await fetch(`${bed.api.url}/?${queryOf(sent)}`, { method: 'POST', body: textOf(sent), headers }),
    ),
  'a form': async (sent, headers) =>
    answered(
      await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: formOf(sent, ['a.txt']), headers }),
    ),
  'a form with several files': async (sent, headers) =>
    answered(
      await fetch(`${bed.api.url}/`, { method: 'POST', body: formOf(sent, ['a.txt', 'b.txt']), headers }),
    ),
  'the page': async (sent, headers) => {
    const { status } = await fetch(`${bed.api.url}/`, {
      method: 'POST',
      body: formOf(sent, ['a.txt']),
      headers: { ...BROWSER, ...ownPage(bed.api.url), ...headers },
    });
    return { status, fields: status === 422 ? null : [] };
  },
  PrivateBin: async (sent, headers) => {
    const { expires = 'never', burn = false, bytes = 0 } = sent;
    const { adata, ct, ...rest } = JSON.parse(recordedBody('text')) as { adata: unknown[]; ct: string };
    const response = await fetch(bed.api.url, {
      method: 'POST',
      headers: { 'X-Requested-With': 'JSONHttpRequest', ...headers },
      body: JSON.stringify({
        ...rest,
        adata: adata.with(3, burn ? 1 : 0),
        ct: bytes > 1000 ? 'QUJD'.repeat(bytes / 4) : ct,
        meta: { expire: LIFETIMES[expires] ?? expires },
      }),
    });
    const { status, message = '' } = (await response.json()) as { status: number; message?: string };
    expect(status).toBe(response.ok ? 0 : 1);
    const named = message.split('; ').map((rule) => PRIVATE_BIN_FIELDS[rule.split(' ')[0]!] ?? rule);
    return { status: response.ok ? 201 : response.status, fields: response.ok ? [] : named };
  },
  'the command line': async (sent, { authorization }) => {
    const file = join(folder(), `file-${sent.bytes ?? 10}`);
    await writeFile(file, textOf(sent));
    const program = spawnService({
      entry: fileURLToPath(new URL('../../../../clients/cli/src/pasteflow-main.ts', import.meta.url)),
      args: [
        'put',
        file,
        ...(sent.burn === true ? ['--burn'] : []),
        ...(sent.expires === undefined ? [] : ['--expires', sent.expires]),
      ],
      env: {
        HOME: folder(),
        PASTEFLOW_SERVER: bed.api.url,
        ...(authorization !== undefined && { PASTEFLOW_TOKEN: authorization.split(' ')[1]! }),
      },
      name: 'pasteflow',
    });
    const { code } = await program.exited;
    if (code === 0) return { status: 201, fields: [] };
    const [, ...rules] = program.stderr.join(' ').split(/: (?=expires_in|burn|content)/);
    return { status: code === 1 ? 422 : 500, fields: rules.map((rule) => rule.split(' ')[0]!) };
  },
});
