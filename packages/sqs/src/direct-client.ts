import { hash } from 'node:crypto';
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  SQSServiceException,
  type Message,
  type MessageAttributeValue,
  type SendMessageBatchCommandOutput,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { DirectOrSdk, isThrottling, SignedRequests, type ErrorAnswer } from '@pasteflow/signed-requests';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';

export interface DirectOptions {
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Called once, when SQS has refused a direct request, and has granted the same request of the SDK. */
  readonly onDirectRefused?: ((error: unknown) => void) | undefined;
}

type PasteCommand = SendMessageBatchCommand | ReceiveMessageCommand | DeleteMessageBatchCommand;
type Send = (command: PasteCommand, signal: AbortSignal | undefined) => Promise<object>;

/**
 * Sends the three requests that every paste needs without the SDK's middleware, and all others by the SDK.
 * Inputs, outputs and errors are those of the SDK.
 */
export class DirectSqsClient extends SQSClient {
  readonly #options: DirectOptions;
  readonly #requests: DirectOrSdk<Send>;
  #direct: SignedRequests | undefined;

  constructor(config: SQSClientConfig, options: DirectOptions) {
    super(config);
    this.#options = options;
    this.#requests = new DirectOrSdk<Send>({
      sdk: (command, abortSignal) =>
        super.send(command as ReceiveMessageCommand, { ...(abortSignal && { abortSignal }) }),
      direct: () => this.#connect(),
      isRefused,
      onRefused: options.onDirectRefused,
    });
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the SDK's method has a type parameter for each command, and callbacks
  override send(command: any, options?: any, callback?: any): any {
    const kind = kindOf(command);
    if (kind === null) return super.send(command, options, callback);
    return this.#requests.send(kind, (send) =>
      send(command as PasteCommand, options?.abortSignal as AbortSignal | undefined),
    );
  }

  override destroy(): void {
    super.destroy();
    this.#direct?.close();
  }

  /** The address is resolved by the SDK's own rules: a custom endpoint, the region, FIPS and dual-stack endpoints. */
  async #connect(): Promise<Send | null> {
    const { url, properties } = await getEndpointFromInstructions(
      {},
      SendMessageBatchCommand,
      this.config as unknown as Parameters<typeof getEndpointFromInstructions>[2],
    );
    const [scheme] = (properties?.authSchemes ?? []) as { name: string; signingRegion?: string }[];
    if (scheme !== undefined && scheme.name !== 'sigv4') return null;
    const { requestTimeoutMs } = this.#options;
    const region = scheme?.signingRegion ?? (await this.config.region());
    // Another first request may have connected meanwhile.
    const requests = (this.#direct ??= new SignedRequests({
      client: this,
      service: 'sqs',
      url,
      region,
      bodyTimeoutMs: requestTimeoutMs,
      errorOf: answerError,
      ...this.#options,
    }));
    const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
    return async (command, signal) => {
      const body = JSON.stringify(command.input);
      const headers = {
        'content-length': String(Buffer.byteLength(body)),
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `AmazonSQS.${kindOf(command) ?? ''}`,
      };
      const sha256 = hash('sha256', body);
      const { text } = await requests.send({ method: 'POST', path, headers, sha256, body, signal });
      return { ...outputOf(command, JSON.parse(text || '{}') as object), $metadata: { httpStatusCode: 200 } };
    };
  }
}

/** The name of the request at SQS; null: the SDK sends it. A message with bytes, which only a moved one can have, needs its encoding. */
function kindOf(command: object): string | null {
  if (command instanceof ReceiveMessageCommand) return 'ReceiveMessage';
  if (command instanceof DeleteMessageBatchCommand) return 'DeleteMessageBatch';
  if (!(command instanceof SendMessageBatchCommand)) return null;
  const attributes = (command.input.Entries ?? []).flatMap(({ MessageAttributes = {} }) =>
    Object.values(MessageAttributes),
  );
  return attributes.some(({ BinaryValue }) => BinaryValue !== undefined) ? null : 'SendMessageBatch';
}

/** The output of the SDK, after its checks that no body was damaged. */
function outputOf(command: PasteCommand, answer: object): object {
  if (command instanceof ReceiveMessageCommand) {
    const { Messages = [] } = answer as { Messages?: Message[] };
    throwIfDamaged(Messages.filter(({ Body = '', MD5OfBody }) => MD5OfBody !== md5(Body)));
    for (const { MessageAttributes = {} } of Messages)
      for (const attribute of Object.values(MessageAttributes)) decodeBytes(attribute);
  }
  if (command instanceof SendMessageBatchCommand) {
    const bodies = new Map(command.input.Entries?.map(({ Id, MessageBody = '' }) => [Id, MessageBody]));
    const { Successful = [] } = answer as Partial<Pick<SendMessageBatchCommandOutput, 'Successful'>>;
    throwIfDamaged(
      Successful.filter(({ Id, MD5OfMessageBody }) => MD5OfMessageBody !== md5(bodies.get(Id) ?? '')),
    );
  }
  return answer;
}

/** As SQS computes it of each body, in hex. */
const md5 = (text: string): string => hash('md5', text);

function throwIfDamaged(damaged: readonly { readonly MessageId?: string | undefined }[]): void {
  if (damaged.length > 0)
    throw new Error(
      `Invalid MD5 checksum on messages: ${damaged.map(({ MessageId }) => MessageId).join(', ')}`,
    );
}

/** The bytes of an attribute come as base64. */
function decodeBytes(attribute: MessageAttributeValue): void {
  const base64 = attribute.BinaryValue as string | undefined;
  if (base64 !== undefined) attribute.BinaryValue = new Uint8Array(Buffer.from(base64, 'base64'));
}

/** The error that the SDK makes of an answer: its name is the code of SQS. The text is JSON, or a proxy's. */
function answerError({ statusCode, headers, text }: ErrorAnswer): SQSServiceException {
  const { __type, message, Message: capitalized } = fieldsOf(text);
  const name = /^(?:[\w.]*[#.])?(\w+)/.exec(__type ?? '')?.[1] ?? 'UnknownError'; // com.amazonaws.sqs#Name, or AWS.SimpleQueueService.Name
  const requestId = headers['x-amzn-requestid'];
  return new SQSServiceException({
    name,
    message: message ?? capitalized ?? name,
    $fault: statusCode >= 500 ? 'server' : 'client',
    $metadata: { httpStatusCode: statusCode, ...(typeof requestId === 'string' && { requestId }) },
  });
}

function fieldsOf(json: string): Partial<Record<'__type' | 'message' | 'Message', string>> {
  try {
    return JSON.parse(json) as object;
  } catch {
    return {};
  }
}

/** SQS does not grant the request in this form. Its state would not change the answer, nor would a later request. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof SQSServiceException) || isThrottling(error)) return false;
  const { httpStatusCode: status = 0 } = error.$metadata;
  return status === 501 || (status >= 400 && status < 500 && status !== 408 && status !== 429);
}
