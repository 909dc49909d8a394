import type { PlantedBug } from './planted-bug.ts';

const RUNTIME = 'bin/runtime.mjs';
const TOKEN = 'services/operator/commands/token-file.ts';

const LAUNCHER = 'test/executable/launcher.test.ts';

/** Which Node runs, how a process goes on with it, and what a container may lack. */
export const RUNTIME_BUGS: readonly PlantedBug[] = [
  {
    id: 'launcher-left-behind',
    bug: 'a process goes on when the launcher that its user sees was killed',
    file: RUNTIME,
    text: "process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));",
    replacement: '',
    test: LAUNCHER,
    title: 'leaves nothing behind when it is killed',
  },
  {
    id: 'interrupt-passed-twice',
    bug: 'Ctrl-C in a terminal reaches the process twice, which ends it without a stop',
    file: RUNTIME,
    text: 'if (!FROM_TERMINAL.has(signal) || !isInForeground()) child.kill(signal);',
    replacement: 'child.kill(signal);',
    test: LAUNCHER,
    title: 'passes Ctrl-C of a terminal on, once',
  },
  {
    id: 'older-node-of-the-line',
    bug: 'an older Node of the pinned line is used although the pinned one is installed',
    file: RUNTIME,
    text: 'if (isAtLeast(running, numbersOf(pinned.version))) return own;',
    replacement: 'if (isSupported(running)) return own;',
    test: LAUNCHER,
    title: 'an older one of the pinned line goes on with the newer',
  },
  {
    id: 'pinned-node-not-upgraded',
    bug: 'a new version of the pinned Node is not noticed',
    file: 'scripts/ensure-dependencies.mjs',
    text: 'if (present?.[path]?.version === version) return undefined;',
    replacement: 'if (present?.[path] !== undefined) return undefined;',
    test: 'test/executable/dependencies.test.ts',
    title: 'is installed when its version changes',
  },
  {
    id: 'short-operator-token',
    bug: 'a token of the operator that can be guessed is accepted',
    file: TOKEN,
    text: ' || token.length < GIVEN_CHARACTERS_MIN',
    replacement: '',
    test: 'test/operator/token.test.ts',
    title: 'is refused when it is too short or no line',
  },
];
