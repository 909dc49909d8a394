/** The error codes of the console's sign-in: a part of ERROR_CODES (error-codes.ts). */
export const PORTAL_CODES = {
  portal_link_invalid: {
    status: 401,
    title: 'The link does not open the console',
    hint: 'A link opens the console once, within minutes: ask for a new one where you got it.',
  },
  portal_session_missing: {
    status: 401,
    title: 'Nobody is signed in to the console',
    hint: 'Open the console with a link of the platform.',
  },
  portal_session_ended: {
    status: 401,
    title: 'The session of the console has ended',
    hint: 'Open the console with a new link of the platform.',
  },
  csrf_token_invalid: {
    status: 403,
    title: 'The change does not come from a page of the console',
    hint: 'Send the csrf_token of GET /console/session in the header Hookrail-CSRF.',
  },
  portal_session_read_only: {
    status: 403,
    title: 'This session of the console may look, and change nothing',
    hint: 'Ask the platform for a link with write access.',
  },
  merchant_not_found: {
    status: 404,
    title: 'There is no such merchant',
    hint: 'Use the merchant’s id as the platform’s events have it, and the key of its environment.',
  },
  portal_session_not_found: {
    status: 404,
    title: 'The merchant has no such session of the console',
    hint: 'It has ended, or its link was not opened in time: nothing is left to end.',
  },
} as const;
