import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Argv, CommandModule } from 'yargs';
import { CommandFailure, EXIT, usage } from '../../exit.ts';
import { scenarioNames } from '../../scenario/library.ts';
import { type CommandOptions, inSession, type Surroundings, unreadable } from '../../session.ts';

interface NewOptions extends CommandOptions {
  readonly name: string;
  readonly out?: string;
}

const SCHEMA = fileURLToPath(new URL('../../scenario/scenario.schema.json', import.meta.url));
const NAME = /^[a-z0-9]+([.-][a-z0-9]+)*$/;

/** Writes a scenario file to start from. */
export function newCommand(surroundings: Surroundings): CommandModule<object, NewOptions> {
  return {
    command: 'new <name>',
    describe: 'Write a commented scenario file to start from: <name>.yaml in this folder',
    builder: (args: Argv) =>
      args
        .positional('name', { type: 'string', demandOption: true, describe: 'checkout.refund' })
        .option('out', { type: 'string', describe: 'File to write instead' }) as unknown as Argv<NewOptions>,
    handler: (options) =>
      inSession(options, surroundings, async ({ output }) => {
        const name = options.name.replace(/\.ya?ml$/, '');
        if (!NAME.test(name)) {
          throw usage(
            `"${options.name}" is not a name of lower-case words with dots or hyphens: checkout.refund`,
          );
        }
        if (scenarioNames().includes(name)) {
          throw usage(
            `${name} comes with hookrail, and a name would mean that one; choose another`,
            `hookrail sim scenarios new my.${name}`,
          );
        }
        const file = options.out ?? `${name}.yaml`;
        write(file, starter(name));
        output.result({ file, name }, `${output.paint('green', '✓')} ${file}`);
        const shown = /[/\\]/.test(file) ? file : `./${basename(file)}`;
        output.remark(`check it: hookrail sim scenarios validate ${shown}`);
        output.remark(`play it: hookrail sim run ${shown} --expect`);
      }),
  };
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw usage(`${file} exists already; it is not overwritten`, 'write another: --out <file>');
    if (code === 'ENOENT') throw new CommandFailure(EXIT.usage, `the folder of ${file} does not exist`);
    throw unreadable(file, error);
  }
}

function starter(name: string): string {
  return `# yaml-language-server: $schema=${SCHEMA}
name: ${name}
title: One line that says what happens.
teaches: What the code that receives this must do.

# Endpoints of the scenario's own, each with a receiver that verifies webhooks. They are made for the run and removed
# afterwards. Leave them out to play to your own endpoints.
# Also: version: 2.2.8, events: [KYC], delay: 2s, failFirst: 1, certificate: expired
endpoints:
  main: { behaviour: ok }

# A user or a corporate, and the processes it is in, by names of your choice.
entities:
  user: { country: DE, kyc: FULL_USER }
  tx: { kind: fiatToCrypto, amountFiat: 250, currencyFiat: EUR, chain: polygon, token: USDC }

# Each step does one thing: emit, behave, rotate, disable, enable, delete, resend, repeat or forge.
# List the events: hookrail sim catalog; their order: hookrail sim scenarios graph fiatToCrypto
steps:
  - { id: created, emit: fiatToCrypto/PENDING }
  - { id: received, after: 2s, emit: fiatToCrypto/IN_PROGRESS }
  # The receiver fails, and is repaired once an attempt has failed.
  - { id: broken, behave: main, as: 500 }
  - { id: hold, after: 1s, emit: fiatToCrypto/ON_HOLD, set: { data.status: ON_HOLD_PROCESS } }
  - { id: repaired, when: { hold: failed }, behave: main, as: ok }
  - { id: refunded, after: 5s, emit: fiatToCrypto/REFUNDED }

# run --expect and scenarios check fail when one of these is not met.
expect:
  - { step: hold, status: delivered, within: 2m }
  - { step: refunded, status: delivered, body: { data.amountRefunded: 250 } }
`;
}
