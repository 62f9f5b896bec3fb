import { describe, expect, it } from '@jest/globals';
import {
  actorClassOf,
  parseJobReason,
  parseReason,
  reasonClasses,
  storedReason,
  textForOwner,
  wordsOf,
} from '../src/index.ts';

/** Nobody but an operator may see any of it. */
const SECRET = 'connect ECONNREFUSED host-17:5432';

const classified = reasonClasses.filter((each) => each !== 'other');

describe('a stored reason', () => {
  it.each(classified)('keeps its class, with and without a text: %s', (reasonClass) => {
    expect(parseReason(storedReason(reasonClass, 'a text: with a colon'))).toEqual({
      class: reasonClass,
      text: 'a text: with a colon',
    });
    expect(parseReason(wordsOf(reasonClass))).toEqual({ class: reasonClass, text: null });
  });

  it.each(['', 'by hand', 'other', 'other: x', 'storage_unavailable: x', ' expired', 'expired:x', SECRET])(
    'is other unless it begins with the words of a class: %p',
    (stored) => {
      expect(parseReason(stored)).toEqual({ class: 'other', text: stored });
    },
  );

  it.each([
    ['claimed', 'claimed'],
    ['interrupted', 'interrupted'],
    ['worker lost: upload-worker/host-17-4711-ab12', 'worker_lost'],
    ['dead letter: received too often without an outcome', 'dead_letter'],
    ['object deleted', 'object_deleted'],
  ])('of the services has a class: %s', (stored, expected) => {
    expect(parseReason(stored).class).toBe(expected);
  });
});

describe('the text for an owner', () => {
  it('is the stored one for the classes that are written for owners, and the words of the class for all others', () => {
    const texts = classified.map((each) => [each, textForOwner(parseReason(storedReason(each, SECRET)))]);
    expect(Object.fromEntries(texts.filter(([, text]) => text === SECRET))).toEqual({
      interrupted: SECRET,
      dead_letter: SECRET,
      lost_too_often: SECRET,
      storage_unavailable: SECRET,
      storage_refused: SECRET,
      content_damaged: SECRET,
      work_failed: SECRET,
      endpoint_failed: SECRET,
      cancelled: SECRET,
      retried: SECRET,
    });
    for (const [each, text] of texts) {
      if (text !== SECRET) expect(text).toBe(String(each).replaceAll('_', ' '));
    }
  });

  it('is missing for a reason that has no class', () => {
    expect(textForOwner(parseReason(SECRET))).toBeNull();
    expect(textForOwner(parseReason(`6 attempts failed; the last: ${SECRET}`))).toBeNull();
  });
});

describe('the error message of a job', () => {
  it('is the text of its work, unless it is the reason of an attempt', () => {
    expect(parseJobReason('3 of 4 entries are not valid pastes')).toEqual({
      class: 'work_failed',
      text: '3 of 4 entries are not valid pastes',
    });
    expect(parseJobReason('internal: no luck')).toEqual({ class: 'internal', text: 'no luck' });
  });
});

describe('the class of an actor', () => {
  it.each([
    ['api/host-17-4711-ab12', 'api'],
    ['upload-worker/host-17-4711-ab12', 'worker'],
    ['janitor/host-17-4711-ab12', 'janitor'],
    ['ops/alice', 'operator'],
    ['pasteflow_api (api/host-17-4711-ab12)', 'api'],
    ['pasteflow_janitor (ops/alice@host)', 'operator'],
    ['postgres (psql)', 'operator'],
    ['api', 'operator'],
    ['constructor/x', 'operator'],
    ['', 'operator'],
  ])('of %p is %s', (actor, expected) => {
    expect(actorClassOf(actor)).toBe(expected);
  });
});
