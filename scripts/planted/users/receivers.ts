import type { PlantedBug } from '../planted-bug.ts';

const TEST = 'test/docs/receivers.test.ts';
const NODE = 'docs/receivers/receiver.mjs';
const PYTHON = 'docs/receivers/receiver.py';

/** The promises of the documented receivers. */
export const RECEIVER_BUGS: readonly PlantedBug[] = [
  {
    id: 'sample-demands-authorization',
    bug: 'the Node receiver refuses a signed webhook whose Authorization did not arrive',
    file: NODE,
    text: "response.writeHead(result === 'refused' ? 401 : 200)",
    replacement: "response.writeHead(result === 'refused' || !request.headers.authorization ? 401 : 200)",
    test: TEST,
    title: 'takes the signature as proof',
  },
  {
    id: 'sample-ignores-chunks',
    bug: 'the Python receiver reads no body that comes in chunks',
    file: PYTHON,
    text: 'if "chunked" not in',
    replacement: 'if "chunked" in "chunked" or "" in',
    test: TEST,
    title: 'reads a body in chunks',
  },
  {
    id: 'sample-forgets-ids',
    bug: 'the table of the Python receiver takes an id twice',
    file: PYTHON,
    text: '(id TEXT PRIMARY KEY)',
    replacement: '(id TEXT)',
    test: TEST,
    title: 'knows after a restart',
  },
];
