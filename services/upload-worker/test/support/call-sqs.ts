/** Calls SQS directly, for requests that packages/sqs never sends. */
export async function callSqs<T>(
  endpoint: string,
  action: string,
  name: string,
  body: object = {},
): Promise<T> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify({ QueueUrl: `${endpoint}/000000000000/${name}`, ...body }),
  });
  if (!response.ok) throw new Error(`${action}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
