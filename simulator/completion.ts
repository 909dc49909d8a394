import { EVENT_TYPES } from '../services/domain/event.ts';
import { completions } from '../services/messages/completions.ts';
import { parserOf, report } from './cli.ts';
import { SIMULATOR_TOOL, START_TOOL, type Tool } from './commands.ts';
import { EXIT, usage } from './exit.ts';
import type { Surroundings } from './session.ts';

/** Prints the completion script of a shell. The script asks `--words` for the words that may follow. */
export async function completion(
  args: readonly string[],
  surroundings: Surroundings,
  tools: readonly string[],
): Promise<number> {
  const { stdout } = surroundings;
  const [what = '', ...words] = args;
  if (what === '--words') {
    stdout.write(`${(await wordsAfter(words, tools)).join('\n')}\n`);
    return EXIT.ok;
  }
  if (what === '--help') {
    stdout.write(HELP);
    return EXIT.ok;
  }
  const script = { bash: BASH, zsh: ZSH }[what];
  if (script === undefined) {
    const message =
      what === '' || what.startsWith('-')
        ? 'completion needs the name of a shell'
        : `no completion for "${what}"`;
    return report(usage(`${message}: bash or zsh`, 'hookrail completion bash'), args, surroundings);
  }
  stdout.write(script);
  return EXIT.ok;
}

const HELP = `hookrail completion <bash|zsh>

Prints the script that completes commands, options, scenarios and events:
hookrail completion bash >> ~/.bashrc
`;

const BASH = `# Completion of hookrail. For every shell: hookrail completion bash >> ~/.bashrc
_hookrail() {
  local IFS=$'\\n'
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(compgen -W "$(hookrail completion --words "\${words[@]}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _hookrail hookrail
`;

const ZSH = `#compdef hookrail
# Completion of hookrail. For every shell, after compinit: hookrail completion zsh >> ~/.zshrc
_hookrail() {
  local -a found
  found=("\${(@f)$(hookrail completion --words "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _hookrail hookrail
`;

/** Returns the words that may stand in place of the last one of a line, which may be the beginning of a word. */
async function wordsAfter(line: readonly string[], tools: readonly string[]): Promise<readonly string[]> {
  const [name = '', ...words] = line;
  const current = line.at(-1) ?? '';
  if (words.length === 0) return beginning(current, tools);
  if (name === 'completion') return beginning(current, ['bash', 'zsh']);
  const found = await wordsOfTool(name, words, line);
  return beginning(current, found);
}

async function wordsOfTool(
  name: string,
  words: readonly string[],
  line: readonly string[],
): Promise<readonly string[]> {
  if (name === 'operator') {
    const { operatorWords } = await import('../services/operator.ts');
    return operatorWords(words);
  }
  if (name === 'start') return wordsOf(START_TOOL, line);
  if (name !== 'sim') return [];
  const names = await namesFor(words);
  return names ?? wordsOf(SIMULATOR_TOOL, words);
}

async function wordsOf(tool: Tool, words: readonly string[]): Promise<readonly string[]> {
  const { signal } = new AbortController();
  const nowhere = { write: () => {} };
  const parser = await parserOf(words, { environment: {}, stdout: nowhere, stderr: nowhere, signal }, tool);
  return completions(parser, words);
}

/** Returns scenarios and events where one of them is to be typed. */
async function namesFor(words: readonly string[]): Promise<readonly string[] | undefined> {
  const previous = words.at(-2);
  const line = words.slice(0, -1).join(' ');
  if (words.at(-1)?.startsWith('-')) return undefined;
  if (line === 'run' || /^scenarios (show|validate)\b/.test(line)) {
    const { scenarioNames } = await import('./scenario/library.ts');
    return scenarioNames();
  }
  if (line === 'trigger' || previous === '--event') {
    const { SUB_TYPES } = await import('../services/domain/catalog/catalog.ts');
    return EVENT_TYPES.flatMap((type) => SUB_TYPES[type].map((subType) => `${type}/${subType}`));
  }
  return previous === '--events' ? EVENT_TYPES : undefined;
}

function beginning(current: string, words: readonly string[]): readonly string[] {
  return words.filter((word) => word.startsWith(current));
}
