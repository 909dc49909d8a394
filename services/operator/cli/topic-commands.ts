import type { ClusterCommands } from '../../broker/open.ts';
import type { Config } from '../../config/config.ts';
import { on } from '../commands/command.ts';
import { OperatorError } from '../commands/operator-error.ts';

/** The processes of a deployment, each with a user of its own. */
const PROCESSES = [
  { name: 'api', roles: ['api', 'recorder'] },
  { name: 'router', roles: ['router'] },
  { name: 'sender', roles: ['sender'] },
] as const;

/** The commands for an administrator where the service may not create topics and schemas itself. */
export const CLUSTER_COMMANDS = {
  topics: on('tool', {
    describe: 'Print the commands that create the Kafka topics and grant each process its ACLs',
    isRead: true,
    args: {
      principalPrefix: {
        type: 'text',
        default: 'User:hookrail-',
        describe: 'Prefix of the principals; api, router or sender follows',
      },
    },
    runs: 'here, without a service',
    run: ({ config }, { principalPrefix }) => topicsAnswer(config(), principalPrefix),
    text: topicsText,
  }),
  schemas: on('tool', {
    describe: 'Print the commands that register the schemas of this version',
    isRead: true,
    runs: 'here, without a service',
    run: async ({ config }) => (await commandsFor(config(), 'schemas')).schemas,
    text: schemasText,
  }),
};

interface TopicsAnswer {
  readonly topics: ClusterCommands['topics'];
  readonly acls: readonly {
    readonly principal: string;
    readonly roles: string;
    readonly commands: readonly string[];
  }[];
}

/**
 * Returns the commands that create the topics and grant each process its ACLs. Throws OperatorError on an engine
 * without topics.
 */
async function topicsAnswer(config: Config, principalPrefix: string): Promise<TopicsAnswer> {
  const commands = await commandsFor(config, 'topics');
  return {
    topics: commands.topics,
    acls: PROCESSES.map(({ name, roles }) => {
      const principal = `${principalPrefix}${name}`;
      return { principal, roles: roles.join(','), commands: commands.acls(roles, principal) };
    }),
  };
}

/** Prints a shell script. */
function topicsText({ topics, acls }: TopicsAnswer): string {
  return [
    '# Topics. The commands are harmless where a topic exists.',
    ...topics,
    ...acls.flatMap(({ principal, roles, commands }) => [
      '',
      `# ACLs of ${principal}: a process with HOOKRAIL_ROLES=${roles}.`,
      ...commands,
    ]),
  ].join('\n');
}

/** Prints a shell script. */
function schemasText(schemas: ClusterCommands['schemas']): string {
  return [
    '# Schemas. For each: register it, then set the compatibility of its subject.',
    '# The commands are harmless where a schema exists. Omit a PUT to keep your own compatibility level.',
    ...schemas.flatMap(({ subject, commands }) => ['', `# ${subject}`, ...commands]),
  ].join('\n');
}

async function commandsFor(config: Config, what: string): Promise<ClusterCommands> {
  const { clusterCommands } = await import('../../broker/open.ts');
  const commands = await clusterCommands(config);
  if (commands !== undefined) return commands;
  throw new OperatorError(
    `the engine ${config.engine} has no ${what}: set HOOKRAIL_ENGINE and its variables`,
  );
}
