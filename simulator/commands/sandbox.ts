import type { CommandModule } from 'yargs';
import { DATA_DIR_HERE } from '../sandbox-place.ts';
import { inSession, type Surroundings } from '../session.ts';
import type { SandboxOptions } from './sandbox/sandbox.ts';

/** Runs all of hookrail on this machine, with a merchant, keys, a receiver and a demo. */
export function sandboxCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, SandboxOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      demo: { type: 'boolean', default: true, describe: 'Built-in receiver and a first scenario; --no-demo' },
      anew: {
        type: 'boolean',
        default: false,
        describe: 'Where another build wrote the data: keep it beside, and begin anew',
      },
    },
    handler: async (options) => {
      // It makes its data where it is started.
      const dataDir = options.dataDir ?? (surroundings.environment.HOOKRAIL_DATA_DIR || DATA_DIR_HERE);
      await inSession({ ...options, dataDir }, surroundings, async (session) => {
        if (!options.quiet) session.output.warn('starting the sandbox …');
        // The whole service is loaded here, and by no other command.
        const { sandbox } = await import('./sandbox/sandbox.ts');
        await sandbox(session, options);
      });
    },
  };
}
