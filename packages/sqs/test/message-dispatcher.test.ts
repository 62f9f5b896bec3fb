import { describe, expect, it, jest } from '@jest/globals';
import {
  MessageDispatcher,
  queueDepth,
  sendJobs,
  sendUploads,
  type OutgoingJob,
  type OutgoingUpload,
} from '../src/index.ts';
import { until, useEmulator } from './support/emulator.ts';

const emulator = useEmulator();

function createDispatcher() {
  const sent: string[] = [];
  const failures: number[] = [];
  const dispatcher = new MessageDispatcher<OutgoingUpload>({
    send: (messages) => sendUploads(emulator.client, emulator.queue, messages),
    onSent: (executionIds) => {
      sent.push(...executionIds);
      return Promise.resolve();
    },
    onError: (_error, count) => void failures.push(count),
  });
  return { dispatcher, sent, failures };
}

const uploads = (count: number): OutgoingUpload[] =>
  Array.from({ length: count }, (_, n) => ({
    executionId: `e${n}`,
    shortCode: `c${n}`,
    content: null,
    context: {},
  }));

describe('the dispatcher', () => {
  it('sends a burst of 100 messages in ten requests, and reports the sent ones', async () => {
    const before = await queueDepth(emulator.direct, emulator.queue);
    const { dispatcher, sent } = createDispatcher();
    for (const upload of uploads(100)) dispatcher.dispatch(upload);
    await dispatcher.stop();
    expect(emulator.proxy.matching({ target: 'SendMessageBatch' })).toHaveLength(10);
    expect(sent.toSorted()).toEqual(
      uploads(100)
        .map(({ executionId }) => executionId)
        .toSorted(),
    );
    expect(await queueDepth(emulator.direct, emulator.queue)).toBe(before + 100);
  });

  it('sends a single message although no other one follows', async () => {
    const { dispatcher, sent } = createDispatcher();
    dispatcher.dispatch(uploads(1)[0]!);
    await until(() => sent.length === 1);
    await dispatcher.stop();
  });

  it('lets messages that follow others wait for more of them, and one that comes alone for none', async () => {
    jest.useFakeTimers();
    try {
      const requests: number[] = [];
      const dispatcher = new MessageDispatcher<OutgoingUpload>({
        send: (messages) => {
          requests.push(messages.length);
          return Promise.resolve(messages.map(({ executionId }) => executionId));
        },
        onSent: () => Promise.resolve(),
        onError: () => {},
      });
      const [upload] = uploads(1);
      dispatcher.dispatch(upload!);
      await jest.advanceTimersByTimeAsync(10);
      expect(requests).toEqual([1]);
      for (let n = 0; n < 10; n += 1) {
        dispatcher.dispatch(upload!);
        await jest.advanceTimersByTimeAsync(20);
      }
      await jest.advanceTimersByTimeAsync(1000);
      dispatcher.dispatch(upload!);
      await jest.advanceTimersByTimeAsync(10);
      expect(requests).toEqual([1, 5, 5, 1]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('stamps what several requests have sent together, and well within the second of the relay', async () => {
    jest.useFakeTimers();
    try {
      const stamped: (readonly string[])[] = [];
      const dispatcher = new MessageDispatcher<OutgoingUpload>({
        send: (messages) => Promise.resolve(messages.map(({ executionId }) => executionId)),
        onSent: (executionIds) => Promise.resolve(void stamped.push(executionIds)),
        onError: () => {},
      });
      for (const upload of uploads(2)) {
        dispatcher.dispatch(upload);
        await jest.advanceTimersByTimeAsync(110);
      }
      expect(stamped).toEqual([]);
      await jest.advanceTimersByTimeAsync(280);
      expect(stamped).toEqual([['e0', 'e1']]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('sends ten messages with 44 KiB of content in requests of at most 256 KiB', async () => {
    const { dispatcher, sent, failures } = createDispatcher();
    for (const upload of uploads(10)) dispatcher.dispatch({ ...upload, content: Buffer.alloc(44 * 1024, 1) });
    await dispatcher.stop();
    expect(failures).toEqual([]);
    expect(sent).toHaveLength(10);
    const sizes = emulator.proxy.matching({ target: 'SendMessageBatch' }).map(({ bodyBytes }) => bodyBytes);
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThan(256 * 1024);
  });

  it('sends jobs, each with the id of its request', async () => {
    const jobId = '0190b8a0-1234-7000-8000-0123456789ab';
    const sent: string[] = [];
    const dispatcher = new MessageDispatcher<OutgoingJob>({
      send: (jobs) => sendJobs(emulator.client, emulator.queue, jobs),
      onSent: (executionIds) => Promise.resolve(void sent.push(...executionIds)),
      onError: () => {},
    });
    dispatcher.dispatch({ executionId: 'e', jobId, context: { requestId: 'r-1' } });
    await dispatcher.stop();
    expect(sent).toEqual(['e']);
    const [request] = emulator.proxy.matching({ target: 'SendMessageBatch' });
    expect(JSON.parse(String(request!.body)).Entries).toEqual([
      {
        Id: '0',
        MessageBody: JSON.stringify({ jobId }),
        MessageAttributes: { requestId: { DataType: 'String', StringValue: 'r-1' } },
      },
    ]);
  });

  it('sends the very object that it was given while messages are not traced', async () => {
    const sentMessages: OutgoingUpload[] = [];
    const dispatcher = new MessageDispatcher<OutgoingUpload>({
      send: (messages) =>
        Promise.resolve(messages.map((message) => (sentMessages.push(message), message.executionId))),
      onSent: () => Promise.resolve(),
      onError: () => {},
      trace: undefined,
    });
    const [upload] = uploads(1);
    dispatcher.dispatch(upload!);
    await dispatcher.stop();
    expect(sentMessages).toEqual([upload]);
    expect(sentMessages[0]).toBe(upload);
  });

  it('sends the traced form of each message, and ends its trace with the accepted messages or the error', async () => {
    const ended: [string, readonly string[], unknown][] = [];
    const answers = [['e0'], new Error('SQS is down')]; // SQS rejects e1
    const contexts: string[] = [];
    const failures: number[] = [];
    const dispatcher = new MessageDispatcher<OutgoingUpload>({
      send: (messages) => {
        contexts.push(...messages.map(({ context }) => context.traceparent ?? 'none'));
        const answer = answers.shift();
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer ?? []);
      },
      onSent: () => Promise.resolve(),
      onError: (_error, count) => void failures.push(count),
      trace: (message) => ({
        message: { ...message, context: { traceparent: `span of ${message.executionId}` } },
        ended: (sent, error) => void ended.push([message.executionId, sent, error]),
      }),
    });
    for (const upload of uploads(2)) dispatcher.dispatch(upload);
    await until(() => ended.length === 2);
    dispatcher.dispatch(uploads(1)[0]!);
    await dispatcher.stop();
    expect(contexts).toEqual(['span of e0', 'span of e1', 'span of e0']);
    expect(ended).toEqual([
      ['e0', ['e0'], undefined],
      ['e1', ['e0'], undefined],
      ['e0', [], new Error('SQS is down')],
    ]);
    expect(failures).toEqual([1, 1]);
  });

  it('drops and reports messages that it cannot send, and sends again once SQS is back', async () => {
    emulator.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 503 });
    const { dispatcher, sent, failures } = createDispatcher();
    for (const upload of uploads(20)) dispatcher.dispatch(upload);
    await until(() => failures.length === 2);
    expect(failures).toEqual([10, 10]);
    emulator.proxy.clear();
    dispatcher.dispatch(uploads(1)[0]!);
    await dispatcher.stop();
    expect(sent).toEqual(['e0']);
  });

  it('stops in time although SQS hangs', async () => {
    const held = emulator.proxy.hold({ target: 'SendMessageBatch' });
    const { dispatcher, sent } = createDispatcher();
    dispatcher.dispatch(uploads(1)[0]!);
    await dispatcher.stop(50);
    expect(sent).toEqual([]);
    await (await held).forward();
    await until(() => sent.length === 1);
  });

  it('ends a stop as soon as everything is sent, however long it may take', async () => {
    const { dispatcher, sent } = createDispatcher();
    dispatcher.dispatch(uploads(1)[0]!);
    const beganAt = performance.now();
    await dispatcher.stop(60_000);
    expect(sent).toEqual(['e0']);
    expect(performance.now() - beganAt).toBeLessThan(30_000);
  });

  it('sends 80 messages at once and keeps 1000 waiting, and leaves the others to the relay', async () => {
    const answer = Promise.withResolvers<readonly string[]>();
    const [ended, failures]: [string[], number[]] = [[], []];
    let requests = 0;
    const dispatcher = new MessageDispatcher<OutgoingUpload>({
      send: () => {
        requests += 1;
        return answer.promise;
      },
      onSent: () => Promise.resolve(),
      onError: (_error, count) => void failures.push(count),
      trace: (message) => ({ message, ended: () => void ended.push(message.executionId) }),
    });
    const messages = uploads(1200);
    for (const upload of messages) dispatcher.dispatch(upload);
    await until(() => failures.length > 0);
    expect(requests).toBe(8);
    expect(failures).toEqual(Array.from({ length: 120 }, () => 1));
    expect(ended).toEqual(messages.slice(-120).map(({ executionId }) => executionId));
    answer.reject(new Error('SQS is down'));
    await dispatcher.stop();
    expect(failures.slice(120)).toEqual(Array.from({ length: 108 }, () => 10));
    expect(ended).toHaveLength(1200);
  });

  it('counts every message of an outage once, as sent or as left to the relay', async () => {
    emulator.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 503 });
    const held = emulator.proxy.hold({ target: 'SendMessageBatch' });
    const { dispatcher, sent, failures } = createDispatcher();
    for (const upload of uploads(1200)) dispatcher.dispatch(upload);
    await (await held).forward();
    await dispatcher.stop();
    expect(sent.length + failures.reduce((sum, count) => sum + count, 0)).toBe(1200);
  });
});
