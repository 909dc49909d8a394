import type { PlantedBug } from '../planted-bug.ts';

const ENV_FILE = 'simulator/listen/env-file.ts';
const ENV_TEST = 'test/simulator/listen/env-file.test.ts';

/** Files that a user has, in whichever encoding. */
export const TEXT_FILE_BUGS: readonly PlantedBug[] = [
  {
    id: 'env-file-decoded',
    bug: 'an .env file that is not UTF-8 is written back as UTF-8',
    file: ENV_FILE,
    text: "const before = bytes.toString('latin1');",
    replacement: 'const before = bytes.toString();',
    test: ENV_TEST,
    title: 'every other byte of a file in',
  },
  {
    id: 'env-file-first-only',
    bug: 'of a name that is in an .env file twice only the first is changed',
    file: ENV_FILE,
    text: 'changed += (name === NAME ?',
    replacement: 'changed += (name === NAME && !changed.includes(NAME) ?',
    test: ENV_TEST,
    title: 'a file that has the name',
  },
  {
    id: 'utf-16-read-as-utf-8',
    bug: 'a scenario in UTF-16 is read as UTF-8',
    file: 'simulator/text-file.ts',
    text: 'const encoding = foreignEncoding(bytes);',
    replacement: 'const encoding = foreignEncoding(bytes.subarray(0, 0));',
    test: 'test/simulator/scenario/text-files.test.ts',
    title: 'is refused by that name',
  },
];
