import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isEventType } from '../../services/domain/event.ts';
import { didYouMean, meantName } from '../../services/messages/did-you-mean.ts';
import { mistyped, usage } from '../exit.ts';
import { unreadable } from '../session.ts';
import { readText } from '../text-file.ts';

const LIBRARY = fileURLToPath(new URL('./library/', import.meta.url));
const SUFFIX = '.yaml';

/** Returns the path of each scenario that comes with hookrail, by its name. */
function scenarioFiles(): ReadonlyMap<string, string> {
  const files = readdirSync(LIBRARY, { recursive: true, encoding: 'utf8' });
  return new Map(
    files
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => [basename(file, SUFFIX), `${LIBRARY}${file}`]),
  );
}

/** Returns the names of the scenarios that come with hookrail, sorted. */
export function scenarioNames(): readonly string[] {
  return [...scenarioFiles().keys()].sort();
}

/**
 * Returns the text of a scenario: one of the library by its name, a file, or `-` for standard input. `source` is its
 * name in messages. Throws a usage failure that names the nearest scenarios.
 */
export function readScenario(name: string): { readonly text: string; readonly source: string } {
  const own = scenarioFiles().get(name);
  if (own !== undefined) return { text: readFileSync(own, 'utf8'), source: name };
  if (name === '-') return { text: readText(0), source: 'standard input' };
  const [type = ''] = name.split('/');
  if (isEventType(type) && !existsSync(name)) {
    throw usage(`${name} is an event, not a scenario`, `hookrail sim trigger ${name}`);
  }
  // A name that looks like a file's is one; any other is a mistyped scenario.
  if (!/[/\\]|\.ya?ml$/.test(name)) {
    const says = `there is no scenario "${name}"${didYouMean(name, scenarioNames())}`;
    const meant = meantName(name, scenarioNames());
    const list = 'list them with: hookrail sim scenarios list';
    throw mistyped(says, name, meant, list);
  }
  try {
    return { text: readText(name), source: name };
  } catch (error) {
    throw unreadable(name, error, [
      `write one: hookrail sim scenarios new ${basename(name).replace(/\.ya?ml$/, '')}`,
      'list the existing ones: hookrail sim scenarios list',
    ]);
  }
}
