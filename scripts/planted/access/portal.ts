import type { PlantedBug } from '../planted-bug.ts';

const WRITES = 'services/store/rules/portal-writes.ts';
const AUTH = 'services/api/portal/portal-auth.ts';
const TEST = 'test/api/portal/portal.test.ts';

/** Bugs of the console's sign-in. */
export const PORTAL_BUGS: readonly PlantedBug[] = [
  {
    id: 'portal-link-opens-again',
    bug: 'a link to the console opens a session each time that it is used',
    file: WRITES,
    text: 'link_hash = $1 AND opened_at IS NULL AND',
    replacement: 'link_hash = $1 AND',
    test: TEST,
    title: 'a link opens one session, however many try at once',
  },
  {
    id: 'portal-change-without-token',
    bug: 'another site can change something with the cookie of the console',
    file: AUTH,
    text: 'if (!isCsrfToken(token, request.get(CSRF_HEADER)))',
    replacement: 'if (request.get(CSRF_HEADER) && !isCsrfToken(token, request.get(CSRF_HEADER)))',
    test: TEST,
    title: 'a change needs the session’s own token',
  },
  {
    id: 'portal-looker-changes',
    bug: 'a session of the console that may only look changes endpoints',
    file: AUTH,
    text: "if (access === 'read')",
    replacement: "if (access !== 'read' && access !== 'write')",
    test: TEST,
    title: 'a session that only looks changes nothing',
  },
  {
    id: 'portal-session-stays',
    bug: 'a session of the console goes on when the platform has ended it',
    file: AUTH,
    text: 'session.revokedAt !== null ||',
    replacement: '',
    test: TEST,
    title: 'the platform ends one session or all of a merchant, at once, also an open stream',
  },
];
