import type { Argv, CommandModule } from 'yargs';
import { formatDuration } from '../../client/duration.ts';
import type { Output } from '../output.ts';
import { readScenario, scenarioNames } from '../scenario/library.ts';
import { describeCondition } from '../scenario/player.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type CommandOptions, inSession, type Surroundings } from '../session.ts';
import { checkCommand } from './scenarios/check.ts';
import { graphCommand } from './scenarios/graph.ts';
import { newCommand } from './scenarios/new.ts';

interface OneOptions extends CommandOptions {
  readonly scenario: string;
}

interface ValidateOptions extends CommandOptions {
  readonly scenarios: string[];
}

/** Lists and shows the scenarios. */
export function scenariosCommand(surroundings: Surroundings): Pick<CommandModule, 'builder' | 'handler'> {
  const list: CommandModule<object, CommandOptions> = {
    command: 'list',
    describe: 'List the scenarios that come with hookrail',
    handler: (options) =>
      inSession(options, surroundings, async ({ output }) => {
        const { openScenario } = await import('../scenario/open-scenario.ts');
        const found = scenarioNames().map((name) => openScenario(name, { force: true }));
        const width = Math.max(...found.map(({ name }) => name.length));
        const line = ({ name, title }: Scenario) =>
          output.table([[output.paint('bold', name.padEnd(width)), title]]);
        for (const scenario of found) output.item(summary(scenario), line(scenario));
        output.remark('play one: hookrail sim run onramp.happy');
      }),
  };
  const show: CommandModule<object, OneOptions> = {
    command: 'show <scenario>',
    describe: 'Show the steps of a scenario, and its file',
    builder: (args: Argv) =>
      args.positional('scenario', { type: 'string', demandOption: true, describe: 'Name, file, or -' }),
    handler: (options) =>
      inSession(options, surroundings, async ({ output }) => {
        const { parseScenario } = await import('../scenario/scenario.ts');
        const { text, source } = readScenario(options.scenario);
        const scenario = parseScenario(text, source, { force: true });
        output.result(scenario, () => `${describeScenario(scenario, output)}\n\n${text.trimEnd()}`);
      }),
  };
  const validate: CommandModule<object, ValidateOptions> = {
    command: 'validate <scenarios..>',
    describe: 'Check files: YAML, schema, names, and whether each step is a legal transition',
    builder: (args: Argv) =>
      args.positional('scenarios', {
        type: 'string',
        array: true,
        demandOption: true,
      }) as Argv<ValidateOptions>,
    handler: (options) =>
      inSession(options, surroundings, async ({ output }) => {
        const { openScenario } = await import('../scenario/open-scenario.ts');
        for (const name of options.scenarios) {
          const scenario = openScenario(name, { force: false });
          output.item({ ...summary(scenario), valid: true }, `${output.paint('green', '✓')} ${name}`);
        }
      }),
  };
  return {
    builder: (args: Argv) =>
      args
        .command(list)
        .command(show)
        .command(validate)
        .command(checkCommand(surroundings))
        .command(graphCommand(surroundings))
        .command(newCommand(surroundings))
        .demandCommand(1),
    handler: () => {},
  };
}

function summary({ name, title, teaches, steps, actions }: Scenario): object {
  return { name, title, ...(teaches === '' ? {} : { teaches }), steps: steps.length + actions.length };
}

function describeScenario(scenario: Scenario, output: Output): string {
  const { name, title, teaches } = scenario;
  let at = 0;
  const events = scenario.steps.map((step) => {
    at += step.afterMs;
    return { ...step, at, does: `${step.type}/${step.subType}`, late: step.lateMs };
  });
  const actions = scenario.actions.map((step) => {
    const { kind, ...what } = step.action;
    return { ...step, at: step.atMs, does: [kind, ...Object.values(what)].join(' '), late: 0 };
  });
  const rows = [...events, ...actions]
    .sort((a, b) => a.order - b.order)
    .map(({ id, at: ms, does, when, late }) => {
      const time = ms === 0 ? 'at once' : `after ${formatDuration(ms)}`;
      const waits = when === undefined ? '' : `, when ${describeCondition(when)}`;
      const delay = late === 0 ? '' : `, sent ${formatDuration(late)} late`;
      return [id, time, `${does}${waits}${delay}`];
    });
  return [
    output.row([output.paint('bold', name), title]),
    ...(teaches === '' ? [] : [output.prose(`your code: ${teaches}`)]),
    '',
    output.table(rows),
  ].join('\n');
}
