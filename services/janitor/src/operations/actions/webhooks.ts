import { isUuid } from '@pasteflow/domain';
import {
  findKnownWebhook,
  removeWebhook as remove,
  switchOffWebhook as switchOff,
  switchOnAnyWebhook as switchOn,
  type Database,
  type KnownWebhook,
} from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { originOf } from '../reports/webhooks.ts';
import { Refused, type Action } from './action.ts';
import { webhook } from './subjects.ts';

/** The subject is the id of anybody's endpoint. */
export const switchOffWebhook: Action = {
  name: 'switch-off-webhook',
  title: 'Switch the endpoint off',
  command: {
    name: 'switch-off-webhook',
    subjects: [webhook],
    help: 'tells an endpoint of a webhook nothing more; its user sees that an operator did it, and cannot switch it on again',
    reason: 'needed',
  },
  check: async ({ db }, id) => {
    const found = await find(db, id);
    if (found === null) return null;
    const count = found.switchedOffFor === 'operator' ? 0 : 1;
    return {
      count,
      sentence: `This switches ${counted(count, 'endpoint')} off. It is one ${describe(found)}. Deliveries that wait and will fail: ${found.waiting}.`,
    };
  },
  do: async ({ db }, id) => {
    const isDone = isUuid(id) && (await switchOff(db, id));
    const found = await find(db, id);
    if (found === null) throw new Refused(`there is no endpoint ${id}`);
    if (!isDone) throw new Refused(`an operator has switched the endpoint ${id} off before`);
    return {
      outcome: `Switched the endpoint ${id} off. It is one ${describe(found)}.`,
      json: { id, user_id: found.userId, origin: originOf(found) },
    };
  },
};

/** The subject is the id of anybody's endpoint that is off, whoever or whatever has switched it off. */
export const switchOnWebhook: Action = {
  name: 'switch-on-webhook',
  title: 'Switch the endpoint on',
  command: {
    name: 'switch-on-webhook',
    subjects: [webhook],
    help: 'tells an endpoint that is off what happens from now on',
    reason: 'optional',
  },
  check: async ({ db }, id) => {
    const found = await find(db, id);
    if (found === null) return null;
    const count = found.switchedOffAt === null ? 0 : 1;
    return {
      count,
      sentence: `This switches ${counted(count, 'endpoint')} on. It is one ${describe(found)}.`,
    };
  },
  do: async ({ db }, id) => {
    const isDone = isUuid(id) && (await switchOn(db, id));
    const found = await find(db, id);
    if (found === null) throw new Refused(`there is no endpoint ${id}`);
    if (!isDone) throw new Refused(`the endpoint ${id} is on already`);
    return {
      outcome: `Switched the endpoint ${id} on. It is one ${describe(found)}.`,
      json: { id, user_id: found.userId, origin: originOf(found) },
    };
  },
};

/** The subject is the id of an endpoint of the operators. */
export const removeWebhook: Action = {
  name: 'remove-webhook',
  title: 'Remove the endpoint',
  command: {
    name: 'remove-webhook',
    subjects: [webhook],
    help: 'removes an endpoint of the operators',
    reason: 'optional',
  },
  check: async ({ db }, id) => {
    const found = await find(db, id);
    if (found?.userId !== null) return null;
    return { count: 1, sentence: `This removes 1 endpoint ${describe(found)}.` };
  },
  do: async ({ db }, id) => {
    if (!isUuid(id) || !(await remove(db, id, null)))
      throw new Refused(`the operators have no endpoint ${id}; one of a user can be switched off`);
    return { outcome: `Removed the endpoint ${id}.`, json: { id, removed: true } };
  },
};

async function find(db: Database, id: string): Promise<KnownWebhook | null> {
  return isUuid(id) ? await findKnownWebhook(db, id) : null;
}

/** `of the user … at https://…`, without the rest of the URL, which is a secret. */
function describe(found: KnownWebhook): string {
  return `of ${found.userId === null ? 'the operators' : `the user ${found.userId}`} at ${originOf(found)}`;
}
