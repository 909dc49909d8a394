import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlantedBug, plant } from './planted-bug.ts';

/** A copy of the repository's files, including uncommitted changes. Its node_modules links to the repository's. */
export class WorkingCopy {
  readonly folder: string;

  constructor(root: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'hookrail-planted-'));
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
    });
    // Deleted files are still listed.
    const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
    for (const file of files) cpSync(join(root, file), join(this.folder, file));
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'), 'dir');
  }

  /** Runs `use` while the bug is planted. Throws if it cannot be planted. */
  async with<T>(bug: PlantedBug, use: () => Promise<T>): Promise<T> {
    const path = join(this.folder, bug.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, plant(bug, source));
    try {
      return await use();
    } finally {
      writeFileSync(path, source);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
