import { describe, expect, it } from '@jest/globals';
import { decodeJob, decodeUpload } from '../src/index.ts';
import { decodeContext, encodeContext, encodeJob, encodeUpload } from '../src/wire.ts';

describe('an upload message', () => {
  it('is exactly { shortCode, contentBytes }, with the content as base64', () => {
    expect(JSON.parse(encodeUpload('abc', Buffer.from([0, 255])))).toEqual({
      shortCode: 'abc',
      contentBytes: 'AP8=',
    });
    expect(JSON.parse(encodeUpload('abc', null))).toEqual({ shortCode: 'abc' });
  });

  it('cannot be encoded with an invalid short code', () => {
    expect(() => encodeUpload('../x', null)).toThrow('not a short code');
  });

  it('is decoded to what was encoded', () => {
    expect(decodeUpload(encodeUpload('abc', Buffer.from('hello')))).toEqual({
      shortCode: 'abc',
      contentBytes: Buffer.from('hello').toString('base64'),
    });
    expect(decodeUpload(encodeUpload('abc', null))).toEqual({ shortCode: 'abc' });
  });

  it('of a later release may have more fields', () => {
    expect(decodeUpload('{"shortCode":"abc","more":1}')).toEqual({ shortCode: 'abc' });
  });

  it.each([
    undefined,
    '',
    'no json',
    'null',
    '[]',
    '{}',
    '{"shortCode":7}',
    '{"shortCode":"../x"}',
    '{"shortCode":"abc","contentBytes":"%"}',
  ])('is rejected as malformed when the body is %s', (body) => {
    expect(() => decodeUpload(body)).toThrow(expect.objectContaining({ code: 'malformed_message' }));
  });
});

describe('a job message', () => {
  const jobId = '0190b8a0-1234-7000-8000-0123456789ab';

  it('is exactly { jobId }, and is decoded to what was encoded', () => {
    expect(JSON.parse(encodeJob(jobId))).toEqual({ jobId });
    expect(decodeJob(encodeJob(jobId))).toEqual({ jobId });
  });

  it('of a later release may have more fields', () => {
    expect(decodeJob(JSON.stringify({ jobId, more: 1 }))).toEqual({ jobId });
  });

  it.each([
    undefined,
    'no json',
    '{}',
    '{"jobId":7}',
    '{"jobId":"abc"}',
    `{"jobId":"${jobId.toUpperCase()}"}`,
  ])('is rejected as malformed when the body is %s', (body) => {
    expect(() => decodeJob(body)).toThrow(expect.objectContaining({ code: 'malformed_message' }));
  });

  it('cannot be encoded with an invalid job id', () => {
    expect(() => encodeJob("'; DROP TABLE jobs")).toThrow('not the id of a job');
  });
});

describe('a message context', () => {
  it('is encoded as message attributes and decoded from them', () => {
    const context = {
      requestId: 'r-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    expect(decodeContext(encodeContext(context))).toEqual(context);
  });

  it('omits values that SQS would reject', () => {
    expect(encodeContext({ requestId: '', traceparent: 'a\u0000b' })).toEqual({});
    expect(decodeContext(undefined)).toEqual({});
  });
});
