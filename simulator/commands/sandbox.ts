import type { CommandModule } from 'yargs';
import { inSession, type Surroundings } from '../session.ts';
import type { SandboxOptions } from './sandbox/sandbox.ts';

/** The whole of hookrail on this machine, with a merchant, keys, a receiver and something to see. */
export function sandboxCommand(surroundings: Surroundings): CommandModule<object, SandboxOptions> {
  return {
    command: 'sandbox',
    describe: 'Start the sandbox (npm start): everything, in one process',
    builder: {
      demo: { type: 'boolean', default: true, describe: 'Built-in receiver and a first scenario; --no-demo' },
    },
    handler: async (options) => {
      // Loaded only here: the other commands need not wait for the whole service to be read.
      const { sandbox } = await import('./sandbox/sandbox.ts');
      await inSession(options, surroundings, (session) => sandbox(session, options));
    },
  };
}
