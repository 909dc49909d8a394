/** The error codes of the platform API, in the form of error-codes.ts. */
export const PLATFORM_CODES = {
  scope_missing: {
    status: 403,
    title: 'The key lacks a scope',
    hint: 'Use a key of the platform that has the scope, or ask the operator for one (keys create --platform --scopes).',
  },
  api_key_not_found: {
    status: 404,
    title: 'This merchant has no such key in use',
    hint: 'List the keys with GET /platform/merchants/{merchant_id}/api-keys.',
  },
  incident_replay_not_found: {
    status: 404,
    title: 'There is no such replay',
    hint: 'List the replays with GET /platform/replays.',
  },
  quarantined_not_found: {
    status: 404,
    title: 'There is no such record in quarantine',
    hint: 'List the records with GET /platform/quarantine: one that was put back has left it.',
  },
  merchant_exists: {
    status: 409,
    title: 'There is a merchant with this id',
    hint: 'Read it with GET /platform/merchants/{merchant_id}, or use another merchant_id.',
  },
  merchant_closed: {
    status: 409,
    title: 'The merchant is closed',
    hint: 'A merchant is closed for good: create another one.',
  },
  incident_replay_running: {
    status: 409,
    title: 'A replay of the same merchants is running',
    hint: 'Wait for the replay named by replay_uuid to end, or cancel it, then start another.',
  },
  replay_ended: {
    status: 409,
    title: 'The replay has ended',
    hint: 'Read it with GET /platform/replays/{incident_replay_id}.',
  },
  quarantined_stays: {
    status: 409,
    title: 'The record cannot be put back',
    hint: 'Do what the remedy in GET /platform/quarantine/{quarantine_id} says, then put it back.',
  },
  platform_merchant_stays: {
    status: 409,
    title: 'The platform itself cannot be closed',
    hint: 'It gets the notices of all merchants, and its id is reserved: delete its endpoints, or revoke its keys.',
  },
  records_not_chosen: {
    status: 422,
    title: 'The request must choose records in one way',
    hint: 'Send quarantine_ids, or a filter (all, reason, merchant_id, about, since), but not both.',
  },
} as const;
