import { DescribeTasksCommand, type ECSClient, RunTaskCommand, type Task } from '@aws-sdk/client-ecs';

/** The outputs of the migration's stack. */
export interface MigrationTarget {
  readonly Cluster: string;
  readonly TaskDefinition: string;
  /** Ids, separated by commas. */
  readonly Subnets: string;
  readonly SecurityGroups: string;
}

export interface RunMigrationOptions {
  readonly ecs: Pick<ECSClient, 'send'>;
  readonly target: MigrationTarget;
  /** Between two looks. */
  readonly wait: () => Promise<void>;
  /** Looks, each after a wait. */
  readonly patience: number;
}

/** Runs the migration as a task and waits for its end. @throws Error, one sentence, when it didn't end well */
export async function runMigration({ ecs, target, wait, patience }: RunMigrationOptions): Promise<void> {
  const { tasks = [], failures = [] } = await ecs.send(
    new RunTaskCommand({
      cluster: target.Cluster,
      taskDefinition: target.TaskDefinition,
      launchType: 'FARGATE',
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
    throw new Error(`The migration didn't start: ${failures[0]?.reason ?? 'no reason given'}.`);
  for (let look = 0; look < patience; look += 1) {
    await wait();
    const described = await ecs.send(new DescribeTasksCommand({ cluster: target.Cluster, tasks: [taskArn] }));
    const task = described.tasks?.[0];
    if (task?.lastStatus === 'STOPPED') return expectSuccess(task);
  }
  throw new Error(
    `The migration is still running: look at task ${taskArn}, and deploy nothing before its end.`,
  );
}

function expectSuccess(task: Task): void {
  const container = task.containers?.[0];
  if (container?.exitCode === 0) return;
  const reason = container?.reason ?? task.stoppedReason ?? 'no reason given';
  throw new Error(
    `The migration failed (exit code ${container?.exitCode ?? 'none'}, ${reason}): its log says why.`,
  );
}
