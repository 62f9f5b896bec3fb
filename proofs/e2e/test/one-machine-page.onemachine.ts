// The commands of docs/one-machine.md, as they stand there, under a real systemd: npm run proof -- one-machine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../src/entries.ts';
import { installPrograms } from '../src/index.ts';
import { MachineWithSystemd, missingForMachine } from './support/machine-with-systemd.ts';

const page = readFileSync(join(ROOT, 'docs/one-machine.md'), 'utf8');

/** The blocks of commands of a section. */
function blocksOf(section: string): readonly string[] {
  const text = page.split(/^## /m).find((each) => each.startsWith(section)) ?? '';
  return [...text.matchAll(/^```\n([^]*?)^```$/gm)].map(([, block]) => block!);
}

const [install = '', commands = ''] = blocksOf('Install, without Docker');
const [, zfs = ''] = blocksOf('Install, with Docker');
const [backup = '', restore = ''] = blocksOf('Backup and restore');
const [upgrade = ''] = blocksOf('Upgrade');

/** For what the machine has not: packages to install, a server of the sources, Caddy with its certificates. */
const STAND_INS = `
cd /usr/local/bin
printf '#!/bin/sh\\nexit 0\\n' | tee apt-get >git
cat >curl <<'END'
#!/bin/bash
case "$*" in
  *https://paste.example.org*) exec /usr/bin/curl --silent --header 'Host: paste.example.org' "\${@/https:\\/\\/paste.example.org/http:\\/\\/127.0.0.1:3000}" ;;
  *) exec /usr/bin/curl --silent "$@" ;;
esac
END
chmod +x apt-get git curl
mkdir -p /etc/caddy
printf '[Service]\\nExecStart=/usr/bin/sleep infinity\\n' >/etc/systemd/system/caddy.service
systemctl daemon-reload
systemctl start postgresql
`;

const missing = missingForMachine();
const described = missing.length > 0 ? describe.skip : describe;
const without = missing.length > 0 ? ` (left out: this machine lacks ${missing.join(', ')})` : '';

described(`the commands of docs/one-machine.md, as they stand there,${without}`, () => {
  let machine: MachineWithSystemd;
  let url = '';
  beforeAll(async () => {
    installPrograms();
    machine = await MachineWithSystemd.boot();
    machine.run(STAND_INS);
  }, 900_000);
  afterAll(async () => {
    await machine?.stop();
  });

  const read = () => machine.run(`curl --fail --retry 20 --retry-all-errors ${url}`);

  it('install and start Pasteflow, and create a paste', () => {
    const [before = '', after = ''] = install.split(/(?<=^infra\/one-machine\/install.*$)/m);
    expect(machine.run(before, { withNetwork: true })).toContain('systemctl start pasteflow-migrate');
    url = machine.run(after).trim();
    expect(url).toMatch(/^https:\/\/paste\.example\.org\/\w+$/);
    expect(read()).toBe('hello\n');
  }, 900_000);

  it('make a token, show the state, and run a sweep, each with the settings of its service', () => {
    const output = machine.run(commands);
    expect(output).toContain('Nothing is stuck.');
    // The exit code of a command is that of what it runs.
    expect(() => machine.run('pasteflow-ops no-such-command')).toThrow('ended with 64');
  }, 300_000);

  it('keep secrets from other users, and content out of the messages that they can read', () => {
    for (const name of ['objects', 'pasteflow', 'api'])
      expect(() => machine.run(`runuser -u nobody -- cat /etc/pasteflow/${name}.env`)).toThrow(
        'Permission denied',
      );
    machine.run('systemctl stop pasteflow-run@worker');
    machine.run('echo private | curl --data-binary @- https://paste.example.org');
    const received =
      machine.run(`runuser -u nobody -- curl --data 'Action=ReceiveMessage&WaitTimeSeconds=20' \\
      http://127.0.0.1:9324/000000000000/pasteflow-uploads`);
    expect(received).toContain('shortCode');
    expect(received).not.toContain('contentBytes');
    machine.run('systemctl start pasteflow-run@worker');
  }, 300_000);

  it('give each service the rights that it needs with S3, and no more', () => {
    const putAs = (service: string) =>
      machine.run(`. /etc/pasteflow/s3-${service}.env
        curl --output /dev/null --write-out '%{http_code}' --aws-sigv4 aws:amz:us-east-1:s3 \\
          --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" --header 'x-amz-content-sha256: UNSIGNED-PAYLOAD' \\
          --upload-file LICENSE http://127.0.0.1:7070/pasteflow/jobs/x`);
    expect(['api', 'worker', 'janitor'].map(putAs)).toEqual(['403', '200', '403']);
    // Written by the worker, signed by the api, deleted by the janitor.
    const output = machine.run(`token=$(pasteflow-token EXPORTER)
      created=$(echo mine | curl --header "Authorization: Bearer $token" --data-binary @- https://paste.example.org)
      curl --retry 20 --fail "$created"
      job=$(curl --header "Authorization: Bearer $token" --header 'Content-Type: application/json' \\
        --data '{"job_type": "export", "parameters": {"format": "zip"}}' https://paste.example.org/v1/jobs | grep -o '[0-9a-f-]\\{36\\}')
      curl --header "Authorization: Bearer $token" --header 'Prefer: wait=30' "https://paste.example.org/v1/jobs/$job"
      pasteflow-ops takedown "\${created##*/}" --reason test
      pasteflow-janitor --once cleanup
      test ! -e "/var/lib/pasteflow/objects/pasteflow/pastes/\${created##*/}"`);
    expect(output).toContain('"status":"completed"');
  }, 300_000);

  it('pass a quoted setting on as it is', () => {
    const [, example = ''] = /\(`OIDC_CLIENT_SECRET=('.*?')`\)/.exec(page) ?? [];
    machine.run(`cat >>/etc/pasteflow/worker.env <<'END'\nQUOTED=${example}\nEND
      systemctl restart pasteflow.target`);
    const environ = machine.run(
      'tr "\\0" "\\n" </proc/$(systemctl show --property MainPID --value pasteflow-run@worker)/environ',
    );
    expect(environ.split('\n')).toContain(`QUOTED=${example.slice(1, -1)}`);
  }, 300_000);

  it('change a unit so that an upgrade keeps the change', () => {
    machine.run(zfs);
    machine.run(upgrade, { withNetwork: true });
    expect(machine.run('systemctl show --property ExecStartPre pasteflow-objects')).not.toContain('chattr');
    machine.run('ls /opt/pasteflow.old');
    expect(read()).toBe('hello\n');
  }, 900_000);

  it('back up and restore, with files that nobody else reads', () => {
    machine.run(backup);
    for (const file of ['pasteflow.dump', 'objects.tar.gz', 'etc-pasteflow'])
      expect(machine.run(`stat --format %A ${file}`)).toMatch(/^.rw.------$/m);
    machine.run(`systemctl stop pasteflow.target
      rm -r /var/lib/pasteflow/objects /etc/pasteflow
      mkdir --mode 700 /etc/pasteflow`);
    machine.run(restore);
    expect(read()).toBe('hello\n');
  }, 600_000);
});
