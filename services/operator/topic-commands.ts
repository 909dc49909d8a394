import { OperatorError } from '../api/operator/commands.ts';
import { type ClusterCommands, clusterCommands } from '../broker/open.ts';
import type { Config } from '../runtime/config.ts';

/** The processes of a deployment, each with a user of its own. */
const PROCESSES = [
  { name: 'api', roles: ['api', 'recorder'] },
  { name: 'router', roles: ['router'] },
  { name: 'sender', roles: ['sender'] },
] as const;

export interface TopicsAnswer {
  readonly topics: ClusterCommands['topics'];
  readonly acls: readonly {
    readonly principal: string;
    readonly roles: string;
    readonly commands: readonly string[];
  }[];
}

/** What creates the topics and grants each process what it needs. Throws OperatorError with an engine without topics. */
export function topicsAnswer(config: Config, principalPrefix: string): TopicsAnswer {
  const commands = clusterCommands(config);
  if (commands === undefined) {
    throw new OperatorError(
      `the engine ${config.engine} has no topics: set HOOKRAIL_ENGINE and its variables`,
    );
  }
  return {
    topics: commands.topics,
    acls: PROCESSES.map(({ name, roles }) => {
      const principal = `${principalPrefix}${name}`;
      return { principal, roles: roles.join(','), commands: commands.acls(roles, principal) };
    }),
  };
}

/** A shell script. */
export function topicsText({ topics, acls }: TopicsAnswer): string {
  return [
    '# Topics. The commands are harmless where a topic is there already.',
    ...topics,
    ...acls.flatMap(({ principal, roles, commands }) => [
      '',
      `# What ${principal} may do: a process with HOOKRAIL_ROLES=${roles}.`,
      ...commands,
    ]),
  ].join('\n');
}
