/** Variables that npm sets for the programs that it starts. */
interface NpmVariables {
  readonly npm_package_name?: string | undefined;
  readonly npm_lifecycle_event?: string | undefined;
}

/** A command that has its form already, such as the name in a help, keeps it. */
const COMMAND = /(?<!npx --no )\bhookrail (start|serve|sim|operator)\b( --(?=\w))?/g;

/**
 * Returns a text with its commands in the form in which the user types them. Texts say `hookrail sim …`; what started
 * this process says whether that is `npx --no hookrail sim …`, or `npm run sim -- …`.
 */
export function asTyped(text: string, environment: NpmVariables): string {
  const script = environment.npm_lifecycle_event;
  const isOwn = environment.npm_package_name === 'hookrail';
  if (isOwn && (script === 'sim' || script === 'operator')) return text.replace(COMMAND, asNpmScript);
  if (script === 'npx') return text.replace(COMMAND, 'npx --no $&');
  if (!isOwn || (script !== 'start' && script !== 'serve')) return text;
  // `npm start` itself is typed again; its npm would print a banner before the data of the others.
  return text.replace(COMMAND, (typed, command: string, option?: string) =>
    command === script ? asNpmScript(typed, command, option) : `npx --no ${typed}`,
  );
}

function asNpmScript(_typed: string, command: string, option = ''): string {
  if (command === 'sim' || command === 'operator') return `npm run ${command} --${option}`;
  return `npm ${command === 'start' ? '' : 'run '}${command}${option && ` --${option}`}`;
}
