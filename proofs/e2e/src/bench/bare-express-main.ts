import type { AddressInfo } from 'node:net';
import express from 'express';
import { randomContent } from './load.ts';

/** Express that answers the same content to each read. */
const content = randomContent();
const app = express().disable('x-powered-by').disable('etag');
app.get('/:code', (_req, res) => void res.type('application/octet-stream').send(content));
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
});
