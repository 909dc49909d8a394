import { realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';

/**
 * Writes the file that the user names, which is whole at every moment: it is written beside and renamed. `modeOf` gets
 * the mode of the file that is there. A path that exists and is no regular file, such as a pipe or a device, is written
 * into and stays what it is; so does a symbolic link.
 */
export function writeNamedFile(
  path: string,
  text: string | Buffer,
  modeOf = (_before?: number) => 0o600,
): void {
  const before = statsOf(path);
  if (before !== undefined && !before.isFile()) {
    writeFileSync(path, text);
    return;
  }
  const file = before === undefined ? path : realpathSync(path);
  const part = `${file}.${process.pid}.part`;
  try {
    writeFileSync(part, text, { mode: modeOf(before && before.mode & 0o777) });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** Whether `writeNamedFile` replaces what is at a path, so that it may be written more than once. */
export function isReplaced(path: string): boolean {
  return statsOf(path)?.isFile() ?? true;
}

/** Whether a path leads to a regular file; reading anything else may wait for ever, or have no end. */
export function isRegularFile(path: string): boolean {
  return statsOf(path)?.isFile() === true;
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
