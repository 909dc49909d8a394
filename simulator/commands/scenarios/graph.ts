import type { Argv, CommandModule } from 'yargs';
import { MACHINES } from '../../../services/domain/catalog/machines.ts';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { didYouMean } from '../../../services/messages/did-you-mean.ts';
import { usage } from '../../exit.ts';
import { machineGraph, scenarioGraph } from '../../machines/graph.ts';
import { scenarioNames } from '../../scenario/library.ts';
import { type CommandOptions, inSession, type Surroundings } from '../../session.ts';

interface GraphOptions extends CommandOptions {
  readonly of: string;
}

/** Prints a state machine, or the way of a scenario through its machines, as a Mermaid diagram. */
export function graphCommand(surroundings: Surroundings): CommandModule<object, GraphOptions> {
  return {
    command: 'graph <of>',
    describe: 'Draw the state machine of an event type, or the path of a scenario (Mermaid)',
    builder: (args: Argv) =>
      args
        .positional('of', {
          type: 'string',
          demandOption: true,
          describe: `A scenario (name, file, or -), or one of ${Object.keys(MACHINES).join(', ')}`,
        })
        .example('$0 scenarios graph fiatToCrypto > on-ramp.mmd', '')
        .example('$0 scenarios graph onramp.hold-kyc-resume', '') as unknown as Argv<GraphOptions>,
    handler: (options) =>
      inSession(options, surroundings, async ({ output }) => {
        const mermaid = await graphOf(options.of);
        output.result({ of: options.of, mermaid }, mermaid);
      }),
  };
}

async function graphOf(name: string): Promise<string> {
  const machine = MACHINES[name];
  if (machine !== undefined) return machineGraph(name, machine);
  if (EVENT_TYPES.some((type) => type === name)) {
    throw usage(`${name} has no state machine: its events may come at any time`);
  }
  const isName = !/[/\\]|\.ya?ml$/.test(name) && name !== '-';
  const known = [...Object.keys(MACHINES), ...scenarioNames()];
  if (isName && !known.includes(name)) {
    throw usage(
      `"${name}" is neither an event type nor a scenario${didYouMean(name, known)}`,
      'list the scenarios with: hookrail sim scenarios list',
    );
  }
  const { openScenario } = await import('../../scenario/open-scenario.ts');
  return scenarioGraph(openScenario(name, { force: true }));
}
