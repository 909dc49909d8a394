/**
 * The state machines allow the steps of the platform and refuse others with the legal ones; they have exactly the
 * states of the specification.
 */
import { expect, test } from 'vitest';
import { SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { MACHINES, START } from '../../simulator/machines/tables.ts';
import { type Move, World } from '../../simulator/machines/world.ts';

const onRamp = (subType: string, status?: string): Move => ({
  type: 'fiatToCrypto',
  subType,
  status,
  process: 'tx',
});
const entity = (type: string, subType: string): Move => ({ type, subType, process: 'entity' });

function play(world: World, moves: readonly Move[]): void {
  for (const move of moves) {
    expect(world.refusal(move), `${move.type}/${move.subType}`).toBeUndefined();
    world.apply(move);
  }
}

test.each(Object.entries(MACHINES))(
  'every step of %s leads to a reachable state of the table',
  (_, table) => {
    const reached = new Set([START]);
    for (const state of reached) for (const next of table[state] ?? []) reached.add(next);
    expect([...reached].sort()).toEqual(Object.keys(table).sort());
  },
);

test.each(['fiatToCrypto', 'cryptoToFiat', 'KYC', 'KYB', 'AML', 'entityStatusUpdate'] as const)(
  'the states of %s are the catalogue’s subTypes',
  (type) => {
    const states = Object.keys(MACHINES[type] ?? {}).filter((state) => state !== START);
    expect(states.sort()).toEqual([...SUB_TYPES[type]].sort());
  },
);

test('an illegal step is refused with the legal ones', () => {
  const world = new World();
  play(world, [onRamp('PENDING'), onRamp('IN_PROGRESS')]);
  expect(world.refusal(onRamp('SUCCESS'))).toMatchObject({
    from: 'IN_PROGRESS',
    to: 'SUCCESS',
    legal: ['CRYPTO_TRANSFER_ISSUED', 'ON_HOLD', 'FAILED'],
  });
});

test('two transactions have states of their own', () => {
  const world = new World();
  play(world, [onRamp('PENDING'), { ...onRamp('PENDING'), process: 'other' }, onRamp('IN_PROGRESS')]);
  expect(world.refusal({ ...onRamp('CRYPTO_TRANSFER_ISSUED'), process: 'other' })).toBeDefined();
});

test('a KYC hold ends with FULL_USER, not before', () => {
  const world = new World();
  world.place('KYC', 'entity', 'KYC_PENDING');
  play(world, [onRamp('PENDING'), onRamp('ON_HOLD', 'ON_HOLD_KYC')]);
  expect(world.refusal(onRamp('IN_PROGRESS'))).toMatchObject({ legal: ['REFUNDED', 'FAILED'] });
  play(world, [entity('KYC', 'FULL_USER'), onRamp('IN_PROGRESS')]);
});

test('an AML hold can be released without an event of the entity', () => {
  play(new World(), [onRamp('PENDING'), onRamp('ON_HOLD', 'ON_HOLD_PROCESS'), onRamp('IN_PROGRESS')]);
});

test.each([entity('entityStatusUpdate', 'BLOCKED'), entity('KYC', 'SUSPENDED')])(
  'while the entity is barred by $subType its transactions can only be held, fail or be refunded',
  (bar) => {
    const world = new World();
    world.place('KYC', 'entity', 'FULL_USER');
    play(world, [onRamp('PENDING'), bar]);
    expect(world.refusal(onRamp('IN_PROGRESS'))).toMatchObject({ legal: ['ON_HOLD', 'FAILED'] });
    play(world, [onRamp('ON_HOLD', 'ON_HOLD_PROCESS')]);
    expect(world.refusal(onRamp('IN_PROGRESS'))).toMatchObject({ legal: ['REFUNDED', 'FAILED'] });
  },
);

test('UNBLOCKED lets held transactions continue', () => {
  const world = new World();
  play(world, [
    onRamp('PENDING'),
    entity('entityStatusUpdate', 'BLOCKED'),
    onRamp('ON_HOLD', 'ON_HOLD_PROCESS'),
    entity('entityStatusUpdate', 'UNBLOCKED'),
    onRamp('IN_PROGRESS'),
  ]);
});

test('the status is the state of an event whose only subType is statusUpdate', () => {
  const ledger = (status: string): Move => ({
    type: 'serviceBankAccount',
    subType: 'statusUpdate',
    status,
    process: 'ledger',
  });
  const world = new World();
  play(world, [
    ledger('WAITING_CREATION'),
    ledger('FAILED_CREATION'),
    ledger('WAITING_CREATION'),
    ledger('ACTIVE'),
  ]);
  expect(world.refusal(ledger('WAITING_CREATION'))?.legal).toEqual(['DISABLED']);
});

test('missing terms come after FULL_USER', () => {
  const move = entity('entityStatusUpdate', 'MISSING_TERMS_AND_CONDITIONS_SIGNED');
  expect(new World().refusal(move)?.legal).toEqual(['BLOCKED']);
  const world = new World();
  world.place('KYC', 'entity', 'FULL_USER');
  play(world, [move]);
});

test('event types without a state machine may come at any time', () => {
  const world = new World();
  play(world, [entity('walletCreated', 'CREATED'), entity('walletCreated', 'CREATED')]);
});
