import { readStoredUsage } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { callerKeyOf } from '../http/callers/caller.ts';
import { callerOf, namesOfUser } from '../http/callers/caller-of.ts';
import { personOf, personSchema, subjectOf } from '../http/callers/person.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';

const figures = z.object({ used: z.int(), allowed: z.int() });

const usageSchema = z
  .object({
    user: z.string().nullable().meta({ description: 'The name of the caller. null: without a token.' }),
    person: personSchema
      .nullable()
      .meta({ description: 'What others are told of the caller. null: without a token.' }),
    pastes: figures.nullable().meta({ description: "Of the caller's pastes. null: no limit." }),
    stored_bytes: figures.nullable().meta({ description: 'Of their contents. null: no limit.' }),
    bytes_today: figures.nullable().meta({
      description:
        "Without a token: what the caller's address has sent since its day began. null: no limit, or a token.",
    }),
  })
  .meta({
    id: 'Usage',
    description: 'What the caller uses of each limit on what may be stored.',
    examples: [
      {
        user: 'alice',
        person: { name: 'alice', issuer: null },
        pastes: { used: 12, allowed: 1000 },
        stored_bytes: { used: 48_311, allowed: 100_000_000 },
        bytes_today: null,
      },
    ],
  });

export type UsageView = z.output<typeof usageSchema>;

/** What a user has stored, as far as there are quotas. Costs no statement when there are none. */
export async function usageOfUser(
  { db, quotas }: ApiContext,
  userId: string,
): Promise<Pick<UsageView, 'pastes' | 'stored_bytes'>> {
  const { maxPastes = null, maxBytes = null } = quotas ?? {};
  if (maxPastes === null && maxBytes === null) return { pastes: null, stored_bytes: null };
  const { pastes, bytes } = await readStoredUsage(db, userId);
  return {
    pastes: maxPastes === null ? null : { used: pastes, allowed: maxPastes },
    stored_bytes: maxBytes === null ? null : { used: bytes, allowed: maxBytes },
  };
}

/** GET /v1/usage: who the caller is, what the caller uses, and what is allowed. */
export function readUsage(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readMyUsage',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Returns who the caller is, what the caller has stored, and what is allowed.',
      description: 'A deleted paste counts until its content is removed, which takes a minute or two.',
      answers: { 200: jsonResponse('The figures.', usageSchema) },
      errors: ['dependency_unavailable'],
    },
    handle: async (req, res) => {
      const caller = callerOf(req);
      const names = caller.kind === 'user' ? await namesOfUser(api.db, caller.userId) : null;
      const usage: UsageView =
        caller.kind === 'user' && names !== null
          ? {
              user: subjectOf(names.userName),
              person: personOf(names),
              ...(await usageOfUser(api, caller.userId)),
              bytes_today: null,
            }
          : {
              user: null,
              person: null,
              pastes: null,
              stored_bytes: null,
              bytes_today: await api.limits.addressBytes(callerKeyOf(caller)),
            };
      res.json(usage);
    },
  };
}
