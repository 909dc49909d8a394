import { posix } from 'node:path';
import type { Problem, ProjectFile } from './project.ts';

const FOLDERS_BANNED = ['utils', 'helpers', 'common', 'types', 'interfaces'];

/** A folder is named after what is done there; these names say nothing and collect everything. */
export function folderProblems(file: ProjectFile): Problem[] {
  const banned = file.path
    .split('/')
    .slice(0, -1)
    .find((folder) => FOLDERS_BANNED.includes(folder));
  if (banned === undefined) return [];
  return [
    `${file.path}: a folder named "${banned}". Put the file beside what uses it, under the field's own word.`,
  ];
}

const FOLDER_FILES_MAX = 20;

/** The folders that hold code. */
const HELD = /^(client|console|services|simulator|scripts|test)(\/|$)/;

/** A file per promise of the README: its table there is how the folder is read. */
const UNBOUNDED = new Set(['test/guarantees']);

/** A rule over the whole project: a folder can be taken in at a glance. Files in the folders below count there. */
export function crowdProblems(files: readonly ProjectFile[]): Problem[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const folder = posix.dirname(path);
    if (HELD.test(folder) && !UNBOUNDED.has(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > FOLDER_FILES_MAX)
    .map(
      ([folder, count]) =>
        `${folder}: ${count} files, at most ${FOLDER_FILES_MAX}. Move those that belong together into a folder below, ` +
        'named after what they do.',
    );
}
