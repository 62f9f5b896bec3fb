import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { SendMessageCommand, type Message } from '@aws-sdk/client-sqs';
import express from 'express';
import { Pool } from 'pg';
import { Consumer } from 'sqs-consumer';
import { s3ClientOf, sqsClientOf } from '../../aws.ts';

/**
 * What one would write instead of Pasteflow with the same parts, without an outbox, fences, retries and a
 * trail. Arguments: api or worker, database URL, endpoints of S3 and SQS, bucket, URL of the queue.
 */
const [role, connectionString, s3Endpoint = '', sqsEndpoint = '', Bucket, QueueUrl = ''] =
  process.argv.slice(2);
const db = new Pool({ connectionString });
const s3 = s3ClientOf(s3Endpoint);
const sqs = sqsClientOf(sqsEndpoint);
const keyOf = (shortCode: string): string => `by-hand/${shortCode}`;

interface Upload {
  readonly shortCode: string;
  /** Base64. */
  readonly contentBytes: string;
}

function serve(): void {
  const app = express();
  app.post('/v1/pastes', express.raw({ type: '*/*', limit: '10mb' }), async (req, res) => {
    const shortCode = randomBytes(6).toString('base64url');
    await db.query('INSERT INTO pastes (short_code) VALUES ($1)', [shortCode]);
    const upload: Upload = { shortCode, contentBytes: (req.body as Buffer).toString('base64') };
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(upload) }));
    res.status(201).json({ short_code: shortCode });
  });
  app.get('/:code', async (req, res) => {
    const { code } = req.params;
    const { rows } = await db.query<{ status: string }>('SELECT status FROM pastes WHERE short_code = $1', [
      code,
    ]);
    if (rows[0]?.status !== 'PROCESSED') {
      res.sendStatus(rows.length === 0 ? 404 : 503);
      return;
    }
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: keyOf(code) }));
    res.type('application/octet-stream').end(await Body?.transformToByteArray());
  });
  const server = app.listen(0, '127.0.0.1', () => {
    process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
  });
}

function work(): void {
  const consumer = Consumer.create({
    queueUrl: QueueUrl,
    sqs,
    batchSize: 10,
    handleMessageBatch: async (messages) => {
      await Promise.all(messages.map(store));
      return messages;
    },
  });
  consumer.on('error', (error) => process.stderr.write(`${error.message}\n`));
  consumer.on('processing_error', (error) => process.stderr.write(`${error.message}\n`));
  consumer.start();
}

async function store({ Body = '' }: Message): Promise<void> {
  const { shortCode, contentBytes } = JSON.parse(Body) as Upload;
  const Key = keyOf(shortCode);
  await s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(contentBytes, 'base64') }));
  await db.query(`UPDATE pastes SET status = 'PROCESSED', s3_url = $2 WHERE short_code = $1`, [
    shortCode,
    `s3://${Bucket}/${Key}`,
  ]);
}

if (role === 'api') serve();
else work();
