// The accounts that the services have in versitygw, and what each may do. The unit calls it, as root.
//
//   node s3-accounts.mjs write       before the start: the accounts, with the keys that the installation has made
//   node s3-accounts.mjs permit      after the start: the policy of the bucket
import { createHash, createHmac } from 'node:crypto';
import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';

const FOLDER = '/var/lib/pasteflow/accounts';

function write() {
  const accounts = ['api', 'worker', 'janitor'].map((service) => {
    const keys = parseEnv(readFileSync(`/etc/pasteflow/s3-${service}.env`, 'utf8'));
    return { access: keys.AWS_ACCESS_KEY_ID, secret: keys.AWS_SECRET_ACCESS_KEY, role: 'user' };
  });
  const accessAccounts = Object.fromEntries(accounts.map((account) => [account.access, account]));
  const file = `${FOLDER}/users.json`;
  writeFileSync(`${file}.new`, JSON.stringify({ accessAccounts }), { mode: 0o600 });
  const { uid, gid } = statSync(FOLDER);
  chownSync(`${file}.new`, uid, gid);
  renameSync(`${file}.new`, file);
}

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const hmac = (key, text) => createHmac('sha256', key).update(text).digest();

/** Signature Version 4 of AWS: here is no SDK. */
async function permit({ ROOT_ACCESS_KEY: key, ROOT_SECRET_KEY: secret, VGW_PORT: host }) {
  const body = readFileSync(new URL('bucket-policy.json', import.meta.url), 'utf8');
  const hash = sha256(body);
  for (let tries = 1; ; tries++) {
    const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const scope = [time.slice(0, 8), 'us-east-1', 's3', 'aws4_request'];
    const signed = { host, 'x-amz-content-sha256': hash, 'x-amz-date': time };
    const names = Object.keys(signed).join(';');
    const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
    const canonical = ['PUT', '/pasteflow', 'policy=', lines.join(''), names, hash].join('\n');
    const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
    const signature = createHmac('sha256', scope.reduce(hmac, `AWS4${secret}`))
      .update(toSign)
      .digest('hex');
    const authorization = `AWS4-HMAC-SHA256 Credential=${key}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`;
    const answer = await fetch(`http://${host}/pasteflow?policy`, {
      method: 'PUT',
      headers: { ...signed, authorization },
      body,
    }).catch(() => null);
    if (answer?.ok) return;
    if (answer !== null) throw new Error(`versitygw answered ${answer.status}: ${await answer.text()}`);
    // It does not listen yet.
    if (tries === 60) throw new Error(`versitygw does not answer at ${host}`);
    await sleep(500);
  }
}

const commands = { write, permit: () => permit(process.env) };
const command = commands[process.argv[2]];
if (command === undefined) throw new Error(`Call it with one of ${Object.keys(commands).join(', ')}.`);
await command();
