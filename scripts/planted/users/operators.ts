import type { PlantedBug } from '../planted-bug.ts';

const LOOKS = 'test/operator/looks.test.ts';

/** Whoever looks at a merchant's data, or changes something, is in the audit with a name. */
export const OPERATOR_BUGS: readonly PlantedBug[] = [
  {
    id: 'nameless-in-production',
    bug: 'in production a command that changes something needs no name',
    file: 'services/operator/commands/person.ts',
    text: "if (environment !== 'production' || isNamed || isLook) return;",
    replacement: 'return;',
    test: LOOKS,
    title: 'shows nothing personal without a name',
  },
  {
    id: 'assumed-name-counts',
    bug: 'a service takes the name of the system’s user for one that was given',
    file: 'services/operator/commands/routes.ts',
    text: 'personOf(actor) !== null && request.get(ASSUMED_HEADER) === undefined',
    replacement: 'personOf(actor) !== null',
    test: LOOKS,
    title: 'shows nothing personal without a name',
  },
  {
    id: 'body-without-flag',
    bug: 'a look at a delivery shows its body without being asked for it',
    file: 'services/operator/commands/look/deliveries.ts',
    text: '...(isWithBody ? { body: found.body',
    replacement: '...(true ? { body: found.body',
    test: LOOKS,
    title: 'sees no body without --body',
  },
  {
    id: 'look-not-in-audit',
    bug: 'a look at the data of an event is not in the audit',
    file: 'services/operator/commands/look/events.ts',
    text: "if (isWithBody) await auditOf(deps)('event.show', { eventId }, merchantId);",
    replacement: '',
    test: LOOKS,
    title: 'sees no body without --body',
  },
  {
    id: 'foreign-delivery-owner',
    bug: 'the endpoint of another merchant’s delivery is told',
    file: 'services/store/sqlite/log/sqlite-delivery-log.ts',
    text: 'owner?.merchantId === merchantId ? owner.endpointId : undefined',
    replacement: 'owner?.endpointId',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'tell the merchant and the endpoint of a delivery by its id',
  },
];
