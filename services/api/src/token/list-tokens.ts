import { asJson, formatSecond, formatTable } from '@pasteflow/service-kit';
import type { ApiToken } from '@pasteflow/postgres';

export function tokensAsTable(tokens: readonly ApiToken[]): string {
  return formatTable(
    ['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
    tokens.map(({ id, name, createdAt, lastUsedAt, expiresAt, state }) => [
      id,
      name,
      formatSecond(createdAt),
      timeOrNever(lastUsedAt),
      timeOrNever(expiresAt),
      state,
    ]),
  );
}

export function tokensAsJson(tokens: readonly ApiToken[]): string {
  return asJson(
    tokens.map(({ id, name, createdAt, lastUsedAt, expiresAt, revokedAt, state }) => ({
      id,
      name,
      created_at: createdAt,
      last_used_at: lastUsedAt,
      expires_at: expiresAt,
      revoked_at: revokedAt,
      state,
    })),
  );
}

export function timeOrNever(time: Date | null): string {
  return time === null ? 'never' : formatSecond(time);
}
