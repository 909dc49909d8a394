import type { PlantedBug } from '../planted-bug.ts';

const PLATFORM_TEST = 'test/api/platform/platform.test.ts';
const QUARANTINE_TEST = 'test/api/platform/quarantine.test.ts';

/** The platform API. */
export const PLATFORM_BUGS: readonly PlantedBug[] = [
  {
    id: 'scope-not-asked',
    bug: 'a key of the platform does what its scopes do not permit',
    file: 'services/api/platform/platform-access.ts',
    text: 'if (permits(locals.scopes, scope)) return;',
    replacement: 'if (permits(locals.scopes, scope) || scope) return;',
    test: PLATFORM_TEST,
    title: 'makes links, and nothing else',
  },
  {
    id: 'closed-keeps-keys',
    bug: 'the keys of a merchant that was closed go on to open its data',
    file: 'services/store/rules/merchant-writes.ts',
    text: 'UPDATE api_key SET revoked_at = $2 WHERE merchant_id = $1 AND revoked_at IS NULL RETURNING *',
    replacement:
      'UPDATE api_key SET revoked_at = $2 WHERE merchant_id = $1 AND revoked_at IS NULL AND 1 = 0 RETURNING *',
    test: PLATFORM_TEST,
    title: 'has no key, no endpoint and no session',
  },
  {
    id: 'foreign-key-revoked',
    bug: 'the platform revokes a key by the path of another merchant',
    file: 'services/api/platform/merchant-keys.ts',
    text: '(await store.keys.get(keyId))?.merchantId === merchantId',
    replacement: '(await store.keys.get(keyId)) !== undefined',
    test: PLATFORM_TEST,
    title: 'is shown once, opens its merchant’s operations',
  },
  {
    id: 'quarantine-unsearched',
    bug: 'the list of the quarantine shows what is about anything, whatever it is asked about',
    file: 'services/management/quarantine/choice.ts',
    text: '(about === undefined || isWanted(record, { about })) &&',
    replacement: '',
    test: QUARANTINE_TEST,
    title: 'by every filter',
  },
  {
    id: 'dry-run-puts-back',
    bug: 'a replay of the quarantine that should only count puts records back',
    file: 'services/management/quarantine/replay.ts',
    text: '...(isDryRun && { isDryRun }),',
    replacement: '',
    test: QUARANTINE_TEST,
    title: 'many are counted first',
  },
  {
    id: 'platform-puts-back-blindly',
    bug: 'the platform puts a record back that is quarantined again',
    file: 'services/api/platform/quarantine.ts',
    text: 'stillRefused: stillRefusedBy(context),',
    replacement: 'judge: stillRefusedBy,',
    test: QUARANTINE_TEST,
    title: 'stays, until its cause is mended',
  },
  {
    id: 'endpoint-of-a-closed-merchant',
    bug: 'what is added to a merchant while it is closed stays, with its secret',
    file: 'services/store/rules/open-merchant.ts',
    text: "row?.state === 'closed'",
    replacement: "row?.state === 'gone'",
    test: 'test/store/sqlite/contract.test.ts',
    title: 'adds nothing to a merchant that was closed',
  },
];
