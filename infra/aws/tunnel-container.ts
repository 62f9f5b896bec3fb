import * as ecs from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';

/** The name of the container, which the command of docs/deploy.md looks for. */
export const TUNNEL = 'tunnel';

/** Waits until it is stopped. The image has no shell, and no program that sleeps. */
const WAIT = 'setInterval(() => {}, 2 ** 30)';

/**
 * Adds a container for the agent of ECS Exec, which forwards ports of the task to an operator. The agent
 * needs a container with a writable file system, which the service itself must not have. This one runs the
 * same image and has none of the service's secrets, so that a session doesn't lead to the database.
 * Containers of a task share the loopback address. The service goes on when this container ends.
 */
export function addTunnelContainer(
  scope: Construct,
  definition: ecs.FargateTaskDefinition,
  { image, logging }: Required<Pick<ecs.ContainerDefinitionOptions, 'image' | 'logging'>>,
): void {
  definition.addContainer(TUNNEL, {
    containerName: TUNNEL,
    image,
    logging,
    command: ['--eval', WAIT],
    essential: false,
    readonlyRootFilesystem: false,
    user: '65532',
    // An init process removes the ended processes of the agent, and passes SIGTERM on, which ends node.
    linuxParameters: new ecs.LinuxParameters(scope, 'TunnelProcesses', { initProcessEnabled: true }),
  });
}
