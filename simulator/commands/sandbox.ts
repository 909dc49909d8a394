import type { CommandModule } from 'yargs';
import { inSession, type Surroundings } from '../session.ts';
import type { SandboxOptions } from './sandbox/sandbox.ts';

/** Runs all of hookrail on this machine, with a merchant, keys, a receiver and a demo. */
export function sandboxCommand(surroundings: Surroundings): CommandModule<object, SandboxOptions> {
  return {
    command: 'sandbox',
    describe: 'Start the sandbox (npm start): everything, in one process',
    builder: {
      demo: { type: 'boolean', default: true, describe: 'Built-in receiver and a first scenario; --no-demo' },
    },
    handler: async (options) => {
      // Loaded only here: the other commands need not load the whole service.
      const { sandbox } = await import('./sandbox/sandbox.ts');
      await inSession(options, surroundings, (session) => sandbox(session, options));
    },
  };
}
