import { describe, expect, test } from '@jest/globals';
import { DescribeTasksCommand, RunTaskCommand, type Task } from '@aws-sdk/client-ecs';
import { readTarget, runTask, type TaskTarget } from '../aws/run-task.ts';

const target: TaskTarget = {
  Cluster: 'c',
  TaskDefinition: 't:1',
  Subnets: 'a,b',
  SecurityGroups: 'x,y',
};

/** An ECS whose task has the next of these states at each poll. */
function ecsWith(started: Task[], looks: Task[]) {
  const sent: unknown[] = [];
  const remaining = [...looks];
  const send = (command: unknown) => {
    sent.push((command as { input: unknown }).input);
    if (command instanceof RunTaskCommand)
      return Promise.resolve({ tasks: started, failures: [{ reason: 'RESOURCE:FARGATE' }] });
    if (command instanceof DescribeTasksCommand)
      return Promise.resolve({ tasks: [remaining.shift() ?? { lastStatus: 'RUNNING' }] });
    return Promise.reject(new Error('unexpected command'));
  };
  return { ecs: { send } as unknown as Parameters<typeof runTask>[0]['ecs'], sent };
}

const started = [{ taskArn: 'arn' }];
const options = { target, wait: () => Promise.resolve(), patience: 5 };

test('without the outputs of its stack, a task names the command that writes them', () => {
  expect(() => readTarget('staging')).toThrow(
    'cdk deploy --app dist/staging --outputs-file dist/outputs.json pasteflow-staging-migration',
  );
});

describe('the migration', () => {
  test('runs in the private subnets until its end', async () => {
    const { ecs, sent } = ecsWith(started, [
      { lastStatus: 'RUNNING' },
      { lastStatus: 'STOPPED', containers: [{ exitCode: 0 }] },
    ]);
    await runTask({ ...options, ecs });
    expect(sent).toHaveLength(3);
    expect(sent[0]).toMatchObject({
      networkConfiguration: {
        awsvpcConfiguration: { subnets: ['a', 'b'], securityGroups: ['x', 'y'], assignPublicIp: 'DISABLED' },
      },
    });
  });

  test('runs the entry of its image; a task of an operator runs the given entry', async () => {
    const end = [{ lastStatus: 'STOPPED', containers: [{ exitCode: 0 }] }];
    const own = ecsWith(started, end);
    await runTask({ ...options, ecs: own.ecs });
    expect(own.sent[0]).not.toHaveProperty('overrides');
    const byHand = ecsWith([{ taskArn: 'arn:aws:ecs:r:a:task/cluster/4711' }], end);
    const ids: string[] = [];
    await runTask({
      ...options,
      ecs: byHand.ecs,
      command: { container: 'janitor', words: ['dist/ops-main.js', 'status'] },
      started: (id) => ids.push(id),
    });
    expect(byHand.sent[0]).toMatchObject({
      overrides: { containerOverrides: [{ name: 'janitor', command: ['dist/ops-main.js', 'status'] }] },
    });
    expect(ids).toEqual(['4711']);
  });

  test('that fails rejects, so that nothing is deployed', async () => {
    const { ecs } = ecsWith(started, [{ lastStatus: 'STOPPED', containers: [{ exitCode: 1 }] }]);
    await expect(runTask({ ...options, ecs })).rejects.toThrow('exit code 1');
  });

  test('that never ran rejects with the reason', async () => {
    const { ecs } = ecsWith(started, [
      { lastStatus: 'STOPPED', stoppedReason: 'CannotPullContainerError', containers: [{}] },
    ]);
    await expect(runTask({ ...options, ecs })).rejects.toThrow('exit code none, CannotPullContainerError');
  });

  test('that can’t be started rejects', async () => {
    const { ecs } = ecsWith([], []);
    await expect(runTask({ ...options, ecs })).rejects.toThrow('RESOURCE:FARGATE');
  });

  test('that doesn’t end rejects', async () => {
    const { ecs } = ecsWith(started, []);
    await expect(runTask({ ...options, ecs })).rejects.toThrow('still running');
  });
});
