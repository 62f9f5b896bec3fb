import { reasonClasses, textForOwner, type Reason } from '@pasteflow/domain';
import { z } from 'zod';
import type { Audience } from './audience.ts';

/** The class of a reason, which everybody sees. */
export const reasonClass = z
  .enum(reasonClasses)
  .nullable()
  .meta({ description: 'Why, in one word of a closed list; null: for no special reason.' });

/** The text of a reason, which its owner sees. */
export const reasonText = z
  .string()
  .nullable()
  .meta({ description: 'Why, in words. Only for the owner; null for all others.' });

interface ReasonView {
  readonly class: z.output<typeof reasonClass>;
  readonly text: string | null;
}

/**
 * What a caller sees of a reason. Names of hosts, modules and processes are for operators only: `npm run ops -- timeline` shows the stored
 * text.
 * @param reason null: there is none
 */
export function viewOfReason(reason: Reason | null, audience: Audience): ReasonView {
  if (reason === null) return { class: null, text: null };
  return { class: reason.class, text: audience === 'owner' ? textForOwner(reason) : null };
}
