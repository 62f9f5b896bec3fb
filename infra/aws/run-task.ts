import { existsSync, readFileSync } from 'node:fs';
import { DescribeTasksCommand, type ECSClient, RunTaskCommand, type Task } from '@aws-sdk/client-ecs';
import type { Stage } from './configuration.ts';

/** The outputs of the migration stack. Every task that an operator runs uses its network. */
export interface TaskTarget {
  readonly Cluster: string;
  readonly TaskDefinition: string;
  /** Ids, separated by commas. */
  readonly Subnets: string;
  readonly SecurityGroups: string;
}

export interface RunTaskOptions {
  readonly ecs: Pick<ECSClient, 'send'>;
  readonly target: TaskTarget;
  /** The time between two polls. */
  readonly wait: () => Promise<void>;
  /** The maximum number of polls, each after a wait. */
  readonly patience: number;
  /** The script that node runs instead of the image's own entry. */
  readonly command?: { readonly container: string; readonly words: readonly string[] };
  /** Called as soon as the task's id is known, which is the last part of its log stream's name. */
  readonly started?: (taskId: string) => void;
}

/** Runs a task and waits for its end. @throws Error with one sentence when the task failed */
export async function runTask({
  ecs,
  target,
  wait,
  patience,
  command,
  started,
}: RunTaskOptions): Promise<void> {
  const { tasks = [], failures = [] } = await ecs.send(
    new RunTaskCommand({
      cluster: target.Cluster,
      taskDefinition: target.TaskDefinition,
      launchType: 'FARGATE',
      ...(command && {
        overrides: { containerOverrides: [{ name: command.container, command: [...command.words] }] },
      }),
      networkConfiguration: {
        awsvpcConfiguration: {
          subnets: target.Subnets.split(','),
          securityGroups: target.SecurityGroups.split(','),
          assignPublicIp: 'DISABLED',
        },
      },
    }),
  );
  const taskArn = tasks[0]?.taskArn;
  if (taskArn === undefined)
    throw new Error(`The task did not start: ${failures[0]?.reason ?? 'no reason given'}.`);
  started?.(taskArn.split('/').at(-1) ?? taskArn);
  for (let look = 0; look < patience; look += 1) {
    await wait();
    const described = await ecs.send(new DescribeTasksCommand({ cluster: target.Cluster, tasks: [taskArn] }));
    const task = described.tasks?.[0];
    if (task?.lastStatus === 'STOPPED') return expectSuccess(task);
  }
  throw new Error(
    `The task ${taskArn} is still running. Check it, and deploy nothing before a migration has ended.`,
  );
}

function expectSuccess(task: Task): void {
  const container = task.containers?.[0];
  if (container?.exitCode === 0) return;
  const reason = container?.reason ?? task.stoppedReason ?? 'no reason given';
  throw new Error(
    `The task failed (exit code ${container?.exitCode ?? 'none'}, ${reason}). Its log has the error.`,
  );
}

/**
 * Reads the output of `cdk deploy --outputs-file dist/outputs.json`.
 * @throws Error with the command that writes it
 */
export function readTarget(stage: Stage): TaskTarget {
  const file = 'dist/outputs.json';
  const stack = `pasteflow-${stage}-migration`;
  const outputs = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, TaskTarget>)
    : {};
  const target = outputs[stack];
  if (target === undefined)
    throw new Error(
      `${file} has no ${stack}: \`cdk deploy --app dist/${stage} --outputs-file ${file} ${stack}\` writes it, also when it is deployed already`,
    );
  return target;
}
