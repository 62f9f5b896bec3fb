import { DescribeTasksCommand, type ECSClient, RunTaskCommand, type Task } from '@aws-sdk/client-ecs';

/** The outputs of the migration's stack: its network does for every task that is run by hand. */
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
  /** Between two looks. */
  readonly wait: () => Promise<void>;
  /** Looks, each after a wait. */
  readonly patience: number;
  /** What node runs in the place of the image's own entry. */
  readonly command?: { readonly container: string; readonly words: readonly string[] };
  /** Told as soon as it is known: the last part of its log stream's name. */
  readonly started?: (taskId: string) => void;
}

/** Runs a task and waits for its end. @throws Error, one sentence, when it didn't end well */
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
    throw new Error(`The task didn't start: ${failures[0]?.reason ?? 'no reason given'}.`);
  started?.(taskArn.split('/').at(-1) ?? taskArn);
  for (let look = 0; look < patience; look += 1) {
    await wait();
    const described = await ecs.send(new DescribeTasksCommand({ cluster: target.Cluster, tasks: [taskArn] }));
    const task = described.tasks?.[0];
    if (task?.lastStatus === 'STOPPED') return expectSuccess(task);
  }
  throw new Error(
    `The task ${taskArn} is still running: look at it, and deploy nothing before the end of a migration.`,
  );
}

function expectSuccess(task: Task): void {
  const container = task.containers?.[0];
  if (container?.exitCode === 0) return;
  const reason = container?.reason ?? task.stoppedReason ?? 'no reason given';
  throw new Error(
    `The task failed (exit code ${container?.exitCode ?? 'none'}, ${reason}): its log says why.`,
  );
}
