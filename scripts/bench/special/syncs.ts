import { spawnSync } from 'node:child_process';

/** Calls of fsync and fdatasync. */
export interface Syncs {
  /** Of write-ahead logs: one for each commit. */
  readonly commits: number;
  /** Of checkpoints and other files. */
  readonly others: number;
}

/** The beginning of a command line that runs a program and writes its calls of fsync to a file, at no cost for others. */
export function straceTo(file: string): { readonly execPath: string; readonly execArgv: string[] } {
  const calls = ['-e', 'trace=fsync,fdatasync', '-e', 'signal=none'];
  // -D: the program, not strace, is this process's child.
  const how = ['-D', '-f', '--seccomp-bpf', '-qqq', '-y', '-A'];
  return { execPath: 'strace', execArgv: [...how, ...calls, '-o', file, process.execPath] };
}

export function hasStrace(): boolean {
  return spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;
}

/** Counts what strace wrote so far: a call in one line, or its beginning. */
export function countsOf(trace: string): Syncs {
  const calls = [...trace.matchAll(/ f(?:data)?sync\(\d+<([^>]*)>/g)];
  const commits = calls.filter(([, file]) => file?.endsWith('-wal')).length;
  return { commits, others: calls.length - commits };
}
