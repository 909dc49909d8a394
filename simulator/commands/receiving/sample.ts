import { readFileSync } from 'node:fs';
import type { Argv, CommandModule } from 'yargs';
import { type CommandOptions, inSession, type Surroundings } from '../../session.ts';

interface SampleOptions extends CommandOptions {
  readonly language: Language;
}

const LANGUAGES = ['node', 'python', 'go', 'php'] as const;
type Language = (typeof LANGUAGES)[number];

const PORT = 8000;

/** The file of each receiver, and the line that runs it. */
const SAMPLES: Readonly<Record<Language, { readonly file: string; readonly run: string }>> = {
  node: { file: 'receiver.mjs', run: 'node receiver.mjs' },
  python: { file: 'receiver.py', run: 'python3 receiver.py' },
  go: { file: 'receiver.go', run: 'go run receiver.go' },
  php: { file: 'receiver.php', run: `php -S 127.0.0.1:${PORT} receiver.php` },
};

/** Prints a receiver to start from. */
export function sampleCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, SampleOptions>, 'builder' | 'handler'> {
  return {
    builder: (args: Argv) =>
      args.positional('language', {
        choices: LANGUAGES,
        demandOption: true,
        describe: 'Language of the receiver',
      }) as Argv<SampleOptions>,
    handler: (options) =>
      inSession(options, surroundings, async ({ output }) => {
        const { file, run } = SAMPLES[options.language];
        const text = readFileSync(new URL(`../../../docs/receivers/${file}`, import.meta.url), 'utf8');
        // As it is: Output would make its tabs visible.
        if (output.format === 'pretty') surroundings.stdout.write(text);
        else output.result({ language: options.language, file, source: text }, '');
        // On standard error, also when the program goes to a file: that is when it is needed.
        const listen = `hookrail sim listen --forward-to ${PORT}`;
        output.advise({
          says: `to run it as ${file}:`,
          next: [
            `export PORT=${PORT} WEBHOOK_SECRET=$(${output.asTyped(listen)} --print-secret)`,
            run,
            `in a second terminal: ${listen} --test`,
          ],
        });
      }),
  };
}
