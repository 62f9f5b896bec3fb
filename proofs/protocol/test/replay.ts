import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '@pasteflow/dev-stack/testing';
import {
  firstStep,
  initialState,
  kindOf,
  nextInCalm,
  rules,
  stepsFrom,
  type ActionName,
  type Rules,
  type State,
  type Step,
} from '../src/index.ts';
import type { Database } from '@pasteflow/postgres';
import { RealPaste, type Rows } from './real-paste.ts';

const BOUNDS = { workers: 2, faults: 12, retries: 1 };
const STEPS = 40;

export interface Replayed {
  readonly steps: number;
  /** The actions that happened. */
  readonly actions: ReadonlySet<ActionName>;
  /** The trace after which the rows are not those of the model, and both; null: they always are. */
  readonly difference: string | null;
}

/**
 * Performs random traces of the model, each to its end, by the real statements.
 * @param mutant replaces rules of the model
 */
export async function replay(
  db: Database,
  { traces, seed = 1, mutant = {} }: { traces: number; seed?: number; mutant?: Partial<Rules> },
): Promise<Replayed> {
  const random = seededRandom(seed);
  const actions = new Set<ActionName>();
  let steps = 0;
  for (let trace = 0; trace < traces; trace += 1) {
    const delaysMs = Array.from({ length: trace % 3 }, () => 1000);
    const ofTrace = { ...rules, ...mutant, policy: { delaysMs, jitterMs: 0 } };
    const real = await RealPaste.create(db, ofTrace);
    const path: string[] = [];
    let state = initialState(BOUNDS);
    for (;;) {
      const step =
        path.length < STEPS
          ? anyStep(state, ofTrace, { random, isS3Down: trace % 2 === 1 })
          : nextAtEnd(state, ofTrace);
      if (step === null) break;
      const { action } = step;
      path.push(`${action.name} (${action.by})`);
      actions.add(action.name);
      steps += 1;
      const difference =
        (await compare(real, () => real.perform(action, state), step.state)) ??
        (await compare(real, () => refuse(real, step.state, ofTrace, random), step.state));
      if (difference !== null) return { steps, actions, difference: [...path, difference].join('\n') };
      state = step.state;
    }
  }
  return { steps, actions, difference: null };
}

function oneOf<Item>(items: readonly Item[], random: () => number): Item | null {
  return items[Math.floor(random() * items.length)] ?? null;
}

/** How often a step of each kind is chosen. */
const WEIGHTS = { progress: 6, choice: 1, fault: 3 };

const STORES: readonly ActionName[] = ['a put succeeds', 'the answer of a put is lost'];

interface Chance {
  readonly random: () => number;
  /** No put stores anything in time, so that uploads fail. */
  readonly isS3Down: boolean;
}

function anyStep(state: State, given: Rules, { random, isS3Down }: Chance): Step | null {
  const weighted = stepsFrom(state, given).flatMap((step) =>
    isS3Down && STORES.includes(step.action.name)
      ? []
      : Array.from({ length: WEIGHTS[kindOf(step.action.name)] }, () => step),
  );
  return oneOf(weighted, random);
}

/** The services end the work, and then the sweeps of days remove what may be removed. */
function nextAtEnd(state: State, given: Rules): Step | null {
  return (
    nextInCalm(state, given) ??
    firstStep('an old failed paste is claimed', state, given) ??
    firstStep('a tombstone is removed', state, given)
  );
}

/** Statements of sweeps and operators that change nothing in a state, by the rules. */
const refusals: Partial<Record<ActionName, (state: State, given: Rules) => boolean>> = {
  'a zombie is reaped': ({ open }, { reaps }) => !open.some(reaps),
  'stranded work is rescued': ({ stranded }) => stranded === null,
  'a cleanup claims the paste': ({ paste }, { cleansUp }) => paste !== null && !cleansUp(paste),
  'the claim of a dead cleanup is released': ({ paste }) => paste?.deletion !== 'DELETION_IN_PROGRESS',
  'a tombstone is removed': ({ paste }) => paste?.deletion !== 'DELETED',
  'an old failed paste is claimed': ({ paste }) => paste?.status !== 'FAILED',
  'a failed paste is retried': ({ paste }) =>
    paste?.status !== 'FAILED' || !paste.hasFailedPayload || paste.deletionRequested,
};

async function refuse(real: RealPaste, state: State, given: Rules, random: () => number): Promise<void> {
  const names = (Object.keys(refusals) as ActionName[]).filter((name) => refusals[name]?.(state, given));
  const name = oneOf(names, random);
  if (name !== null) await real.perform({ name, by: 0 }, state);
}

async function compare(real: RealPaste, run: () => Promise<void>, state: State): Promise<string | null> {
  const expected = rowsOf(state);
  try {
    await run();
  } catch (error) {
    return String(error);
  }
  const found = await real.read();
  if (isDeepStrictEqual(found, expected)) return null;
  return `Postgres: ${JSON.stringify(found)}\nmodel:    ${JSON.stringify(expected)}`;
}

function rowsOf(state: State): Rows {
  const paste = state.paste && (({ claim: _, ...rest }) => rest)(state.paste);
  return { paste, open: state.open.map(({ id: _, ...rest }) => rest), isLive: rules.isLive(state) };
}
