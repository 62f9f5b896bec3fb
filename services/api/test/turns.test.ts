import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { Turns } from '../src/http/server/turns.ts';

it('a connection that waits for its next request keeps no answer', () => {
  const [turns, socket] = [new Turns(), new Socket()];
  const take = (): ServerResponse => {
    const req = new IncomingMessage(socket);
    const res = new ServerResponse(req);
    turns.take(req, res, () => {});
    return res;
  };
  expect(turns.pending(socket)).toBeUndefined();
  const first = take();
  expect(turns.pending(socket)).toBe(first);
  const second = take();
  turns.leave(socket, first);
  expect(turns.pending(socket)).toBe(second);
  turns.leave(socket, second);
  expect(turns.pending(socket)).toBeUndefined();
});
