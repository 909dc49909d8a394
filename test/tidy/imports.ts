import { posix } from 'node:path';
import ts from 'typescript';
import { at, type Module, type Problem, walk } from './project.ts';

/**
 * A part of the project and what it may import. The first part whose `files` match a path owns the file.
 * `parts` names other parts (a part may always import itself); `packages` undefined = any npm package and
 * node: module.
 */
interface Part {
  readonly name: string;
  readonly files: RegExp;
  readonly parts: readonly string[];
  readonly packages?: readonly string[];
  /** Said when the rule is broken: why, and what to do instead. */
  readonly instead: string;
}

const DOMAIN = ['domain', 'the samples'];
const STATION_MAY = [...DOMAIN, 'messages', 'foundation', 'codec', 'the broker port', 'the store port'];
const STATION_INSTEAD =
  'A station knows the domain, the foundation, the codecs and the two ports: pass what it needs in from ' +
  'services/main.ts, or let it travel on a stream.';
const STORE_ENGINE_MAY = [
  ...['domain', 'messages', 'foundation', 'the SQLite floor', 'codec'],
  ...['the store port', 'what store engines share'],
];
const ENGINE_INSTEAD =
  'An engine knows the domain, the foundation, the codecs and its own port, so that another engine can take its place.';

const station = (name: string): Part => ({
  name: `the ${name} station`,
  files: new RegExp(`^services/${name}/`),
  parts: [...STATION_MAY, 'the count of a replay'],
  instead: STATION_INSTEAD,
});

const STATIONS = ['api', 'router', 'sender', 'recorder', 'relay', 'replayer'] as const;

const PARTS: readonly Part[] = [
  {
    name: 'the samples',
    files: /^services\/samples\//,
    parts: ['domain'],
    packages: ['node:crypto', '@noble/hashes', '@scure/base'],
    instead: 'Samples are pure and deterministic: pass in what they need.',
  },
  {
    name: 'domain',
    files: /^services\/domain\//,
    parts: [],
    packages: ['node:crypto'],
    instead:
      'The domain is pure: no I/O, no clock, no process, no engine. Move the code out or pass the value in.',
  },
  {
    name: 'messages',
    files: /^services\/messages\//,
    parts: [],
    packages: ['fastest-levenshtein', 'yargs'],
    instead: 'It words what people are told, and knows nothing of ours: pass in the names and values.',
  },
  {
    // How a process runs: clock, lifecycle, settings, keys, egress rules, logs, traces and the watchdog.
    name: 'foundation',
    files: /^services\/(process|config|keys|egress|telemetry|watchdog)\//,
    parts: ['messages'],
    instead:
      'Process, config, keys, egress, telemetry and watchdog know nothing of webhooks: pass the value in, or move the code to the ' +
      'station that needs it.',
  },
  {
    name: 'the SQLite floor',
    files: /^services\/sqlite\//,
    parts: ['messages', 'foundation'],
    packages: ['better-sqlite3'],
    instead: 'It knows files, locks and ids, and no table: what is stored belongs to the engines.',
  },
  {
    name: 'codec',
    files: /^services\/codec\//,
    parts: ['domain', 'messages', 'schemas'],
    instead: 'Codecs turn the domain into bytes and back, and know nothing else of ours.',
  },
  {
    name: 'the broker port',
    files: /^services\/broker\/(broker|broker-status|losses|publish|stalls)\.ts$/,
    parts: ['domain'],
    packages: [],
    instead: 'A port speaks of the domain only, so that any engine can stand behind it.',
  },
  {
    name: 'the store chooser',
    files: /^services\/store\/open\.ts$/,
    parts: ['messages', 'foundation', 'the store port', 'a store engine'],
    instead: 'It chooses an engine and does nothing else.',
  },
  {
    name: 'the store copy',
    files: /^services\/store\/copy\//,
    parts: [...STORE_ENGINE_MAY, 'a store engine'],
    instead: 'It reads one engine and fills another; a service uses one of them, by the port.',
  },
  {
    name: 'what store engines share',
    files: /^services\/store\/(log\/|rows\/|used-keys\.ts$)/,
    parts: ['domain', 'foundation', 'the store port'],
    packages: [],
    instead: 'What engines share knows no engine: pass in what it needs.',
  },
  {
    name: 'the store port',
    files: /^services\/store\/[^/]+\.ts$/,
    parts: ['domain'],
    packages: [],
    instead: 'A port speaks of the domain only, so that any engine can stand behind it.',
  },
  {
    name: 'what broker engines share',
    files: /^services\/broker\/(work|work-source|work-consumer|due-heap|journal-outage|parked-tally)\.ts$/,
    parts: ['domain', 'foundation', 'the broker port'],
    packages: [],
    instead: 'What engines share knows no engine: pass in what it needs.',
  },
  {
    name: 'the broker chooser',
    files: /^services\/broker\/open\.ts$/,
    parts: ['domain', 'foundation', 'codec', 'the broker port', 'a broker engine'],
    instead: 'It chooses an engine and does nothing else.',
  },
  {
    name: 'a broker engine',
    files: /^services\/broker\/[^/]+\//,
    parts: [
      'domain',
      'messages',
      'foundation',
      'the SQLite floor',
      'codec',
      'schemas',
      'the broker port',
      'what broker engines share',
    ],
    instead: ENGINE_INSTEAD,
  },
  {
    name: 'a store engine',
    files: /^services\/store\/[^/]+\//,
    parts: STORE_ENGINE_MAY,
    instead: ENGINE_INSTEAD,
  },
  {
    // Asked for by the api and the operator before a replay starts, and by the replayer.
    name: 'the count of a replay',
    files: /^services\/replayer\/count-missed\.ts$/,
    parts: STATION_MAY,
    instead: STATION_INSTEAD,
  },
  ...STATIONS.map(station),
  {
    name: 'observability',
    files: /^services\/observability\//,
    parts: [...DOMAIN, 'foundation', 'the broker port', 'the store port'],
    instead: 'It reads what the ports say of themselves: pass in what it needs.',
  },
  {
    name: 'the wiring',
    files: /^services\/(main|api-jobs|recording|watch)\.ts$/,
    parts: [
      'the wiring',
      ...STATION_MAY,
      'observability',
      'the broker chooser',
      'the store chooser',
      'the operator commands',
      ...STATIONS.map((name) => `the ${name} station`),
    ],
    instead: 'Only services/broker/open.ts and services/store/open.ts choose engines; main.ts asks them.',
  },
  {
    name: 'the operator commands',
    files: /^services\/operator\/commands\//,
    parts: [...STATION_MAY, 'the api station', 'the count of a replay'],
    instead: 'Commands run in the service: they know what a station knows.',
  },
  {
    name: 'the operator',
    files: /^services\/operator(\.ts$|\/)/,
    parts: [
      ...STATION_MAY,
      'the broker chooser',
      'the store chooser',
      'the store copy',
      'the operator commands',
      'the api station',
    ],
    instead:
      'services/broker/open.ts and services/store/open.ts choose engines, and only services/main.ts wires stations.',
  },
  {
    name: 'the sandbox command',
    files: /^simulator\/commands\/sandbox(\.ts$|\/)/,
    parts: ['the simulator', ...DOMAIN, 'messages', 'codec', 'schemas', 'the wiring', 'the operator'],
    instead: 'The sandbox starts services/main.ts and plays the rest through the public interfaces.',
  },
  {
    name: 'the executable',
    files: /^simulator\/(hookrail|completion)\.ts$/,
    parts: ['the simulator', 'domain', 'messages', 'the operator', 'the wiring'],
    instead: 'The executable chooses a tool and hands the line to it.',
  },
  {
    name: 'the simulator',
    files: /^simulator\//,
    parts: ['the sandbox command', ...DOMAIN, 'messages', 'codec', 'schemas'],
    instead:
      'The simulator knows the schemas, the domain and the codecs; everything else it does through REST or the ' +
      'events topic, as an outsider would. Only simulator/commands/sandbox starts services/main.ts.',
  },
  { name: 'schemas', files: /^schemas\//, parts: [], instead: 'Schemas are data.' },
];

/** May import everything; nothing else may import them. */
const OUTSIDE = /^(test|scripts|docs)\/|^[^/]+\.ts$/;

/** The part a file belongs to; undefined for what lies outside (tests, scripts, the root's configuration). */
function partOf(path: string): Part | undefined {
  return PARTS.find((part) => part.files.test(path));
}

/** Two engines are the same part by name, and must not import each other all the same. */
function sameFolderOfEngine(from: string, to: string): boolean {
  return from.split('/').slice(0, 3).join('/') === to.split('/').slice(0, 3).join('/');
}

interface Import {
  readonly node: ts.Node;
  readonly target: string;
}

/** Every module a file names: import, export from, import(), and `new URL('./x.ts', import.meta.url)` (workers). */
export function importsOf(module: Module): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined) => {
    if (specifier && ts.isStringLiteralLike(specifier)) found.push({ node, target: specifier.text });
  };
  walk(module.tree, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node, node.moduleSpecifier);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0]);
    }
    if (ts.isNewExpression(node) && node.expression.getText(module.tree) === 'URL') {
      const [first, base] = node.arguments ?? [];
      const isModule = first && ts.isStringLiteralLike(first) && /^\.\.?\/.*\.ts$/.test(first.text);
      if (isModule && base?.getText(module.tree) === 'import.meta.url') add(node, first);
    }
  });
  return found;
}

/** The layout of design: who may import whom. */
export function importProblems(module: Module): Problem[] {
  return importsOf(module).flatMap(({ node, target }) => {
    const problem = target.startsWith('.') ? relativeProblem(module, target) : packageProblem(module, target);
    return problem ? [`${at(module, node)}: ${problem}`] : [];
  });
}

function relativeProblem(module: Module, target: string): string | undefined {
  if (!/\.(ts|mjs|json|avsc)$/.test(target))
    return `"${target}" has no ending. Write the file's real name, with .ts.`;
  const from = partOf(module.path);
  const toPath = posix.normalize(posix.join(posix.dirname(module.path), target));
  if (from === undefined && OUTSIDE.test(module.path)) return undefined;
  if (from === undefined) {
    return `${module.path} belongs to no part of the layout. Put it into a station, an engine or the foundation.`;
  }
  const to = partOf(toPath);
  if (to === undefined)
    return `${from.name} must not import ${toPath}. Nothing imports tests, scripts or unknown parts.`;
  const isOwn = to === from && (!to.name.endsWith(' engine') || sameFolderOfEngine(module.path, toPath));
  if (isOwn || (to !== from && from.parts.includes(to.name))) return undefined;
  return `${from.name} must not import ${toPath} (${to.name}). ${from.instead}`;
}

function packageProblem(module: Module, target: string): string | undefined {
  if (target === 'ip') return 'the package "ip" judges some private addresses as public. Use net.BlockList.';
  const from = partOf(module.path);
  if (from?.packages === undefined) return undefined;
  const isAllowed = from.packages.some((name) => target === name || target.startsWith(`${name}/`));
  if (isAllowed) return undefined;
  const allowed = from.packages.length > 0 ? `only ${from.packages.join(', ')}` : 'no package';
  return `${from.name} must not import "${target}"; it may import ${allowed}. ${from.instead}`;
}
