import type { Surroundings } from './session.ts';

/** A command whose options and work are loaded when it is the one that was typed. */
export interface LazyCommand {
  /** Its name and positional arguments, as a help shows them. */
  readonly command: string;
  /** False hides it from the help. */
  readonly describe: string | false;
  /** Returns what makes its options and its handler, for yargs. */
  load(): Promise<(surroundings: Surroundings) => object>;
}

const loadSandbox = async () => (await import('./commands/sandbox.ts')).sandboxCommand;

/** A tool of these commands. */
export interface Tool {
  /** As a user types it. */
  readonly name: string;
  readonly usage: string;
  readonly commands: readonly LazyCommand[];
}

/** `hookrail start` */
export const START_TOOL: Tool = {
  name: 'hookrail',
  usage: '$0 start: everything, in one process',
  commands: [
    { command: 'start', describe: 'Start the sandbox: everything, in one process', load: loadSandbox },
  ],
};

/** The commands of `hookrail sim`. */
export const SIMULATOR: readonly LazyCommand[] = [
  { command: 'sandbox', describe: false, load: loadSandbox },
  {
    command: 'run <scenario>',
    describe: 'Play a scenario: its name, a file, or - for stdin',
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    command: 'trigger <event>',
    describe: 'Send one event: type/subType, such as KYC/FULL_USER',
    load: async () => (await import('./commands/trigger.ts')).triggerCommand,
  },
  {
    command: 'step [run]',
    describe: 'Advance a run by hand; without a run, list those that wait',
    load: async () => (await import('./commands/play/step.ts')).stepCommand,
  },
  {
    command: 'assert <run>',
    describe: 'Check that a run was delivered: all of it, in time, no more than once',
    load: async () => (await import('./commands/play/assert.ts')).assertCommand,
  },
  {
    command: 'record',
    describe: 'Record a journey: the events of the last minutes, of a user, or those to come',
    load: async () => (await import('./commands/play/record.ts')).recordCommand,
  },
  {
    command: 'replay <file>',
    describe: 'Send a recorded journey again, with the original intervals',
    load: async () => (await import('./commands/play/replay.ts')).replayCommand,
  },
  {
    command: 'load',
    describe: 'Send events at a constant rate, and measure how long their deliveries take',
    load: async () => (await import('./commands/play/load.ts')).loadCommand,
  },
  {
    command: 'scenarios <command>',
    describe: 'What can be played: list, show, check, validate, graph, new',
    load: async () => (await import('./commands/scenarios.ts')).scenariosCommand,
  },
  {
    command: 'listen',
    describe: 'Forward webhooks to your app: --forward-to http://localhost:3000/hook',
    load: async () => (await import('./commands/receiving/listen.ts')).listenCommand,
  },
  {
    command: 'receiver',
    describe: 'Run an HTTPS receiver that verifies webhooks and fails on request',
    load: async () => (await import('./commands/receiving/receiver.ts')).receiverCommand,
  },
  {
    command: 'endpoints <command>',
    describe:
      'Endpoints: create, list, get, update, prepare, rotate, delete, test, check, enable, disable, replay',
    load: async () => (await import('./commands/endpoints.ts')).endpointsCommand,
  },
  {
    command: 'deliveries <command>',
    describe: 'What was delivered, what was not, and why: list, get, tail, resend, replay',
    load: async () => (await import('./commands/deliveries.ts')).deliveriesCommand,
  },
  {
    command: 'events <command>',
    describe: 'Events and where they went: list, get, tail, status',
    load: async () => (await import('./commands/events.ts')).eventsCommand,
  },
  {
    command: 'story <id>',
    describe: 'Everything about a transaction, an account or a user: why you did not get it',
    load: async () => (await import('./commands/log/story.ts')).storyCommand,
  },
  {
    command: 'lookup <id>',
    describe: 'What an id is: of an event, delivery, endpoint, transaction, user, replay, request',
    load: async () => (await import('./commands/log/lookup.ts')).lookUpCommand,
  },
  {
    command: 'clock <command>',
    describe: "The sandbox's clock: advance 13h, advance next-retry, show",
    load: async () => (await import('./commands/clock.ts')).clockCommand,
  },
  {
    command: 'missed',
    describe: 'What endpoints did not get, and the replay that brings it back',
    load: async () => (await import('./commands/missed.ts')).missedCommand,
  },
  {
    command: 'metrics',
    describe: 'How many attempts there were, how many failed, how long receivers took',
    load: async () => (await import('./commands/metrics.ts')).metricsCommand,
  },
  {
    command: 'verify',
    describe: 'Check a captured webhook offline: secret, signature, age',
    load: async () => (await import('./commands/verify.ts')).verifyCommand,
  },
  {
    command: 'sign',
    describe: 'Print the headers that make a body a webhook, for tests without a server',
    load: async () => (await import('./commands/receiving/sign.ts')).signCommand,
  },
  {
    command: 'sample <language>',
    describe: 'Print a receiver to start from: node, python, go, php',
    load: async () => (await import('./commands/receiving/sample.ts')).sampleCommand,
  },
  {
    command: 'cert',
    describe: 'Make a certificate that the sandbox trusts, for your own HTTPS receiver',
    load: async () => (await import('./commands/cert.ts')).certCommand,
  },
  {
    command: 'catalog [event]',
    describe: 'Event types: when each is sent, what may follow, sample bodies, JSON Schema',
    load: async () => (await import('./commands/catalog.ts')).catalogCommand,
  },
  {
    command: 'docs',
    describe: 'Print a link to the reference with your keys in its samples',
    load: async () => (await import('./commands/docs.ts')).docsCommand,
  },
  {
    command: 'doctor',
    describe: 'Check service, keys, ports, clock and endpoints; says how to fix each',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    command: 'whoami',
    describe: 'Show which address and keys are used, where they come from, and whether the API accepts them',
    load: async () => (await import('./commands/whoami.ts')).whoamiCommand,
  },
];

/** `hookrail sim …` */
export const SIMULATOR_TOOL: Tool = {
  name: 'hookrail sim',
  usage: '$0 <command>: play, send and watch webhooks of the sandbox',
  commands: SIMULATOR,
};

/** Returns the word that names a command. */
export function nameOf({ command }: Pick<LazyCommand, 'command'>): string {
  return command.split(' ', 1)[0] ?? '';
}
