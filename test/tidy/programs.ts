import { DOMAIN, type Part } from './part.ts';

/** The parts that are programs of their own: they call the service as an outsider would. */
export const PROGRAMS: readonly Part[] = [
  {
    // Code that the programs share which call the merchant API: one runs on Node, one in a browser.
    name: 'the client',
    files: /^client\//,
    parts: ['domain'],
    packages: [],
    instead:
      'It runs in browsers as well as on Node: no I/O but fetch, no screen, no command line. Pass the value in.',
  },
  {
    name: 'the console',
    files: /^console\//,
    parts: ['the client', 'domain', 'the runbook'],
    packages: [
      ...['react', 'react-dom', 'openapi-fetch'],
      ...['@tanstack/react-query', '@tanstack/react-router', '@tanstack/react-virtual'],
    ],
    instead:
      'The console runs in a browser and knows the public merchant API, or the operator’s commands: what it needs beyond that is a ' +
      'field of theirs.',
  },
  {
    name: 'the sandbox command',
    files: /^simulator\/commands\/sandbox(\.ts$|\/)/,
    parts: [
      'the simulator',
      'the client',
      ...DOMAIN,
      'messages',
      'codec',
      'schemas',
      'the wiring',
      'the operator',
    ],
    instead: 'The sandbox starts services/main.ts and plays the rest through the public interfaces.',
  },
  {
    name: 'the executable',
    files: /^simulator\/(hookrail|completion)\.ts$/,
    parts: ['the simulator', 'the client', 'domain', 'messages', 'process', 'the operator', 'the wiring'],
    instead: 'The executable chooses a tool and hands the line to it.',
  },
  {
    name: 'the simulator',
    files: /^simulator\//,
    parts: ['the sandbox command', 'the client', ...DOMAIN, 'messages', 'codec', 'schemas'],
    instead:
      'The simulator knows the schemas, the domain and the codecs; everything else it does through REST or the ' +
      'events topic, as an outsider would. Only simulator/commands/sandbox starts services/main.ts.',
  },
];
