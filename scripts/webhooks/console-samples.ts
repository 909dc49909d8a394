import { readFileSync } from 'node:fs';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { sortsOf } from './body-schema.ts';

const LANGUAGES = { Node: 'mjs', Python: 'py', Go: 'go', PHP: 'php' };

type Sort = ReturnType<typeof sortsOf>[number];

/** Returns what the console's catalogue shows: a body of each type, subType and version, and the documented receivers. */
export function consoleSamples(bodyOf: (type: EventType, sort: Sort) => string): object {
  const bodies: Record<string, Record<string, string>> = {};
  for (const type of EVENT_TYPES) {
    for (const sort of sortsOf(type)) {
      const name = `${type}/${sort.subType}`;
      bodies[name] = { ...bodies[name], [sort.version]: bodyOf(type, sort) };
    }
  }
  const receivers = Object.entries(LANGUAGES).map(([language, ending]) => [
    language,
    readFileSync(new URL(`../../docs/receivers/receiver.${ending}`, import.meta.url), 'utf8'),
  ]);
  return { bodies, receivers: Object.fromEntries(receivers) };
}
