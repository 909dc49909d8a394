/** The style sheets of the console are one bundle: a class that two screens style would change one of them unseen. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = 'console/styles/';
/** Sheets of what screens share. */
const SHARED = ['base.css', 'forms.css', 'main.css', 'parts.css', 'shell.css'];

/** Returns the classes that a sheet styles by themselves, as `.tiles` does and `.panel .tiles` does not. */
function classesOf(name: string): ReadonlySet<string> {
  const text = readFileSync(FOLDER + name, 'utf8').replaceAll(/\/\*[^*]*\*\//g, '');
  const lists = text.replaceAll(/(^|[};,]\s*):is\(([^()]*)\)(?=\s*[,{])/g, '$1$2');
  const selectors = lists.split(/[{};]/).flatMap((part) => part.split(','));
  return new Set(selectors.map((selector) => selector.trim()).filter((one) => /^\.[a-z][\w-]*$/.test(one)));
}

test('a class is styled by one screen of the console, or by a sheet that all share', () => {
  const sheets = readdirSync(FOLDER).filter((name) => name.endsWith('.css') && !SHARED.includes(name));
  const owners = new Map<string, string>();
  const twice = [];
  for (const sheet of sheets)
    for (const name of classesOf(sheet)) {
      const owner = owners.get(name);
      if (owner !== undefined) twice.push(`${name}: ${owner}, ${sheet}`);
      owners.set(name, sheet);
    }
  expect(owners.size).toBeGreaterThan(30);
  expect(twice).toEqual([]);
});
